import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { unchangedSql } from '../../core/catalog/types/field-type.ts'
import { quotedCsv, quotedName } from '../../core/sql.ts'
import { copiesNothing, copiesWithout, type LineFormat } from './format.ts'

const copiesBare = copiesWithout(',"')

/** Options of DuckDB's `read_csv` for this format: without them, an empty text would be null. */
export const readCsvOptions = `header = true, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false`

/** RFC 4180, but with LF, which command-line tools expect. Null is empty, an empty text is "". */
export const csvFormat: LineFormat = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  contentType: 'text/csv; charset=utf-8; header=present',
  ending: 'csv',
  keepsColumnOrder: true,
  savedAs: 'inline',
  // `concat` skips nulls, and takes half the time of a chain of `||`.
  line: (fields) => `concat(${fields.map(csvValue).join(`, ',', `)})`,
  stored: {
    isJson: false,
    around: { before: '', between: ',', after: '' },
    before: () => '',
    copies: ({ type }) => (typeRow(type).csvOfJson === unchangedSql ? copiesBare : copiesNothing),
    value: (json, field) => {
      const text = csvOf(json, field)
      return typeRow(field.type).isQuotedInCsv ? csvValueText(text) : text
    },
    null: '',
  },
  separator: '\n',
  repeatsNames: false,
  head: (fields) => `${fields.map(({ name }) => csvText(name)).join(',')}\n`,
  tail: (rows) => (rows === 0 ? '' : '\n'),
}

export function csvOf(json: string, field: Field): string {
  const { csvOfJson, wire } = typeRow(field.type)
  if (csvOfJson === null) throw new TypeError(`the JSON of ${field.name} does not determine its CSV`)
  return csvOfJson(wire.kind === 'text' ? (JSON.parse(json) as string) : json, field)
}

function csvValue(field: Field): string {
  const { csv: written, isQuotedInCsv } = typeRow(field.type)
  const column = written(`part.${quotedName(field.name)}`)
  return isQuotedInCsv ? quotedCsv(column, ',') : column
}

export function csvText(text: string, delimiter = ','): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** An empty text becomes `""`, since an empty value means null. */
export function csvValueText(text: string, delimiter = ','): string {
  return text === '' ? '""' : csvText(text, delimiter)
}
