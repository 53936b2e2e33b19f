import type { Field, Table } from '../../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { orderable } from '../../query/parameters.ts'
import { isTime } from '../table/view.ts'

/** A field that can group rows, and the shape of its chart. */
export interface Dimension {
  readonly field: Field
  readonly shape: 'line' | 'tiles' | 'bars'
}

/** With more distinct values, bars are illegible. */
const barsMax = 200

/** Returns fields that can group the rows of a table: days, states, and fields with few values. */
export function dimensionsOf(table: Table, report: SnapshotReport | null): Dimension[] {
  const orderableNames = new Set(orderable(table))
  const dimensions = table.fields.flatMap((field): Dimension[] => {
    if (!orderableNames.has(field.name)) return []
    if (isTime(field)) return [{ field, shape: 'line' }]
    if (field.kind === 'uf') return [{ field, shape: 'tiles' }]
    const distinct = report?.fields.find(({ name }) => name === field.name)?.distinct_estimate ?? 0
    return distinct >= 2 && distinct <= barsMax ? [{ field, shape: 'bars' }] : []
  })
  const shapes: readonly Dimension['shape'][] = ['line', 'tiles', 'bars']
  return dimensions.toSorted((a, b) => shapes.indexOf(a.shape) - shapes.indexOf(b.shape))
}

const dayMs = 86_400_000
/** Maximum number of points of a line that remain distinguishable. */
const pointsMax = 800

/**
 * Returns how many leading characters of a date form a step of the time line: those of the day, its month or
 * its year.
 */
export function stepOf(field: Field, report: SnapshotReport | null): 10 | 7 | 4 {
  const found = report?.fields.find(({ name }) => name === field.name)
  const [from, to] = [found?.min, found?.max].map((text) => Date.parse((text ?? '').slice(0, 10)))
  const days = ((to ?? NaN) - (from ?? NaN)) / dayMs
  if (!(days > pointsMax)) return 10
  return days / 30 <= pointsMax ? 7 : 4
}
