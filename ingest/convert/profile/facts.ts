import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import { fieldsAtOnce, numberOf } from '../conversion.ts'
import type { ValueColumn } from './cells.ts'

export interface Facts {
  readonly filled: number
  readonly distinct: number
  /** Shortened text of the least value; null if there is none. */
  readonly min: string | null
  readonly max: string | null
  /** Bounds as numbers for the histogram; zeros for types without one. */
  readonly bounds: readonly [number, number]
}

/** Values above `from` up to `to`; the first range includes `from`. */
export interface Range {
  readonly from: string
  readonly to: string
  readonly rows: number
}

/**
 * Facts with estimates of distinct values by HyperLogLog. Reads the rows once. To bound memory, it reads those
 * of a wide table once per group of columns.
 */
export async function factsOf(db: Connection, columns: readonly ValueColumn[]): Promise<Map<Field, Facts>> {
  const factsByField = new Map<Field, Facts>()
  for (let first = 0; first < columns.length; first += fieldsAtOnce) {
    const chunk = columns.slice(first, first + fieldsAtOnce)
    const terms = chunk.map(({ field, column }) => factsSql(field, column))
    const [row = []] = await db.rows(`select ${terms.join(', ')} from ${chunk[0]?.from ?? ''}`)
    for (const [index, { field }] of chunk.entries())
      factsByField.set(field, factsAt(row, factsCount * index))
  }
  return factsByField
}

const factsCount = 6

function factsSql(field: Field, column: string): string {
  const { measure, wire } = typeRow(field.type)
  // JSON values have no order.
  const hasEnds = wire.kind !== 'json'
  const [low, high] = [`min(${column})`, `max(${column})`]
  const ends = hasEnds ? [shortTextSql(field, low), shortTextSql(field, high)] : ['null', 'null']
  const bounds =
    measure === null ? ['0', '0'] : [low, high].map((end) => `coalesce(${measure.number(end)}, 0)`)
  return [`count(${column})`, `approx_count_distinct(${column})`, ...ends, ...bounds].join(', ')
}

function factsAt(row: readonly unknown[], index: number): Facts {
  const [filled, distinct, min, max, low, high] = row.slice(index, index + factsCount)
  return {
    filled: numberOf(filled),
    distinct: numberOf(distinct),
    min: textOf(min),
    max: textOf(max),
    bounds: [Number(low), Number(high)],
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Longer texts are shortened. */
export const textShownMax = 200

export function shortTextSql(field: Field, value: string): string {
  const text = typeRow(field.type).rendered(value)
  return `case when length(${text}) > ${textShownMax} then left(${text}, ${textShownMax}) || '…' else ${text} end`
}
