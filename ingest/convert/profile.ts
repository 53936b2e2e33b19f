import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { ValueFacts } from '../../core/warehouse/manifest.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import {
  distinctOf,
  endsOf,
  factsIn,
  registersOf,
  shown,
  sourceOf,
  textShownMax,
  type Ends,
  type Range,
  type ValueSource,
} from './facts.ts'
import { histogramsOf, ranges } from './histograms.ts'
import { partitionSql, type PartitionFacts, type ProfileBefore } from './partition-facts.ts'

/** What the values of a field look like. */
export interface FieldProfile {
  readonly name: string
  readonly type: string
  readonly nulls: number
  /** About, by HyperLogLog. */
  readonly distinct_estimate: number
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

export interface Frequent {
  readonly value: string
  readonly rows: number
}

const topMax = 10
/** The ancestor's number, up to which it offered values to choose from. */
const choicesMax = 100
/** A text that has more different values than this share of its rows is next to unique. */
const uniqueShare = 0.5
const alwaysCounted = 1000
/** Up to so many different values are counted with no thought of memory. */
const distinctAtHand = 65_536

/** What the fields look like, and each by itself in each partition: by its value, then by name of field. */
export interface Profiled {
  readonly profiles: FieldProfile[]
  readonly partitions: PartitionFacts
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
    const none = { nulls: 0, distinct_estimate: 0, min: null, max: null }
    return { profiles: fields.map(({ name, type }) => ({ name, type, ...none })), partitions: new Map() }
  }
  const { found, partitions } = await factsOf(work, before)
  const measures = found.flatMap(({ field, source, bounds, distinct }) => {
    const { measure } = typeRow(field.type)
    return measure === null || distinct <= ranges ? [] : [{ field, source, bounds, measure }]
  })
  const histograms = await histogramsOf(work, measures, before)
  const profiles: FieldProfile[] = []
  for (const { field, source, filled, distinct, min, max } of found) {
    const common = {
      name: field.name,
      type: field.type,
      nulls: rows - filled,
      distinct_estimate: distinct,
      min,
      max,
    }
    const histogram = histograms.get(field)
    const isUnique = distinct > Math.max(alwaysCounted, uniqueShare * filled)
    if (histogram !== undefined) profiles.push({ ...common, histogram })
    else if (isUnique) profiles.push({ ...common, top: null })
    else profiles.push({ ...common, ...(await frequent(work.db, field, source, distinct)) })
  }
  return { profiles, partitions }
}

interface FieldFacts extends Ends {
  readonly field: Field
  readonly source: ValueSource
  readonly filled: number
  readonly distinct: number
}

/** One reading for all fields that are read from the same rows: from all, or from those that were not known before. */
async function factsOf(
  work: Work,
  before: ProfileBefore | null,
): Promise<{ found: FieldFacts[]; partitions: PartitionFacts }> {
  const { db } = work
  const partitions = new Map<string | null, Map<string, ValueFacts>>()
  const note = (value: string | null, { name }: Field, facts: ValueFacts): void => {
    const own = partitions.get(value) ?? new Map<string, ValueFacts>()
    partitions.set(value, own.set(name, facts))
  }
  const sources = work.fields.map(({ field }, index) => {
    const source = sourceOf(work, index, before?.counted ?? [])
    const isKnown = before?.kept.every(({ facts }) => facts?.[field.name] !== undefined) === true
    const from = source.rows === null && before !== null && isKnown ? sortedSql(before.read) : source.from
    return { field, source, from }
  })
  const facts = new Map<Field, ValueFacts[]>()
  for (const from of new Set(sources.map((one) => one.from))) {
    const own = sources.filter((one) => one.from === from)
    const columns = own.map(({ field, source }) => ({ field, column: source.column, weight: source.rows }))
    const areRows = columns.every(({ weight }) => weight === null)
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
  const found: FieldFacts[] = []
  for (const { field, source } of sources) {
    const own = facts.get(field) ?? []
    const filled = own.reduce((sum, one) => sum + one.filled, 0)
    found.push({
      field,
      source,
      filled,
      distinct: distinctOf(registersOf(own)),
      ...(await endsOf(db, field, own)),
    })
  }
  return { found, partitions }
}

/** The most frequent values, and all of them where they are few. */
async function frequent(
  db: Connection,
  field: Field,
  source: ValueSource,
  distinct: number,
): Promise<Pick<FieldProfile, 'top' | 'choices'>> {
  const counted = async (condition: string): Promise<(Frequent & { readonly place: number })[]> => {
    const { from, column, rows: weight } = source
    const number = weight === null ? 'count(*)' : `sum(${weight})::bigint`
    const rows = await db.rows(`select ${shown(field, 'value')}, number, row_number() over (order by value)
      from (select ${column} as value, ${number} as number from ${from} where ${column} is not null ${condition} group by 1
        order by number desc, value limit ${choicesMax + 1}) order by number desc, value`)
    return rows.map(([value, count, place]) => ({
      value: String(value),
      rows: numberOf(count),
      place: numberOf(place),
    }))
  }
  const isLarge = source.rows === null && distinct > distinctAtHand
  const found = (isLarge ? await countedByHash(db, source, counted) : null) ?? (await counted(''))
  const top = found.slice(0, topMax).map(({ value, rows }) => ({ value, rows }))
  if (found.length > choicesMax || found.some(({ value }) => value.length >= textShownMax)) return { top }
  return { top, choices: found.toSorted((a, b) => a.place - b.place).map(({ value }) => value) }
}

/**
 * Counts only the values whose hash occurs often enough, since hashes take a fraction of the memory of values.
 *
 * @returns null where hashes do not tell which these are
 */
async function countedByHash<T extends Frequent>(
  db: Connection,
  { from, column }: ValueSource,
  counted: (condition: string) => Promise<T[]>,
): Promise<T[] | null> {
  const table = 'frequent_hashes'
  await db.rows(`create or replace temp table ${table} as
    select hash(${column}) as hash, count(*)::uinteger as rows from ${from} where ${column} is not null group by 1`)
  try {
    const [least = []] = await db.rows(
      `select min(rows) from (select rows from ${table} order by rows desc limit ${choicesMax + 1})`,
    )
    const often = `from ${table} where rows >= ${numberOf(least[0])}`
    const [hashes = []] = await db.rows(`select count(*) ${often}`)
    if (numberOf(hashes[0]) > distinctAtHand) return null
    const found = await counted(`and hash(${column}) in (select hash ${often})`)
    // Of values that share a hash each may occur less often than it.
    const last = found[choicesMax]
    return last !== undefined && last.rows >= numberOf(least[0]) ? found : null
  } finally {
    await db.rows(`drop table ${table}`)
  }
}
