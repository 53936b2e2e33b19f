import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import type { LineFormat } from './format.ts'

/** Keys in alphabetical order, as in the spec's pages (spec: Row). */
export function jsonLine(fields: readonly Field[]): string {
  const members = fields.map((field) => {
    const name = quotedName(field.name)
    return `${name} := ${typeRow(field.type).json(`part.${name}`, field)}`
  })
  return `to_json(struct_pack(${members.join(', ')}))::varchar`
}

export const json: LineFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  line: jsonLine,
  separator: ',',
  repeatsNames: true,
  head: () => '[',
  tail: () => ']',
}
