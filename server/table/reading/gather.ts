import { inOrder } from '../../../core/in-order.ts'
import { TooLarge } from '../engine/errors.ts'
import type { Answer } from '../../../core/duckdb/connection.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Pool, Timing } from '../engine/pool.ts'
import type { ColumnForm, LineForm } from '../../formats/format.ts'
import { partOf, columnsOf, planColumns, planGathered } from './plan.ts'
import type { Requester } from '../engine/requester.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

export interface Gathered {
  readonly pieces: readonly Uint8Array[]
  readonly timings: readonly Timing[]
}

/**
 * Reads rows part by part, and returns them in the order of the positions.
 * @throws QueueFull, QueryTimeout or TooLarge
 */
export async function gather(
  snapshot: Snapshot,
  form: LineForm,
  positions: Uint32Array,
  pool: Pool,
  requester: Requester,
): Promise<Gathered> {
  const { parts } = snapshot.manifest
  const { client, pageBytesMax } = requester
  let totalBytes = 0
  const work = async ({ part, rows }: RowsOfPart, signal: AbortSignal) => {
    const texts = await pool.texts(planGathered(snapshot, form, part, rows), client, signal)
    totalBytes += texts.bytes.length
    if (totalBytes > pageBytesMax) throw new TooLarge()
    return { firstRow: parts[part]?.firstRow ?? 0, ...texts }
  }
  const results: Awaited<ReturnType<typeof work>>[] = []
  // Queries of one request do not wait for each other.
  const textsOfParts = inOrder(byPart(snapshot, positions), pool.size, work, requester.signal())
  for await (const texts of textsOfParts) results.push(texts)
  const timings = results.map(({ timing }) => timing)
  // Most queries need the order in which rows were read.
  const gatheredPositions = results.flatMap(({ firstRow, rows }) => Array.from(rows, (row) => firstRow + row))
  if (
    gatheredPositions.length === positions.length &&
    gatheredPositions.every((position, index) => position === positions[index])
  ) {
    return { pieces: results.map(({ bytes }) => bytes), timings }
  }
  const texts = new Map<number, Uint8Array>()
  for (const { firstRow, rows, bytes, lengths } of results) {
    let start = 0
    for (const [index, row] of rows.entries()) {
      const length = lengths[index] ?? 0
      texts.set(firstRow + row, bytes.subarray(start, start + length))
      start += length + form.format.separator.length
    }
  }
  const pieces = Array.from(positions, (position) => {
    const text = texts.get(position)
    if (text === undefined) throw new Error(`the row at ${position} was not found`)
    return text
  })
  return { pieces: [joined(pieces, form.format.separator)], timings }
}

/** Writes rows in a column format, in the order of the positions. */
export async function gatherColumns(
  snapshot: Snapshot,
  form: ColumnForm,
  positions: Uint32Array,
  { ordering }: Pick<RowFilter, 'ordering'>,
  pool: Pool,
  requester: Requester,
): Promise<Gathered> {
  const columns = columnsOf(snapshot, form)
  const writer = await form.format.writer(columns)
  const timings: Timing[] = []
  if (positions.length > 0) {
    const { answer, timing } = await readColumns(snapshot, form, positions, { ordering }, pool, requester)
    writer.write(answer, positions.length)
    timings.push(timing)
  }
  writer.finish()
  return { pieces: writer.takeBytes(), timings }
}

/** Columns for the writer of a format, in the order of the positions. */
export async function readColumns(
  snapshot: Snapshot,
  form: ColumnForm,
  positions: Uint32Array,
  { ordering }: Pick<RowFilter, 'ordering'>,
  pool: Pool,
  requester: Requester,
): Promise<{ answer: readonly Answer[]; timing: Timing }> {
  const plan = planColumns(snapshot, form, positions, ordering)
  const { columns, timing } = await pool.columns(plan, requester.client, requester.signal())
  requireOrder(columns.at(-1), positions)
  return { answer: columns.slice(0, -1), timing }
}

function requireOrder(answer: Answer | undefined, positions: Uint32Array): void {
  if (answer === undefined || answer instanceof Uint8Array) throw new TypeError('expected positions')
  const { values } = answer
  if (values.length !== positions.length || positions.some((position, index) => values[index] !== position))
    throw new Error('rows came out of order')
}

interface RowsOfPart {
  readonly part: number
  readonly rows: Uint32Array
}

function byPart(snapshot: Snapshot, positions: Uint32Array): RowsOfPart[] {
  const { parts } = snapshot.manifest
  const rowsByPart = new Map<number, number[]>()
  for (const position of positions) {
    const part = partOf(parts, position)
    const row = position - (parts[part]?.firstRow ?? 0)
    const rows = rowsByPart.get(part)
    if (rows === undefined) rowsByPart.set(part, [row])
    else rows.push(row)
  }
  const batchRows = Math.max(1, Math.floor(statementBytesMax / snapshot.rowBytes))
  return [...rowsByPart]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([part, numbers]) => {
      const rows = Uint32Array.from(numbers).toSorted()
      const isRun = (rows.at(-1) ?? 0) - (rows[0] ?? 0) === rows.length - 1
      // Scattered rows stay together: a second statement would decode the same row groups again.
      const batchSize = isRun ? batchRows : rows.length
      const batches = Array.from(
        { length: Math.ceil(rows.length / batchSize) },
        (_, batch) => batch * batchSize,
      )
      return batches.map((first) => ({ part, rows: rows.subarray(first, first + batchSize) }))
    })
}

/** DuckDB briefly needs twenty times as much memory. */
const statementBytesMax = 2_000_000

/** A socket sends one piece faster than thousands. */
function joined(texts: readonly Uint8Array[], separator: string): Uint8Array {
  const separatorBytes = Buffer.from(separator)
  return Buffer.concat(texts.flatMap((text, index) => (index === 0 ? [text] : [separatorBytes, text])))
}
