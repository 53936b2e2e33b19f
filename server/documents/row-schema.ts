import { inAlphabet } from '../../core/warehouse/format/row-json.ts'
import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Json, TableDescription } from './description.ts'

function fieldSchema(field: Field, isNullable: boolean): Json {
  const { type, ...keywords } = typeRow(field.type).schema
  const { title, description, unit, precision, scale } = field
  const sentences = [
    description,
    unit === null ? null : `Unit: ${unit}.`,
    typeRow(field.type).hasDigits ? `Decimal of ${precision} digits, ${scale} after the point.` : null,
  ]
  const text = sentences.filter((sentence) => sentence !== null).join(' ')
  return {
    ...(type !== undefined && { type: isNullable ? [type, 'null'] : type }),
    ...keywords,
    ...(title !== null && { title }),
    ...(text !== '' && { description: text }),
  }
}

/**
 * JSON Schema of a row, in alphabetical order of its fields.
 * @param isWhole false for rows of selected fields, of which none is required
 */
export function rowSchema({ table, nullable }: TableDescription, isWhole = true): Json {
  const fields = inAlphabet(table.fields)
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field.name, fieldSchema(field, nullable.has(field.name))]),
    ),
    ...(isWhole && { required: fields.map(({ name }) => name) }),
    additionalProperties: false,
  }
}
