import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedJson } from '../../core/text.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { allBytesBut, type Copies, type LineFormat, type WrittenLine } from './format.ts'

/** SQL: a row as JSON, with keys in alphabetical order (spec: Row). */
export function jsonLine(fields: readonly Field[]): string {
  const members = fields.map((field) => {
    const name = quotedName(field.name)
    return { field, name, value: typeRow(field.type).json(`part.${name}`, field) }
  })
  if (fields.every(({ type }) => typeRow(type).wire.kind !== 'json'))
    return `to_json(struct_pack(${members.map(({ name, value }) => `${name} := ${value}`).join(', ')}))::varchar`
  // DuckDB would rewrite numbers inside JSON values with the digits of a double.
  const texts = members.map(({ field, value }) => {
    const text = typeRow(field.type).wire.kind === 'json' ? value : `to_json(${value})::varchar`
    return `${quotedText(`${quotedJson(field.name)}:`)}, coalesce(${text}, 'null')`
  })
  return `concat('{', ${texts.join(", ',', ")}, '}')`
}

const isSpecial = (byte: number): boolean => byte < 0x20 || byte === 0x22 || byte === 0x5c
/** Rule that copies texts which need no escapes in JSON. */
export const copiedJson: Copies = { isCopied: allBytesBut(isSpecial), quote: '"' }
const copiedBare: Copies = { isCopied: allBytesBut(() => false), quote: '' }

export const writtenJson: WrittenLine = {
  key: 'json',
  valueForm: 'json',
  before: ({ name }) => `${quotedJson(name)}:`,
  value: (text) => text,
  copies: ({ type }) => (typeRow(type).wire.kind === 'text' ? copiedJson : copiedBare),
  null: 'null',
  around: { before: '{', between: ',', after: '}' },
}

export const jsonFormat: LineFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  savedAs: null,
  line: jsonLine,
  written: writtenJson,
  separator: ',',
  repeatsNames: true,
  head: () => '[',
  tail: () => ']',
}
