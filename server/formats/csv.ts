import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import type { LineFormat } from './format.ts'

/** RFC 4180; null is nothing, an empty text is "". */
export const csv: LineFormat = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  contentType: 'text/csv; charset=utf-8; header=present',
  ending: 'csv',
  // Null is nothing to it; and it takes half the time of as many ||.
  line: (fields) => `concat(${fields.map(csvValue).join(`, ',', `)})`,
  written: {
    takes: 'plain',
    before: () => '',
    value: (text, { type }) => (typeRow(type).isQuotedInCsv ? csvValueText(text) : text),
    null: '',
    around: { before: '', between: ',', after: '' },
  },
  separator: '\r\n',
  repeatsNames: false,
  head: (fields) => `${fields.map(({ name }) => csvText(name)).join()}\r\n`,
  tail: (rows) => (rows === 0 ? '' : '\r\n'),
}

function csvValue(field: Field): string {
  const { csv: written, isQuotedInCsv } = typeRow(field.type)
  const column = written(`part.${quotedName(field.name)}`)
  if (!isQuotedInCsv) return column
  // One by one, which is faster than a pattern.
  const holds = [`','`, `'"'`, 'chr(10)', 'chr(13)'].map((mark) => `contains(${column}, ${mark})`)
  return `case when ${column} = '' or ${holds.join(' or ')} then '"' || replace(${column}, '"', '""') || '"' else ${column} end`
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The same, of a value: an empty text is not nothing. */
function csvValueText(text: string): string {
  return text === '' ? '""' : csvText(text)
}
