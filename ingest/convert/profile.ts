import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { FrequentTexts, ValueFacts } from '../../core/warehouse/manifest.ts'
import { OutOfMemory } from '../../core/duckdb/errors.ts'
import { cellsSql, columnsTogether, type ValueSource } from './cells.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import {
  distinctOf,
  endsOf,
  factsIn,
  factsTogether,
  registersOf,
  sourceOf,
  type Ends,
  type Range,
} from './facts.ts'
import { areListed } from './steps.ts'
import { frequentOf, type Frequent } from './frequent.ts'
import { histogramsOf, ranges } from './histograms.ts'
import { partitionSql, type PartitionFacts, type ProfileBefore } from './partition-facts.ts'

/** What the values of a field look like. */
export interface FieldProfile {
  readonly name: string
  readonly type: string
  readonly nulls: number
  /** Number of different values; of large tables about, by HyperLogLog. Never above the number of values. */
  readonly distinct_estimate: number
  /** The same number where it is exact. */
  readonly distinct?: number
  /** As text; long ones shortened. Null where all values are. */
  readonly min: string | null
  readonly max: string | null
  /** The most frequent values; null where next to every value is another. */
  readonly top?: readonly Frequent[] | null
  /** All values, in their order, where they are few and short. */
  readonly choices?: readonly string[]
  /** Values above `from` up to `to`; the first range with its start too. */
  readonly histogram?: readonly Range[]
}

/** A text that has more different values than this share of its rows is next to unique. */
const uniqueShare = 0.5
const alwaysCounted = 1000

/** What the fields look like, and what the next ingest is to know of them. */
interface Profiled {
  readonly profiles: FieldProfile[]
  /** Of each field by itself in each partition. */
  readonly partitions: PartitionFacts
  /** By name of field. */
  readonly frequent: ReadonlyMap<string, FrequentTexts>
}

/**
 * Nulls, bounds, number of different values, and how they are distributed, exact but for the estimate, of the rows as
 * they are sorted, with which the parts are compared.
 */
