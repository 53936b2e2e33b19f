import path from 'node:path'
import type { Parameter } from '../../core/warehouse/duckdb.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { quotedText } from '../../core/warehouse/sql.ts'
import type { Field, OrderKey } from '../../core/catalog/catalog.ts'
import type { RowForm } from './form.ts'
import { columnsSql, type ArrowColumn } from './formats/arrow.ts'
import { readingOf, rowsAmong, rowsBetween, type Reading } from './reading.ts'
import { Parameters, termOf } from './select/where.ts'
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

/** Some rows that follow each other. */
export interface Slice {
  /** Position of the first, from 0. */
  readonly first: number
  readonly rows: number
}

/** What says where the blocks of a snapshot lie. */
export type Blocked = Pick<Snapshot, 'manifest' | 'blockRows'>

/** The cuts that make up a slice of all rows, in order. The manifest says where they lie, so depth costs nothing. */
export function cutsOf(snapshot: Blocked, slice: Slice): Cut[] {
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
  /** Null where no file is read. */
  readonly reading: Reading | null
}

/** All rows of a block, or fewer at the end of its part. */
export function wholeOf(snapshot: Blocked, { part, block }: BlockName): Cut {
  const { blockRows, manifest } = snapshot
  const left = (manifest.parts[part]?.rows ?? 0) - block * blockRows
  return { part, block, first: 0, rows: Math.min(blockRows, left) }
}

/**
 * The statement that writes the rows of a cut: one BLOB of rows, a list of the length of each, and one of their
 * numbers in the part. They come in the order of the file wherever one thread reads one row group; to ask for it
 * (`order by` in each aggregate) would cost a seventh of the statement.
 */
export function planRows(snapshot: Snapshot, form: RowForm, { part, block, first, rows }: Cut): Plan {
  const start = block * snapshot.blockRows + first
  return {
    sql: textsSql(form, 'part.file_row_number between $2 and $3'),
    parameters: [fileOf(snapshot, part), start, start + rows - 1],
    reading: readingOf(
      snapshot,
      [{ file: partFile(snapshot, part), isRead: rowsBetween(start, start + rows) }],
      namesOf(form.fields),
      false,
    ),
  }
}

/** The statement that writes some rows of one part, in whatever order they are found. */
export function planGathered(snapshot: Snapshot, form: RowForm, part: number, rows: Uint32Array): Plan {
  return {
    sql: textsSql(form, `part.file_row_number ${among(rows)}`),
    parameters: [fileOf(snapshot, part)],
    reading: readingOf(
      snapshot,
      [{ file: partFile(snapshot, part), isRead: rowsAmong(rows.toSorted()) }],
      namesOf(form.fields),
      false,
    ),
  }
}

/**
 * The statement that reads rows of any parts as columns, in the order that was asked for, with their positions as its
 * last column.
 *
 * @param positions in any order
 */
export function planColumns(
  snapshot: Snapshot,
  columns: readonly ArrowColumn[],
  positions: Uint32Array,
  ordering: readonly OrderKey[],
): Plan {
  const { folder, manifest } = snapshot
  const parts = new Map(
    Array.from(positions, (position) => partOf(manifest.parts, position)).map((part) => [
      part,
      manifest.parts[part],
    ]),
  )
  const known = [...parts.values()].flatMap((part) => part ?? []).toSorted((a, b) => a.firstRow - b.firstRow)
  const files = known.map(({ file }) => quotedText(path.join(folder, file)))
  const starts = known.map(({ firstRow }) => firstRow).join(', ')
  const parameters = new Parameters()
  const lists = columnsSql(columns, (value) => parameters.add(value))
  const rows = Uint32Array.from(
    positions,
    (position) => position - (manifest.parts[partOf(manifest.parts, position)]?.firstRow ?? 0),
  )
  return {
    sql: `select ${[...lists, 'list(acervo_position)'].join(', ')} from (
      select *, ([${starts}][file_index::integer + 1] + file_row_number)::uinteger as acervo_position
      from read_parquet([${files.join(', ')}], file_row_number = true)
      where file_row_number ${among(rows)} and acervo_position ${among(positions)}
      order by ${[...ordering.map(termOf), 'acervo_position asc'].join(', ')}) as part`,
    parameters: parameters.values,
    reading: readingOf(
      snapshot,
      known.map(({ file, firstRow, rows: count }) => {
        const inPart = positions.filter((position) => position >= firstRow && position < firstRow + count)
        return { file, isRead: rowsAmong(inPart.map((position) => position - firstRow).toSorted()) }
      }),
      [...namesOf(columns.map(({ field }) => field)), ...ordering.map(({ field }) => field)],
      false,
    ),
  }
}

/** That a number is one of these. They are ours, and stand as constants: so they tell which row groups are not needed. */
function among(numbers: Uint32Array): string {
  const sorted = numbers.toSorted()
  const [first = 0, last = first] = [sorted[0], sorted.at(-1)]
  const isRun =
    last - first === sorted.length - 1 && sorted.every((number, index) => number === first + index)
  return isRun ? `between ${first} and ${last}` : `in (${sorted.join(', ')})`
}

function fileOf(snapshot: Snapshot, part: number): string {
  return path.join(snapshot.folder, partFile(snapshot, part))
}

function partFile({ manifest }: Snapshot, part: number): string {
  const label = manifest.parts[part]
  if (label === undefined) throw new RangeError(`the snapshot has no part ${part}`)
  return label.file
}

function namesOf(fields: readonly Field[]): string[] {
  return fields.map(({ name }) => name)
}

function textsSql({ format, fields }: RowForm, where: string): string {
  return `select encode(string_agg(line, ${separatorSql(format.separator)})), list(strlen(line)::uinteger), list(position)
    from (select part.file_row_number::uinteger as position, ${format.line(fields)} as line
      from read_parquet($1, file_row_number = true) as part where ${where})`
}

function separatorSql(separator: string): string {
  return Array.from(separator, (character) => `chr(${character.charCodeAt(0)})`).join(' || ')
}

/** The first row of each part ascends, so the part of a row is found by halving. */
export function partOf(parts: Manifest['parts'], row: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.firstRow ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
