import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { OutOfMemory } from '../../../core/duckdb/errors.ts'
import { type Conversion, numberOf, sortedSql } from '../conversion.ts'
import { type ValueColumn, cellsSql, columnsTogether } from './cells.ts'
import { type Facts, type Range, factsOf } from './facts.ts'
import { type Frequent, frequentOf } from './frequent.ts'
import { histogramsOf, rangeCount } from './histograms.ts'

export interface FieldProfile {
  readonly name: string
  readonly type: string
  readonly nulls: number
  /** Estimate by HyperLogLog in large tables; never above the number of values. */
  readonly distinct_estimate: number
  readonly distinct?: number
  /** Shortened text; null if all values are null, or have no order (JSON). */
  readonly min: string | null
  readonly max: string | null
  readonly top?: readonly Frequent[] | null
  /** All values in order, if they are few and short. */
  readonly choices?: readonly string[]
  readonly histogram?: readonly Range[]
}

const uniqueShare = 0.5
const alwaysCountedMax = 1000

/**
 * Counts nulls and distinct values of each field; finds its extremes, and its histogram or most frequent
 * values.
 */
export async function profile(conversion: Conversion, rows: number): Promise<FieldProfile[]> {
  const fields = conversion.fields.map(({ field }) => field)
  if (rows === 0) {
    const emptyFacts = { nulls: 0, distinct_estimate: 0, distinct: 0, min: null, max: null }
    return fields.map(({ name, type }) => ({ name, type, ...emptyFacts }))
  }
  const from = sortedSql(conversion)
  const columns = fields.map((field, index) => ({ field, from, column: `f${index}` }))
  const profiles = await countDistinct(conversion, rows, columns, await factsOf(conversion.db, columns))
  const measures = profiles.flatMap((column) => {
    const { measure } = typeRow(column.field.type)
    return measure === null || column.distinct <= rangeCount ? [] : [{ ...column, measure }]
  })
  const histograms = await histogramsOf(conversion.db, measures)
  const countedColumns = profiles.filter(
    ({ field, distinct, filled }) =>
      !histograms.has(field) && distinct <= Math.max(alwaysCountedMax, uniqueShare * filled),
  )
  const frequent = await frequentOf(conversion.db, countedColumns, rows)
  return profiles.map(({ field, filled, distinct, isExact, min, max }): FieldProfile => {
    const common = {
      name: field.name,
      type: field.type,
      nulls: rows - filled,
      distinct_estimate: distinct,
      ...(isExact && { distinct }),
      min,
      max,
    }
    const histogram = histograms.get(field)
    if (histogram !== undefined) return { ...common, histogram }
    const { top = null, choices } = frequent.get(field) ?? {}
    return { ...common, top, ...(choices !== undefined && { choices }) }
  })
}

const exactRowsMax = 1_000_000

async function countDistinct(
  { db }: Conversion,
  rows: number,
  columns: readonly ValueColumn[],
  facts: ReadonlyMap<Field, Facts>,
): Promise<(ValueColumn & Facts & { readonly isExact: boolean })[]> {
  const estimatedColumns = columns.flatMap((column) => {
    const columnFacts = facts.get(column.field)
    return columnFacts === undefined ? [] : [{ ...column, ...columnFacts }]
  })
  const exactCounts = new Map<Field, number>()
  const countableColumns = rows <= exactRowsMax ? estimatedColumns : []
  for (const group of columnsTogether(countableColumns, rows)) {
    const distinctCounts = await rowsIfMemorySuffices(
      db,
      `select place, count(value) from (select distinct place, value from ${cellsSql(group)}) group by place`,
    )
    for (const [place, number] of distinctCounts ?? []) {
      const field = group[numberOf(place)]?.field
      if (field !== undefined) exactCounts.set(field, numberOf(number))
    }
  }
  return estimatedColumns.map((estimate) => ({
    ...estimate,
    distinct: exactCounts.get(estimate.field) ?? Math.min(estimate.distinct, estimate.filled),
    isExact: exactCounts.has(estimate.field),
  }))
}

async function rowsIfMemorySuffices(
  db: Conversion['db'],
  sql: string,
): Promise<readonly (readonly unknown[])[] | null> {
  try {
    return await db.rows(sql)
  } catch (error) {
    if (error instanceof OutOfMemory) return null
    throw error
  }
}
