import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { FieldTypeRow } from '../../core/catalog/types/field-type.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import { tableOf, type CodedField } from './dictionary.ts'

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

export interface Range {
  readonly from: string
  readonly to: string
  readonly rows: number
}

const topMax = 10
/** The ancestor's number, up to which it offered values to choose from. */
const choicesMax = 100
const ranges = 20
/** A text that has more different values than this share of its rows is next to unique. */
const uniqueShare = 0.5
const alwaysCounted = 1000
const textShownMax = 200
/** Up to so many different values are counted with no thought of memory. */
const distinctAtHand = 65_536

/**
 * Nulls, bounds, number of different values, and how they are distributed, exact but for the estimate, of the rows as
 * they are sorted, with which the parts are compared.
 *
 * @param numbered fields whose values are counted already
 */
export async function profile(
  work: Work,
  rows: number,
  numbered: readonly CodedField[] = [],
): Promise<FieldProfile[]> {
  const fields = work.fields.map(({ field }) => field)
  if (rows === 0)
    return fields.map(({ name, type }) => ({
      name,
      type,
      nulls: 0,
      distinct_estimate: 0,
      min: null,
      max: null,
    }))
  const sources = fields.map((_, index) => sourceOf(work, index, numbered))
  const found = await factsOf(work, sources)
  const measures = found.flatMap(({ field, source, bounds, distinct }) => {
    const { measure } = typeRow(field.type)
    return measure === null || distinct <= ranges ? [] : [{ field, source, bounds, measure }]
  })
  const histograms = await histogramsOf(work, measures)
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
  return profiles
}

function shown(field: Field, value: string): string {
  const text = typeRow(field.type).rendered(value)
  return `case when length(${text}) > ${textShownMax} then left(${text}, ${textShownMax}) || '…' else ${text} end`
}

/** Where the values of a field are: one in each row, or each once with how many rows have it. */
interface ValueSource {
  readonly from: string
  readonly column: string
  /** Null where each row is one. */
  readonly rows: string | null
}

function sourceOf(work: Work, index: number, numbered: readonly CodedField[]): ValueSource {
  const known = numbered.find((field) => field.index === index)
  return known === undefined
    ? { from: sortedSql(work), column: `f${index}`, rows: null }
    : { from: tableOf(known), column: 'value', rows: 'rows' }
}

interface FieldFacts {
  readonly field: Field
  readonly source: ValueSource
  readonly filled: number
  readonly distinct: number
  readonly min: string | null
  readonly max: string | null
  readonly bounds: readonly [number, number]
}

/** One reading of the rows for all fields that are read from them. */
async function factsOf(work: Work, sources: readonly ValueSource[]): Promise<FieldFacts[]> {
  const terms = sources.map(({ column, rows }, index) => {
    const field = work.fields[index]?.field
    if (field === undefined) throw new RangeError(`the table has no field ${index}`)
    const [min, max] = [`min(${column})`, `max(${column})`]
    const { measure, wire } = typeRow(field.type)
    // Of what is made of parts none is the least.
    const ends = wire.kind === 'json' ? ['null', 'null'] : [shown(field, min), shown(field, max)]
    const bounds = measure === null ? ['null', 'null'] : [measure.number(min), measure.number(max)]
    const filled =
      rows === null ? `count(${column})` : `coalesce(sum(${rows}) filter (where ${column} is not null), 0)`
    return { field, sql: [filled, `approx_count_distinct(${column})`, ...ends, ...bounds] }
  })
  const facts: FieldFacts[] = []
  for (const from of new Set(sources.map((source) => source.from))) {
    const own = terms.flatMap((term, index) => {
      const source = sources[index]
      return source?.from === from ? [{ ...term, source, index }] : []
    })
    const [row = []] = await work.db.rows(`select ${own.flatMap(({ sql }) => sql).join(', ')} from ${from}`)
    let at = 0
    for (const { field, sql, source, index } of own) {
      const [filled, distinct, min, max, low, high] = row.slice(at, at + sql.length)
      at += sql.length
      facts[index] = {
        field,
        source,
        filled: numberOf(filled),
        distinct: numberOf(distinct),
        min: min === null ? null : String(min),
        max: max === null ? null : String(max),
        bounds: [Number(low), Number(high)],
      }
    }
  }
  return facts
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

interface Measure {
  readonly field: Field
  readonly source: ValueSource
  /** On its numbers ranges are told apart. */
  readonly measure: NonNullable<FieldTypeRow['measure']>
  /** The lowest and the highest number. */
  readonly bounds: readonly [number, number]
}

/** Ranges of the same width between the bounds of each measure, all that are in the rows counted in one reading. */
async function histogramsOf({ db }: Work, measures: readonly Measure[]): Promise<Map<Field, Range[]>> {
  const histograms = new Map<Field, Range[]>()
  for (const from of new Set(measures.map(({ source }) => source.from))) {
    const own = measures.filter(({ source }) => source.from === from)
    const edges = own.map(({ bounds }) => edgesBetween(...bounds))
    const counts = own.map(({ source, measure }, index) => {
      const uppers = edges[index]?.slice(1).map((edge) => `${edge}::double`) ?? []
      const number = measure.number(source.column)
      if (source.rows === null)
        return `array_to_string(map_values(histogram(${number}, [${uppers.join(', ')}])), ' ')`
      const sums = uppers.map((upper, step) => {
        const above = step === 0 ? 'true' : `${number} > ${uppers[step - 1] ?? ''}`
        return `coalesce(sum(${source.rows}) filter (where ${above} and ${number} <= ${upper}), 0)::bigint`
      })
      return `array_to_string([${sums.join(', ')}], ' ')`
    })
    const [counted = []] = await db.rows(`select ${counts.join(', ')} from ${from}`)
    for (const [index, { field, measure }] of own.entries())
      histograms.set(field, rangesOf(measure, edges[index] ?? [], String(counted[index])))
  }
  return histograms
}

function edgesBetween(low: number, high: number): number[] {
  const inner = Array.from(
    { length: ranges },
    (_, step) => low * (1 - step / ranges) + high * (step / ranges),
  )
  return [...inner, high]
}

function rangesOf({ text }: Measure['measure'], edges: readonly number[], counts: string): Range[] {
  return counts.split(' ').map((rows, step) => ({
    from: text(edges[step] ?? 0),
    to: text(edges[step + 1] ?? 0),
    rows: Number(rows),
  }))
}
