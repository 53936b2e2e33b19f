import type { Field } from '../../core/catalog/catalog.ts'
import type { FieldTypeRow } from '../../core/catalog/types/field-type.ts'
import { sortedSql, type Work } from './convert.ts'
import type { ValueSource } from './cells.ts'
import { endsOf, goneSql, type Range } from './facts.ts'
import type { ProfileBefore } from './partition-facts.ts'

export const ranges = 20

interface Measure {
  readonly field: Field
  readonly source: ValueSource
  /** On its numbers ranges are told apart. */
  readonly measure: NonNullable<FieldTypeRow['measure']>
  /** The lowest and the highest number. */
  readonly bounds: readonly [number, number]
}

/** Ranges of the same width between the bounds of each measure, all that are in the same rows counted in one reading. */
export async function histogramsOf(
  work: Work,
  measures: readonly Measure[],
  before: ProfileBefore | null,
): Promise<Map<Field, Range[]>> {
  const histograms = new Map<Field, Range[]>()
  const note = ({ field, measure, bounds }: Measure, counts: readonly number[]): void => {
    histograms.set(field, rangesOf(measure, edgesBetween(...bounds), counts))
  }
  const others: Measure[] = []
  const moved: { readonly measure: Measure; readonly was: readonly number[] }[] = []
  for (const measure of measures) {
    const was =
      before === null || measure.source.rows !== null ? null : await countsBefore(work, measure, before)
    if (was === null) others.push(measure)
    else moved.push({ measure, was })
  }
  for (const from of new Set(others.map(({ source }) => source.from))) {
    const own = others.filter(({ source }) => source.from === from)
    for (const [place, counts] of (await countsIn(work, own, from)).entries())
      if (own[place] !== undefined) note(own[place], counts)
  }
  if (before === null || moved.length === 0) return histograms
  const known = moved.map(({ measure }) => measure)
  const gone = before.gone.length === 0 ? [] : await countsIn(work, known, goneSql(work.fields, before.gone))
  const read = await countsIn(work, known, sortedSql(before.read))
  for (const [place, { measure, was }] of moved.entries())
    note(
      measure,
      was.map((rows, step) => rows - (gone[place]?.[step] ?? 0) + (read[place]?.[step] ?? 0)),
    )
  return histograms
}

/** How many rows were in each range before, where the ranges were the same. */
async function countsBefore(
  { db }: Work,
  { field, bounds }: Measure,
  { all, profiles }: ProfileBefore,
): Promise<number[] | null> {
  const facts = all.flatMap((partition) => partition.facts?.[field.name] ?? [])
  const own = profiles.find(({ name }) => name === field.name)?.histogram
  if (own === undefined || facts.length !== all.length) return null
  const [ends] = await endsOf(db, [{ field, facts }])
  const were = ends?.bounds ?? []
  return were[0] === bounds[0] && were[1] === bounds[1] ? own.map(({ rows }) => rows) : null
}

/** Of each measure, how many rows are in each of its ranges. */
async function countsIn({ db }: Work, measures: readonly Measure[], from: string): Promise<number[][]> {
  const counts = measures.map(({ source, measure, bounds }) => {
    const uppers = edgesBetween(...bounds)
      .slice(1)
      .map((edge) => `${edge}::double`)
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
  // None has a value.
  return measures.map((_, place) =>
    counted[place] === null
      ? Array.from({ length: ranges }, () => 0)
      : String(counted[place]).split(' ').map(Number),
  )
}

function edgesBetween(low: number, high: number): number[] {
  const inner = Array.from(
    { length: ranges },
    (_, step) => low * (1 - step / ranges) + high * (step / ranges),
  )
  return [...inner, high]
}

function rangesOf(
  { text }: Measure['measure'],
  edges: readonly number[],
  counts: readonly number[],
): Range[] {
  return counts.map((rows, step) => ({
    from: text(edges[step] ?? 0),
    to: text(edges[step + 1] ?? 0),
    rows,
  }))
}
