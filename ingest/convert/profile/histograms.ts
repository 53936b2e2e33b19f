import type { Field } from '../../../core/catalog/catalog.ts'
import type { FieldTypeRow } from '../../../core/catalog/types/field-type.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import type { ValueColumn } from './cells.ts'
import type { Range } from './facts.ts'

export const rangeCount = 20

interface Measure extends ValueColumn {
  /** Converts values to numbers, and numbers back to texts. */
  readonly measure: NonNullable<FieldTypeRow['measure']>
  readonly bounds: readonly [number, number]
}

/** Counts values in ranges of equal width, reading the rows once. */
export async function histogramsOf(
  db: Connection,
  measures: readonly Measure[],
): Promise<Map<Field, Range[]>> {
  const [first] = measures
  if (first === undefined) return new Map()
  const counts = measures.map(({ column, measure, bounds }) => {
    const uppers = edgesBetween(...bounds)
      .slice(1)
      .map((edge) => `${edge}::double`)
    return `array_to_string(map_values(histogram(${measure.number(column)}, [${uppers.join(', ')}])), ' ')`
  })
  const [counted = []] = await db.rows(`select ${counts.join(', ')} from ${first.from}`)
  return new Map(
    measures.map(({ field, measure, bounds }, place) => {
      const edges = edgesBetween(...bounds)
      const rows = String(counted[place]).split(' ').map(Number)
      const bins = rows.map((number, step) => ({
        from: measure.text(edges[step] ?? 0),
        to: measure.text(edges[step + 1] ?? 0),
        rows: number,
      }))
      return [field, bins]
    }),
  )
}

function edgesBetween(low: number, high: number): number[] {
  const inner = Array.from(
    { length: rangeCount },
    (_, step) => low * (1 - step / rangeCount) + high * (step / rangeCount),
  )
  return [...inner, high]
}
