import { isNumber, isTime } from '../../documents/words/value-text.ts'
import type { Field, Table } from '../../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { baseOf, partsBetween, type Term } from '../../query/date-parts.ts'

export interface Dimension {
  readonly field: Field
  readonly shape: 'line' | 'tiles' | 'bars'
}

const barsMax = 200
const splitsMax = 12

/** Fields with days, states, or few values. */
export function dimensionsOf(table: Table, report: SnapshotReport | null): Dimension[] {
  const names = new Set([...table.order.map(({ field }) => field), ...table.filters])
  const dimensions = table.fields.flatMap((field): Dimension[] => {
    if (!names.has(field.name)) return []
    if (isTime(field)) return [{ field, shape: 'line' }]
    if (field.kind === 'uf') return [{ field, shape: 'tiles' }]
    const distinct = distinctOf(field, report) ?? 0
    return distinct >= 2 && distinct <= barsMax ? [{ field, shape: 'bars' }] : []
  })
  const shapes: readonly Dimension['shape'][] = ['line', 'tiles', 'bars']
  return dimensions.toSorted((a, b) => shapes.indexOf(a.shape) - shapes.indexOf(b.shape))
}

const groupsMax = 20_000

/** Texts with many values, such as cities; no chart opens with them. */
export function longDimensions(
  table: Table,
  report: SnapshotReport | null,
  dimensions: readonly Dimension[],
): Field[] {
  const names = new Set(dimensions.map(({ field }) => field.name))
  return table.fields.filter((field) => {
    const distinct = distinctOf(field, report) ?? 0
    const isLong = distinct > barsMax && distinct <= groupsMax
    return isLong && table.filters.includes(field.name) && !names.has(field.name) && !isNumber(field)
  })
}

/** True if the values are few enough to split groups. */
export function hasFewValues(term: Term, report: SnapshotReport | null): boolean {
  const statistics = report?.fields.find(({ name }) => name === baseOf(term).name)
  const values = Math.min(
    distinctOf(baseOf(term), report) ?? Infinity,
    partsBetween(term, statistics?.min ?? null, statistics?.max ?? null),
  )
  return values <= splitsMax
}

function distinctOf({ name }: Field, report: SnapshotReport | null): number | undefined {
  return report?.fields.find((field) => field.name === name)?.distinct_estimate
}

const dayMs = 86_400_000
const pointsMax = 800

export function stepOf(field: Field, report: SnapshotReport | null): 'day' | 'month' | 'year' {
  const statistics = report?.fields.find(({ name }) => name === field.name)
  const [from, to] = [statistics?.min, statistics?.max].map((text) => Date.parse((text ?? '').slice(0, 10)))
  const days = ((to ?? NaN) - (from ?? NaN)) / dayMs
  if (!(days > pointsMax)) return 'day'
  return days / 30 <= pointsMax ? 'month' : 'year'
}
