import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'

/** Where the values of a field are: one in each row, or each once with how many rows have it. */
export interface ValueSource {
  /** SQL. */
  readonly from: string
  readonly column: string
  /** Column with how many rows each value stands for; null where each is one. */
  readonly rows: string | null
}

export interface Column {
  readonly field: Field
  readonly source: ValueSource
}

/** Values that one statement counts: more of several fields would need the memory of all at once. */
const cellsMax = 1_000_000

/**
 * Columns whose values one statement can count, since they are of the same type and in the same rows: what it costs to plan
 * a statement for each field is most of what a wide table costs.
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

/** SQL: every value of columns that are counted together, with the `place` of its column among them. */
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
