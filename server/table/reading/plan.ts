import path from 'node:path'
import { rowGroupRows } from '../../../core/warehouse/layout.ts'
import { orderTerm, quotedText } from '../../../core/sql.ts'
import type { OrderKey } from '../../../core/catalog/catalog.ts'
import type { OutputColumn, ColumnForm, LineForm } from '../../formats/format.ts'
import { Parameters, type Plan } from '../engine/plan.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Manifest } from '../../../core/warehouse/manifest.ts'

/** Statement for rows of one part as texts, in any order. */
export function planGathered(snapshot: Snapshot, form: LineForm, part: number, rows: Uint32Array): Plan {
  return {
    sql: textsSql(form, `part.file_row_number ${oneOf(rows)}`),
    parameters: [fileOf(snapshot, part)],
    reads: { snapshot, files: [partFile(snapshot, part)] },
  }
}

/**
 * Plans to read columns of rows from their parts, sorted by `ordering`, then by position. The last column
 * lists the positions.
 */
export function planColumns(
  snapshot: Snapshot,
  form: ColumnForm,
  positions: Uint32Array,
  ordering: readonly OrderKey[],
): Plan {
  const { folder, manifest } = snapshot
  const partByNumber = new Map(
    Array.from(positions, (position) => partOf(manifest.parts, position)).map((part) => [
      part,
      manifest.parts[part],
    ]),
  )
  const readParts = [...partByNumber.values()]
    .flatMap((part) => part ?? [])
    .toSorted((a, b) => a.firstRow - b.firstRow)
  const files = readParts.map(({ file }) => quotedText(path.join(folder, file)))
  const starts = readParts.map(({ firstRow }) => firstRow).join(', ')
  const parameters = new Parameters()
  const lists = form.format.aggregates(columnsOf(snapshot, form), (value) => parameters.add(value))
  const rowsInParts = Uint32Array.from(
    positions,
    (position) => position - (manifest.parts[partOf(manifest.parts, position)]?.firstRow ?? 0),
  )
  const order = [...ordering.map((key) => orderTerm(key)), 'acervo_position asc'].join(', ')
  // In a single part, a second condition would add a filter operator, which delays small chunks and may
  // change the order.
  const inParts = readParts.length === 1 ? '' : ` and acervo_position ${oneOf(positions)}`
  return {
    sql: `select ${[...lists, 'list(acervo_position)'].join(', ')} from (
      select *, ([${starts}][file_index::integer + 1] + file_row_number)::uinteger as acervo_position
      from read_parquet([${files.join(', ')}], file_row_number = true)
      where file_row_number ${oneOf(rowsInParts)}${inParts}
      ${readParts.length === 1 && canSkipSort(rowsInParts) ? '' : `order by ${order}`}) as part`,
    parameters: parameters.values,
    reads: { snapshot, files: readParts.map(({ file }) => file) },
  }
}

/**
 * Consecutive rows of a row group need no sort: one thread scans them without a filter. Sorting wide rows
 * takes a quarter longer.
 */
function canSkipSort(rows: Uint32Array): boolean {
  const [first = 0, last = first] = [rows[0], rows.at(-1)]
  const isRun = rows.every((row, index) => row === first + index)
  return isRun && Math.floor(first / rowGroupRows) === Math.floor(last / rowGroupRows)
}

export function columnsOf({ choices }: Snapshot, { fields }: ColumnForm): OutputColumn[] {
  return fields.map((field) => ({ field, choices: choices.get(field.name) ?? null }))
}

/** Constants let DuckDB skip row groups, and are safe: no number comes from a request. */
function oneOf(numbers: Uint32Array): string {
  const sortedNumbers = numbers.toSorted()
  const [first = 0, last = first] = [sortedNumbers[0], sortedNumbers.at(-1)]
  const isRun =
    last - first === sortedNumbers.length - 1 &&
    sortedNumbers.every((number, index) => number === first + index)
  return isRun ? `between ${first} and ${last}` : `in (${sortedNumbers.join(', ')})`
}

function fileOf(snapshot: Snapshot, part: number): string {
  return path.join(snapshot.folder, partFile(snapshot, part))
}

function partFile({ manifest }: Snapshot, part: number): string {
  const label = manifest.parts[part]
  if (label === undefined) throw new RangeError(`the snapshot has no part ${part}`)
  return label.file
}

function textsSql({ format, fields }: LineForm, where: string): string {
  return `select encode(string_agg(line, ${separatorSql(format.separator)})), ${numbersSql('strlen(line)')}, ${numbersSql('position')}
    from (select part.file_row_number as position, ${format.line(fields)} as line
      from read_parquet($1, file_row_number = true) as part where ${where})`
}

const numbersSql = (number: string): string => `encode(string_agg(${number}::varchar, ','))`

function separatorSql(separator: string): string {
  return Array.from(separator, (character) => `chr(${character.charCodeAt(0)})`).join(' || ')
}

export function valuesOfGroups(groups: number, fields: number): number {
  return groups * rowGroupRows * fields
}

export function rowGroupsOf({ manifest: { parts } }: Snapshot, positions: Uint32Array): number {
  const groups = new Set<number>()
  for (const position of positions) {
    const part = partOf(parts, position)
    const row = position - (parts[part]?.firstRow ?? 0)
    // Unique, since a part has far fewer than `rowGroupRows` groups.
    groups.add(part * rowGroupRows + Math.floor(row / rowGroupRows))
  }
  return groups.size
}

export function rowGroupCount({ manifest: { parts } }: Snapshot): number {
  return parts.reduce((sum, { rows }) => sum + Math.ceil(rows / rowGroupRows), 0)
}

export function partOf(parts: Manifest['parts'], row: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.firstRow ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
