import { typeRow } from '../../core/catalog/field-types.ts'
import type { OutputColumn } from './format.ts'

/** Returns whether values are sent as indexes into known choices. */
export function isChoice({ field, choices }: OutputColumn): boolean {
  return choices !== null && typeRow(field.type).arrow.type === 'utf8'
}

export function isTextColumn(column: OutputColumn): boolean {
  return !isChoice(column) && typeRow(column.field.type).arrow.type === 'utf8'
}
