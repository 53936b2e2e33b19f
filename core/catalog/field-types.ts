import { bool } from './types/bool.ts'
import { date } from './types/date.ts'
import { datetime } from './types/datetime.ts'
import { decimal } from './types/decimal.ts'
import type { FieldTypeRow } from './types/field-type.ts'
import { float } from './types/float.ts'
import { integer } from './types/integer.ts'
import { json } from './types/json.ts'
import { list } from './types/list.ts'
import { point } from './types/point.ts'
import { string, text } from './types/text.ts'
import { time } from './types/time.ts'

const fieldTypes = {
  string,
  text,
  integer,
  float,
  decimal,
  bool,
  date,
  datetime,
  time,
  json,
  list,
  point,
} as const satisfies Record<string, FieldTypeRow>

export type FieldType = keyof typeof fieldTypes

export const fieldTypeNames = Object.keys(fieldTypes) as readonly FieldType[]

export function typeRow(type: FieldType): FieldTypeRow {
  return fieldTypes[type]
}
