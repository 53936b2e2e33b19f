import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Parameter } from '../../core/warehouse/duckdb.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { quotedName } from '../../core/warehouse/sql.ts'
import type { Slice } from './selection.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Rows of a block, the unit that is read from Parquet. It divides the row group of 16,384, so that a block lies in
 * one. The cost of a page in a cold block grows with it, that of a walk shrinks (README, Performance).
 */
export const blockRowsMost = 2048
/** Tables with long rows get smaller blocks, since a block is held in memory whole. */
const blockBytesMost = 2_000_000

/** A power of two, so that every block of a table lies in one row group. */
export function blockRowsOf(rowBytes: number): number {
  let size = blockRowsMost
  while (size > 1 && size * rowBytes > blockBytesMost) size /= 2
  return size
}

/** About how long a row is as JSON, in bytes. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}

/** Names a block of a snapshot: a part, and which of its blocks, both from 0. */
export interface BlockName {
  readonly part: number
  readonly block: number
}

/** Rows of one block that belong to a page. */
export interface Cut extends BlockName {
  /** Index in the block of the first, from 0. */
  readonly first: number
  readonly rows: number
}

/** What says where the blocks of a snapshot lie. */
export type Blocked = Pick<Snapshot, 'manifest' | 'blockRows'>

/** The cuts that make up a slice of all rows, in order. The manifest says where they lie, so depth costs nothing. */
export function cutsOf(snapshot: Blocked, slice: Pick<Slice, 'first' | 'rows'>): Cut[] {
  const { parts } = snapshot.manifest
  const { blockRows } = snapshot
  const cuts: Cut[] = []
  const end = slice.first + slice.rows
  let position = slice.first
  for (let index = partOf(parts, position); position < end; index += 1) {
    const part = parts[index]
    if (part === undefined) throw new RangeError(`the snapshot has no row ${position}`)
    const partEnd = Math.min(end, part.firstRow + part.rows)
    while (position < partEnd) {
      const row = position - part.firstRow
      const block = Math.floor(row / blockRows)
      const first = row - block * blockRows
      const rows = Math.min(blockRows - first, partEnd - position)
      cuts.push({ part: index, block, first, rows })
      position += rows
    }
  }
  return cuts
}

/** The block after another, or null after the last. */
export function blockAfter({ manifest, blockRows }: Blocked, { part, block }: BlockName): BlockName | null {
  const { parts } = manifest
  const rows = parts[part]?.rows ?? 0
  if ((block + 1) * blockRows < rows) return { part, block: block + 1 }
  return part + 1 < parts.length ? { part: part + 1, block: 0 } : null
}

/** SQL and parameters, not yet run. */
export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

/** All rows of a block, or fewer at the end of its part. */
export function wholeOf(snapshot: Blocked, { part, block }: BlockName): Cut {
  const { blockRows, manifest } = snapshot
  const left = (manifest.parts[part]?.rows ?? 0) - block * blockRows
  return { part, block, first: 0, rows: Math.min(blockRows, left) }
}

/**
 * The statement that writes the rows of a cut as JSON: one BLOB of rows joined by commas, a list of the length of
 * each, and whether they came in the order of the file. They do wherever one thread reads one row group; to ask
 * for it (`order by` in each aggregate) would cost a seventh of the statement.
 */
export function planRows(snapshot: Snapshot, { part, block, first, rows }: Cut): Plan {
  const label = snapshot.manifest.parts[part]
  if (label === undefined) throw new RangeError(`the snapshot has no part ${part}`)
  const start = block * snapshot.blockRows + first
  return {
    sql: snapshot.rowSql,
    parameters: [path.join(snapshot.folder, label.file), start, start + rows - 1],
  }
}

/** The statement that `planRows` fills in, the same for all rows of a table. */
export function rowSql(table: Table): string {
  return `select encode(string_agg(line, ',')), list(strlen(line)::uinteger), list_sort(list(position)) = list(position)
    from (${lineSql(table)})`
}

/** Each row from $2 to $3 of the part $1: its position, and itself as a line of JSON. */
export function lineSql(table: Table): string {
  return `select part.file_row_number as position, to_json(${rowStruct(table)})::varchar as line
    from read_parquet($1, file_row_number = true) as part where part.file_row_number between $2 and $3`
}

/** Keys in alphabetical order, as in the spec's pages (spec: Row). */
function rowStruct(table: Table): string {
  const fields = table.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const members = fields.map((field) => {
    const name = quotedName(field.name)
    return `${name} := ${typeRow(field.type).json(`part.${name}`, field)}`
  })
  return `struct_pack(${members.join(', ')})`
}

// The first row of each part ascends, so the part of a row is found by halving.
function partOf(parts: Manifest['parts'], row: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.firstRow ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
