import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import type { LineFormat, WrittenLine } from './format.ts'

/** Keys in alphabetical order, as in the spec's pages (spec: Row). */
export function jsonLine(fields: readonly Field[]): string {
  const members = fields.map((field) => {
    const name = quotedName(field.name)
    return `${name} := ${typeRow(field.type).json(`part.${name}`, field)}`
  })
  return `to_json(struct_pack(${members.join(', ')}))::varchar`
}

export const writtenJson: WrittenLine = {
  takes: 'json',
  before: ({ name }) => `${quotedJson(name)}:`,
  value: (text) => text,
  null: 'null',
  around: { before: '{', between: ',', after: '}' },
}

// oxlint-disable-next-line no-control-regex
const escapedByNumber = /([\0-\x07\x0b\x0e-\x1f])/

/** A text in quotes, with the escapes of DuckDB: it writes the digits of a character in capitals. */
export function quotedJson(text: string): string {
  if (!escapedByNumber.test(text)) return JSON.stringify(text)
  const pieces = text
    .split(escapedByNumber)
    .map((piece, index) =>
      index % 2 === 0
        ? JSON.stringify(piece).slice(1, -1)
        : `\\u${piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )
  return `"${pieces.join('')}"`
}

export const json: LineFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  line: jsonLine,
  written: writtenJson,
  separator: ',',
  repeatsNames: true,
  head: () => '[',
  tail: () => ']',
}
