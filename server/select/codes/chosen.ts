import path from 'node:path'
import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldedSql, quotedText } from '../../../core/sql.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import type { Plan } from '../../engine/plan.ts'
import { readsOf, rowsBetween } from '../../engine/reads.ts'
import type { Condition } from '../../query/conditions.ts'
import { compareValues } from '../../query/values.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** All different values of a field; the code of each is its index, and that of null their number. */
export interface Dictionary {
  readonly field: Field
  /** As an address has them, in their order. */
  readonly values: readonly string[]
  /** Without regard to case and accents; null where they are no texts. */
  readonly folded: readonly string[] | null
  /** By code: in how many rows it stands. */
  readonly rows: Float64Array
  /** What it takes in memory, about. */
  readonly bytes: number
}

export function planDictionary(
  snapshot: Snapshot,
  { dictionary: { file }, fields }: CodesFile,
  place: number,
  { type }: Field,
): Plan {
  const first = fields.slice(0, place).reduce((sum, { values }) => sum + values, 0)
  const count = fields[place]?.values ?? 0
  // What is looked for is folded by the same version of DuckDB.
  const folded = typeRow(type).isText ? foldedSql('value') : 'null'
  return {
    sql: `select value, ${folded}, rows::double from read_parquet(${quotedText(path.join(snapshot.folder, file))}, file_row_number = true)
      where file_row_number between ${first} and ${first + count - 1} order by file_row_number`,
    parameters: [],
    reads: readsOf(
      snapshot,
      [{ file, isRead: rowsBetween(first, first + count) }],
      ['field', 'value', 'rows'],
      false,
    ),
  }
}

/** Of a text beside its characters, twice. */
const textBytes = 80

/**
 * @param answer that to `planDictionary`
 * @param rows of the table
 * @returns null where a value is none that the server knows to compare
 */
export function readDictionary(
  field: Field,
  answer: readonly (readonly unknown[])[],
  rows: number,
): Dictionary | null {
  const { isText, parse } = typeRow(field.type)
  const values = answer.map(([value]) => (isText ? String(value) : parse(String(value), field)))
  if (!values.every((value) => value !== null)) return null
  const folded = isText ? answer.map(([, text]) => String(text)) : null
  const counts = new Float64Array(values.length + 1)
  for (const [code, [, , count]] of answer.entries()) counts[code] = Number(count)
  counts[values.length] = rows - counts.reduce((sum, count) => sum + count, 0)
  const characters = [...values, ...(folded ?? [])].reduce((sum, { length }) => sum + length, 0)
  const bytes = counts.byteLength + 2 * characters + textBytes * answer.length
  return { field, values, folded, rows: counts, bytes }
}

/** A one for each code that is chosen. */
export type Chosen = Uint8Array

/**
 * The codes of the values of which a condition holds.
 *
 * @param part what `contains` and `startswith` look for, folded
 */
export function chosenBy(dictionary: Dictionary, { operator, values }: Condition, part: string): Chosen {
  const nulls = dictionary.values.length
  const chosen = new Uint8Array(nulls + 1)
  const [first = '', last = first] = [values[0], values.at(-1)]
  const from = (): number => placeOf(dictionary, first, false)
  const to = (): number => placeOf(dictionary, last, true)
  switch (operator) {
    case 'isnull':
      return values[0] === 'true' ? chosen.fill(1, nulls) : chosen.fill(1, 0, nulls)
    case 'eq':
    case 'range':
      return chosen.fill(1, from(), to())
    case 'in':
      for (const value of values)
        chosen.fill(1, placeOf(dictionary, value, false), placeOf(dictionary, value, true))
      return chosen
    case 'ne':
      return chosen.fill(1).fill(0, from(), to())
    case 'gt':
      return chosen.fill(1, to(), nulls)
    case 'gte':
      return chosen.fill(1, from(), nulls)
    case 'lt':
      return chosen.fill(1, 0, from())
    case 'lte':
      return chosen.fill(1, 0, to())
    case 'contains':
      return holding(dictionary, (text) => text.includes(part))
    case 'startswith':
      return holding(dictionary, (text) => text.startsWith(part))
  }
}

/** The codes of the texts of which something holds when they are folded. */
export function holding({ folded }: Dictionary, holds: (text: string) => boolean): Chosen {
  if (folded === null) throw new TypeError('only texts hold others')
  const chosen = new Uint8Array(folded.length + 1)
  for (const [code, text] of folded.entries()) chosen[code] = Number(holds(text))
  return chosen
}

/** The code of the first value that is not before another; or of the first one after it. */
function placeOf({ field, values }: Dictionary, value: string, isAfter: boolean): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compareValues(field, values[middle] ?? '', value)
    if (order < 0 || (isAfter && order === 0)) low = middle + 1
    else high = middle
  }
  return low
}
