import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedCsv, quotedName } from '../../core/sql.ts'
import { csvFormat, csvText, csvValueText } from './csv.ts'
import { copiesNothing, type LineFormat } from './format.ts'

const delimiter = ';'
/** Matches the start of a formula in spreadsheets; a leading apostrophe makes it a text. */
const startsFormula = /^[=+\-@]/

/**
 * CSV that spreadsheets with a decimal comma open by double click: byte order mark, semicolons, and a space
 * instead of the `T` in times. A text that would be a formula gets a leading apostrophe.
 */
export const csvExcelFormat: LineFormat = {
  name: 'csv-excel',
  mediaTypes: ['application/vnd.ms-excel'],
  contentType: csvFormat.contentType,
  ending: 'csv',
  hasColumns: true,
  savedAs: 'attachment',
  line: (fields) => `concat(${fields.map(valueSql).join(`, '${delimiter}', `)})`,
  written: {
    key: 'csv-excel',
    valueForm: 'plain',
    before: () => '',
    value: (text, field) => {
      const { dialect, isQuotedInCsv, isText, moment } = typeRow(field.type)
      if (dialect === 'number') return text.replace('.', ',')
      if (moment === 'datetime') return text.replace('T', ' ')
      const plain = isText && startsFormula.test(text) ? `'${text}` : text
      return isQuotedInCsv ? csvValueText(plain, delimiter) : plain
    },
    copies: () => copiesNothing,
    null: '',
    around: { before: '', between: delimiter, after: '' },
  },
  separator: '\r\n',
  repeatsNames: false,
  head: (fields) => `\ufeff${fields.map(({ name }) => csvText(name, delimiter)).join(delimiter)}\r\n`,
  tail: csvFormat.tail,
}

function valueSql(field: Field): string {
  const { csv: written, dialect, isQuotedInCsv, isText, moment, rendered } = typeRow(field.type)
  const column = `part.${quotedName(field.name)}`
  if (moment === 'datetime') return rendered(column)
  if (dialect === 'number') return `replace(${written(column)}::varchar, '.', ',')`
  const text = written(column)
  const plain = isText
    ? `if(regexp_matches(${text}, '${startsFormula.source}'), '''' || ${text}, ${text})`
    : text
  return isQuotedInCsv ? quotedCsv(plain, delimiter) : plain
}
