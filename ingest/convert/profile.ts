import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { FieldTypeRow } from '../../core/catalog/types/field-type.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'

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

/**
 * Nulls, bounds, number of different values, and how they are distributed, exact but for the estimate, of the rows as
 * they are sorted, with which the parts are compared.
 */
export async function profile(work: Work, rows: number): Promise<FieldProfile[]> {
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
  const from = sortedSql(work)
  const terms = fields.map((field, index) => {
    const column = `f${index}`
    const [min, max] = [`min(${column})`, `max(${column})`]
    const { measure, wire } = typeRow(field.type)
    // Of what is made of parts none is the least.
    const ends = wire.kind === 'json' ? ['null', 'null'] : [shown(field, min), shown(field, max)]
    const bounds = measure === null ? ['null', 'null'] : [measure.number(min), measure.number(max)]
    return [`count(${column})`, `approx_count_distinct(${column})`, ...ends, ...bounds]
  })
  const [facts = []] = await work.db.rows(`select ${terms.flat().join(', ')} from ${from}`)
  const found = fields.map((field, index) => {
    const at = index * (terms[0]?.length ?? 0)
    const [filled, distinct, min, max, low, high] = facts.slice(at)
    return {
      field,
      column: `f${index}`,
      filled: numberOf(filled),
      distinct: numberOf(distinct),
      min: min === null ? null : String(min),
      max: max === null ? null : String(max),
      bounds: [Number(low), Number(high)] as const,
    }
  })
  const measures = found.flatMap(({ field, column, bounds, distinct }) => {
    const { measure } = typeRow(field.type)
    return measure === null || distinct <= ranges ? [] : [{ field, column, bounds, measure }]
  })
  const histograms = await histogramsOf(work.db, from, measures)
  const profiles: FieldProfile[] = []
  for (const { field, column, filled, distinct, min, max } of found) {
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
    else profiles.push({ ...common, ...(await frequent(work.db, from, field, column)) })
  }
  return profiles
}

function shown(field: Field, value: string): string {
  const text = typeRow(field.type).rendered(value)
  return `case when length(${text}) > ${textShownMax} then left(${text}, ${textShownMax}) || '…' else ${text} end`
}

/** The most frequent values, and all of them where they are few. */
async function frequent(
  db: Connection,
  from: string,
  field: Field,
  column: string,
): Promise<Pick<FieldProfile, 'top' | 'choices'>> {
  const rows = await db.rows(`select ${shown(field, 'value')}, number, row_number() over (order by value)
    from (select ${column} as value, count(*) as number from ${from} where ${column} is not null group by 1
      order by number desc, value limit ${choicesMax + 1}) order by number desc, value`)
  const found = rows.map(([value, number, place]) => ({
    value: String(value),
    rows: numberOf(number),
    place: numberOf(place),
  }))
  const top = found.slice(0, topMax).map(({ value, rows: count }) => ({ value, rows: count }))
  if (found.length > choicesMax || found.some(({ value }) => value.length >= textShownMax)) return { top }
  return { top, choices: found.toSorted((a, b) => a.place - b.place).map(({ value }) => value) }
}

interface Measure {
  readonly field: Field
  readonly column: string
  /** On its numbers ranges are told apart. */
  readonly measure: NonNullable<FieldTypeRow['measure']>
  /** The lowest and the highest number. */
  readonly bounds: readonly [number, number]
}

/** Ranges of the same width between the bounds of each measure, all counted in one reading. */
async function histogramsOf(
  db: Connection,
  from: string,
  measures: readonly Measure[],
): Promise<Map<Field, Range[]>> {
  if (measures.length === 0) return new Map()
  const edges = measures.map(({ bounds }) => edgesBetween(...bounds))
  const counts = measures.map(({ column, measure }, index) => {
    const uppers = edges[index]?.slice(1).map((edge) => `${edge}::double`) ?? []
    return `array_to_string(map_values(histogram(${measure.number(column)}, [${uppers.join(', ')}])), ' ')`
  })
  const [counted = []] = await db.rows(`select ${counts.join(', ')} from ${from}`)
  return new Map(
    measures.map(({ field, measure }, index) => [
      field,
      rangesOf(measure, edges[index] ?? [], String(counted[index])),
    ]),
  )
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
