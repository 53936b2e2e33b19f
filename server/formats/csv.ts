import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedCsv, quotedName } from '../../core/sql.ts'
import { allBytesBut, type Copies, type LineFormat } from './format.ts'

/** Rule that copies texts which need no quotes in CSV. */
const copiedBare: Copies = {
  isCopied: allBytesBut((byte) => ',"\r\n'.includes(String.fromCharCode(byte))),
  quote: '',
}

/**
 * RFC 4180, but lines end with LF, which tools of the command line expect. Null is empty, and an empty text
 * is "".
 */
export const csvFormat: LineFormat = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  contentType: 'text/csv; charset=utf-8; header=present',
  ending: 'csv',
  hasColumns: true,
  savedAs: 'inline',
  // `concat` skips nulls, and takes half the time of a chain of `||`.
  line: (fields) => `concat(${fields.map(csvValue).join(`, ',', `)})`,
  written: {
    key: 'csv',
    valueForm: 'plain',
    before: () => '',
    value: (text, { type }) => (typeRow(type).isQuotedInCsv ? csvValueText(text) : text),
    copies: () => copiedBare,
    null: '',
    around: { before: '', between: ',', after: '' },
  },
  separator: '\n',
  repeatsNames: false,
  head: (fields) => `${fields.map(({ name }) => csvText(name)).join(',')}\n`,
  tail: (rows) => (rows === 0 ? '' : '\n'),
}

function csvValue(field: Field): string {
  const { csv: written, isQuotedInCsv } = typeRow(field.type)
  const column = written(`part.${quotedName(field.name)}`)
  return isQuotedInCsv ? quotedCsv(column, ',') : column
}

export function csvText(text: string, delimiter = ','): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Quotes a value if necessary. An empty text becomes `""`, since an empty value means null. */
export function csvValueText(text: string, delimiter = ','): string {
  return text === '' ? '""' : csvText(text, delimiter)
}
