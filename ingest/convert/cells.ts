import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'

/** SQL source of the values of a field: one value per row, or each distinct value with its number of rows. */
export interface ValueSource {
  /** SQL. */
  readonly from: string
  readonly column: string
  /** Column with the number of rows of each value; null if there is one row per value. */
  readonly rows: string | null
}

export interface Column {
  readonly field: Field
  readonly source: ValueSource
}

/** Maximum number of values that one statement counts, to bound its memory. */
const cellsMax = 1_000_000

/**
 * Groups columns of the same type and source, so that one statement counts the values of a group. Planning a statement
 * for each column takes most of the time of a wide table.
 */
export function columnsTogether<Own extends Column>(columns: readonly Own[], rows: number): Own[][] {
  const most = Math.max(1, Math.floor(cellsMax / rows))
  const places = new Map<string, Map<string, Own[][]>>()
  for (const column of columns) {
    const { field, source } = column
    const there = places.get(source.from) ?? new Map<string, Own[][]>()
    places.set(source.from, there)
    const { stored, wire } = typeRow(field.type)
    const type = `${stored(field)} ${wire.kind}`
    const alike = there.get(type) ?? []
    there.set(type, alike)
    const last = alike.at(-1)
    if (last === undefined || last.length === most) alike.push([column])
    else last.push(column)
  }
  return [...places.values()].flatMap((there) => [...there.values()].flat())
}

/** SQL: all values of a group of columns, with the `place` of the column in the group. */
export function cellsSql(columns: readonly Column[]): string {
  const [first] = columns
  if (first === undefined) throw new RangeError('there is no column')
  const { from, rows } = first.source
  const weight = rows === null ? '1' : rows
  if (columns.length === 1)
    return `(select 0 as place, ${first.source.column} as value, ${weight} as weight from ${from})`
  const values = columns.map(({ source }) => source.column).join(', ')
  return `(select unnest([${[...columns.keys()].join(', ')}]) as place, unnest([${values}]) as value, ${weight} as weight from ${from})`
}
