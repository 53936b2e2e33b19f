import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'

export interface ValueColumn {
  readonly field: Field
  readonly from: string
  readonly column: string
}

const cellsMax = 1_000_000

/**
 * Groups columns of the same type for one statement: in a wide table, planning a statement per column takes
 * most of the time.
 */
export function columnsTogether<Own extends ValueColumn>(columns: readonly Own[], rows: number): Own[][] {
  const columnsMax = Math.max(1, Math.floor(cellsMax / rows))
  const places = new Map<string, Own[][]>()
  for (const column of columns) {
    const type = `${column.field.type} ${typeRow(column.field.type).stored(column.field)}`
    const groups = places.get(type) ?? []
    places.set(type, groups)
    const last = groups.at(-1)
    if (last === undefined || last.length === columnsMax) groups.push([column])
    else last.push(column)
  }
  return [...places.values()].flat()
}

/** SQL: values of a group of columns, with the `place` of the column in it. */
export function cellsSql(columns: readonly ValueColumn[]): string {
  const [first] = columns
  if (first === undefined) throw new RangeError('no columns to count')
  if (columns.length === 1) return `(select 0 as place, ${first.column} as value from ${first.from})`
  const values = columns.map(({ column }) => column).join(', ')
  return `(select unnest([${[...columns.keys()].join(', ')}]) as place, unnest([${values}]) as value from ${first.from})`
}