export async function profile(
  work: Work,
  rows: number,
  before: ProfileBefore | null = null,
): Promise<Profiled> {
  const fields = work.fields.map(({ field }) => field)
  if (rows === 0) {
    const none = { nulls: 0, distinct_estimate: 0, distinct: 0, min: null, max: null }
    return {
      profiles: fields.map(({ name, type }) => ({ name, type, ...none })),
      partitions: new Map(),
      frequent: new Map(),
    }
  }
  const { found: estimated, partitions } = await factsOf(work, rows, before)
  const found = await countDistinct(work, rows, estimated)
  const measures = found.flatMap(({ field, source, bounds, distinct }) => {
    const { measure } = typeRow(field.type)
    return measure === null || distinct <= ranges ? [] : [{ field, source, bounds, measure }]
  })
  const histograms = await histogramsOf(work, measures, before)
  const counted = found.filter(
    ({ field, distinct, filled }) =>
      !histograms.has(field) && distinct <= Math.max(alwaysCounted, uniqueShare * filled),
  )
  const frequent = await frequentOf(work, counted, rows, before)
  const profiles = found.map(({ field, filled, distinct, isExact, min, max }): FieldProfile => {
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
  const texts = [...frequent].flatMap(([{ name }, own]): [string, FrequentTexts][] =>
    own.texts === null ? [] : [[name, own.texts]],
  )
  return { profiles, partitions, frequent: new Map(texts) }
}

interface FieldFacts extends Ends {
  readonly field: Field
  readonly source: ValueSource
  readonly filled: number
  readonly distinct: number
  /** Whether the number of distinct values is exact. */
  readonly isExact: boolean
}

/** Tables of at most so many rows get exact numbers of different values. */
const exactRowsMax = 1_000_000

/** Replaces the estimates by exact numbers of different values, where these are affordable. */
async function countDistinct(
  { db }: Work,
  rows: number,
  estimated: readonly FieldFacts[],
): Promise<FieldFacts[]> {
  const exact = new Map<Field, number>()
  // An ingest that reads some partitions has the same numbers as one that reads all.
  const counted = rows <= exactRowsMax ? estimated.filter(({ isExact }) => !isExact) : []
  for (const columns of columnsTogether(counted, rows)) {
    const numbers = await rowsOrNull(
      db,
      `select place, count(value) from (select distinct place, value from ${cellsSql(columns)}) group by place`,
    )
    for (const [place, number] of numbers ?? []) {
      const field = columns[numberOf(place)]?.field
      if (field !== undefined) exact.set(field, numberOf(number))
    }
  }
  return estimated.map((facts) => ({
    ...facts,
    distinct: exact.get(facts.field) ?? Math.min(facts.distinct, facts.filled),
    isExact: facts.isExact || exact.has(facts.field),
  }))
}

/** Returns the rows of an answer; null if that takes more memory than the ingest has. */
async function rowsOrNull(db: Work['db'], sql: string): Promise<readonly (readonly unknown[])[] | null> {
  try {
    return await db.rows(sql)
  } catch (error) {
    if (error instanceof OutOfMemory) return null
    throw error
  }
}

/** One reading for all fields that are read from the same rows: from all, or from those that were not known before. */
async function factsOf(
  work: Work,
  rows: number,
  before: ProfileBefore | null,
): Promise<{ found: FieldFacts[]; partitions: PartitionFacts }> {
  const { db } = work
  const partitions = new Map<string | null, Map<string, ValueFacts>>()
  const note = (value: string | null, { name }: Field, facts: ValueFacts): void => {
    const own = partitions.get(value) ?? new Map<string, ValueFacts>()
    partitions.set(value, own.set(name, facts))
  }
  const sorted = sortedSql(work)
  const sources = work.fields.map(({ field }, index) => {
    const source = sourceOf(sorted, index, before?.counted ?? [])
    const isKnown = before?.kept.every(({ facts }) => facts?.[field.name] !== undefined) === true
    const from = source.rows === null && before !== null && isKnown ? sortedSql(before.read) : source.from
    return { field, source, from }
  })
  const facts = new Map<Field, ValueFacts[]>()
  const exact = new Map<Field, number>()
  for (const from of new Set(sources.map((one) => one.from))) {
    const own = sources.filter((one) => one.from === from)
    const columns = own.map(({ field, source }) => ({ field, column: source.column, weight: source.rows }))
    const areRows = columns.every(({ weight }) => weight === null)
    if (areRows && partitionSql(work) === null && areListed(columns.length, rows)) {
      for (const alike of columnsTogether(own, rows)) {
        const found = await factsTogether(db, alike)
        for (const [field, one] of found) {
          facts.set(field, [one.facts])
          note(null, field, one.facts)
          exact.set(field, one.distinct)
        }
      }
      continue
    }
    for (const [value, all] of await factsIn(db, from, columns, areRows ? partitionSql(work) : null)) {
      for (const [place, { field }] of own.entries()) {
        const one = all[place]
        if (one === undefined) continue
        facts.set(field, [...(facts.get(field) ?? []), one])
        if (areRows) note(value, field, one)
      }
    }
  }
  for (const { field, source, from } of sources) {
    if (from === source.from) continue
    for (const { value, facts: known } of before?.kept ?? []) {
      const one = known?.[field.name]
      if (one === undefined) continue
      facts.set(field, [...(facts.get(field) ?? []), one])
      note(value, field, one)
    }
  }
  const ends = await endsOf(
    db,
    sources.map(({ field }) => ({ field, facts: facts.get(field) ?? [] })),
  )
  const found = sources.map(({ field, source }, index): FieldFacts => {
    const own = facts.get(field) ?? []
    const filled = own.reduce((sum, one) => sum + one.filled, 0)
    const { min, max, bounds } = ends[index] ?? { min: null, max: null, bounds: [0, 0] }
    const distinct = exact.get(field) ?? distinctOf(registersOf(own))
    return { field, source, filled, distinct, isExact: exact.has(field), min, max, bounds }
  })
  return { found, partitions }
}
