import type { Field } from '../../catalog/catalog.ts'
import { typeRow } from '../../catalog/field-types.ts'
import { quotedName, quotedText } from '../../sql.ts'
import { quotedJson } from '../../text.ts'

/** Returns fields in the order of their names, as JSON has them. */
export function inAlphabet<T extends Pick<Field, 'name'>>(fields: readonly T[]): T[] {
  return fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * SQL: a row as JSON in one line (spec: Row).
 * @param fields in the order of the keys
 */
export function rowJson(fields: readonly Field[]): string {
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
