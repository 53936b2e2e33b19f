import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedCsv, quotedName, quotedText } from '../../core/sql.ts'
import { csvFormat, csvOf, csvText, csvValueText } from './csv.ts'
import { copiesNothing, type LineFormat } from './format.ts'

const delimiter = ';'

const sign = "[ \u00A0\\t0-9.,:/%+()$€£¥RrEeAaPpMm'-]"
const month =
  '(?:de )?(?:jan|feb|fev|mar|apr|abr|may|mai|jun|jul|aug|ago|sep|set|oct|out|okt|nov|dec|dez)[a-zçä]{0,7}\\.?'
const separatorPattern = '[ ./,-]*(?:de )?'
/**
 * Texts that a spreadsheet reads as a number, date, time, boolean or error: `00123`, `1/2`, `1E5`, `mar 20`,
 * `R$ 5`, `TRUE`, `#N/A`. The pattern may match other texts; all matches stay texts.
 */
const converted = [
  `${sign}*[0-9]${sign}*`,
  `[0-9]{1,4}${separatorPattern}${month}(?:${separatorPattern}[0-9]{1,4})?`,
  `${month}${separatorPattern}[0-9]{1,4}(?:[ ,]+[0-9]{1,4})?`,
  'true|false|verdadeiro|falso|wahr|falsch',
  '#[a-zç/0!?]{1,9}',
].join('|')
/** Limit of a text in a formula, in characters. */
const literalMax = 255
const formula = '^[ \\t\\r\\n]*[=+@-]'

const isConverted = new RegExp(`^(?:${converted})$`, 'iu')
const isFormula = new RegExp(formula)

/**
 * CSV for spreadsheets with a decimal comma: byte order mark, semicolons, CRLF, and a space instead of the
 * `T` in times. A text that a spreadsheet would convert becomes a formula, `="00123"`. An apostrophe precedes
 * other texts that begin like a formula.
 */
export const csvExcelFormat: LineFormat = {
  name: 'csv-excel',
  mediaTypes: ['application/vnd.ms-excel'],
  contentType: csvFormat.contentType,
  ending: 'csv',
  keepsColumnOrder: true,
  savedAs: 'attachment',
  line: (fields) => `concat(${fields.map(valueSql).join(`, '${delimiter}', `)})`,
  stored: {
    isJson: false,
    around: { before: '', between: delimiter, after: '' },
    before: () => '',
    copies: () => copiesNothing,
    value: (json, field) => {
      const text = csvOf(json, field)
      const { dialect, isQuotedInCsv, isText, moment } = typeRow(field.type)
      if (dialect === 'number') return text.replace('.', ',')
      if (moment === 'datetime') return text.replace('T', ' ')
      const guardedText = isText ? guarded(text) : text
      return isQuotedInCsv ? csvValueText(guardedText, delimiter) : guardedText
    },
    null: '',
  },
  separator: '\r\n',
  repeatsNames: false,
  head: (fields) =>
    `\ufeff${fields.map(({ name }) => csvText(guarded(name), delimiter)).join(delimiter)}\r\n`,
  tail: (rows) => (rows === 0 ? '' : '\r\n'),
}

function guarded(text: string): string {
  if (text.length <= literalMax && isConverted.test(text)) return `="${text}"`
  return isFormula.test(text) ? `'${text}` : text
}

function guardedSql(text: string): string {
  return `case when length(${text}) <= ${literalMax} and regexp_matches(${text}, ${quotedText(`^(?i:${converted})$`)}) then concat('="', ${text}, '"')
    when regexp_matches(${text}, ${quotedText(formula)}) then concat('''', ${text}) else ${text} end`
}

function valueSql(field: Field): string {
  const { csv: written, dialect, isQuotedInCsv, isText, moment, rendered } = typeRow(field.type)
  const column = `part.${quotedName(field.name)}`
  if (moment === 'datetime') return rendered(column)
  if (dialect === 'number') return `replace(${written(column)}::varchar, '.', ',')`
  const text = written(column)
  // A null stays null, since no pattern of `guardedSql` matches it.
  const guardedText = isText ? guardedSql(text) : text
  return isQuotedInCsv ? quotedCsv(guardedText, delimiter) : guardedText
}
