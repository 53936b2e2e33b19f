import { isArrayBuffer } from 'node:util/types'
import { inOrder } from '../../../core/in-order.ts'
import { TooLarge } from '../engine/errors.ts'
import type { RowQuery } from '../../query/query.ts'
import { isLineForm, type ColumnForm, type Form, type LineForm } from '../../formats/format.ts'
import { gather, readColumns } from '../reading/gather.ts'
import { columnsOf, rowGroupCount, valuesOfGroups, partOf } from '../reading/plan.ts'
import type { RowEngine } from './page.ts'
import type { RequestWork } from '../../base/request-work.ts'
import { isInFileOrder, type Selection } from '../selection/selections.ts'
import type { Requester } from '../engine/requester.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { rowGroupRows } from '../../../core/warehouse/layout.ts'

/** DuckDB briefly needs twenty times as much memory. */
const batchBytesMax = 2_000_000
const batchRowsMin = 256
/** One batch is sent while others are read; more batches take memory but save hardly any time. */
const batchesMax = 3
const copyBytes = 65_536
/** Memory of an export whose client takes nothing. */
export const readAheadBytes = batchBytesMax * batchesMax

interface Export {
  readonly snapshot: Snapshot
  readonly query: RowQuery
  readonly form: Form
  readonly selection: Selection
}

/**
 * Yields a complete selection in batches, in constant memory. A consumer that stops early also stops the
 * batches in progress.
 * @throws QueueFull or QueryTimeout, also after the first bytes
 */
export async function* exportChunks(
  exported: Export,
  engine: RowEngine,
  requester: Requester,
): AsyncGenerator<Uint8Array> {
  const { form } = exported
  if (isLineForm(form)) yield* lineChunks(exported, form, engine, requester)
  else yield* columnChunks(exported, form, engine, requester)
}

async function* lineChunks(
  exported: Export,
  form: LineForm,
  engine: RowEngine,
  requester: Requester,
): AsyncGenerator<Uint8Array> {
  const { snapshot, selection } = exported
  const { format, fields } = form
  const separator = Buffer.from(format.separator)
  const head = Buffer.from(format.head(fields))
  let isFirst = true
  const readRows = (positions: Uint32Array, signal: AbortSignal) =>
    gatherSome(snapshot, form, positions, engine, { ...requester, signal: () => signal })
  // Packing takes longer than reading, so further batches would only wait in memory.
  const concurrent = format.pack === undefined ? batchesMax : 1
  for await (const pieces of inOrder(
    batchesOf(exported, requester),
    concurrent,
    readRows,
    requester.signal(),
  )) {
    // Until the first row, the request can still get an error status.
    if (isFirst && head.length > 0) yield head
    for (const piece of pieces) {
      if (!isFirst) yield separator
      yield* copiesOf(piece)
      isFirst = false
    }
  }
  if (isFirst && head.length > 0) yield head
  const tail = Buffer.from(format.tail(selection.count))
  if (tail.length > 0) yield tail
}

/** Frees the batch: V8 collects large buffers only after 64 MB of them, small copies at once. */
function* copiesOf(batch: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < batch.length; start += copyBytes)
    yield Buffer.from(batch.subarray(start, start + copyBytes))
  const { buffer } = batch
  // A transfer moves the bytes to a new object, which the next small collection frees.
  if (isArrayBuffer(buffer) && buffer.byteLength === batch.length)
    structuredClone(buffer, { transfer: [buffer] })
}

async function gatherSome(
  snapshot: Snapshot,
  form: LineForm,
  positions: Uint32Array,
  engine: RowEngine,
  requester: Requester,
): Promise<readonly Uint8Array[]> {
  try {
    return (await gather(snapshot, form, positions, engine.pool, requester)).pieces
  } catch (error) {
    if (!(error instanceof TooLarge) || positions.length < 2) throw error
    const half = Math.ceil(positions.length / 2)
    const first = await gatherSome(snapshot, form, positions.subarray(0, half), engine, requester)
    return [...first, ...(await gatherSome(snapshot, form, positions.subarray(half), engine, requester))]
  }
}

async function* columnChunks(
  exported: Export,
  form: ColumnForm,
  engine: RowEngine,
  requester: Requester,
): AsyncGenerator<Uint8Array> {
  const { snapshot, query } = exported
  const writer = await form.format.writer(columnsOf(snapshot, form))
  const readRows = async (positions: Uint32Array, signal: AbortSignal) => {
    const exportRequester = { ...requester, signal: () => signal }
    const { answer } = await readColumns(snapshot, form, positions, query, engine.pool, exportRequester)
    return { answer, rows: positions.length }
  }
  const batches = inOrder(batchesOf(exported, requester), batchesMax, readRows, requester.signal())
  for await (const { answer, rows } of batches) {
    writer.write(answer, rows)
    yield* writer.takeBytes()
  }
  writer.finish()
  yield* writer.takeBytes()
}

/** Positions in batches that fit into memory, and end at row groups if possible. */
async function* batchesOf(
  { snapshot, selection, form }: Export,
  requester: Requester,
): AsyncGenerator<Uint32Array> {
  const max = batchRowsOf(snapshot, form)
  for (let first = 0; first < selection.count;) {
    const positions = await selection.slice(first, Math.min(max, selection.count - first), requester)
    const batch = upToGroup(snapshot, positions)
    yield batch
    first += batch.length
  }
}

/** Each batch decodes all row groups of its rows: possibly every one, if rows are not in file order. */
export function workOfExport({ snapshot, query, form, selection }: Export): RequestWork {
  const { count } = selection
  const groupTotal = rowGroupCount(snapshot)
  const batches = Math.ceil(count / batchRowsOf(snapshot, form))
  const groups = isInFileOrder(snapshot, query)
    ? Math.min(count, groupTotal + batches)
    : Math.min(count, batches * groupTotal)
  return { values: valuesOfGroups(groups, form.fields.length), rowBytes: count * snapshot.rowBytes }
}

function batchRowsOf(snapshot: Snapshot, form: Form): number {
  const fitting = Math.floor(batchBytesMax / bytesOfRow(snapshot, form))
  return Math.max(batchRowsMin, Math.min(rowGroupRows, fitting))
}

/** Estimate; field names are most bytes in formats that repeat them. */
function bytesOfRow({ manifest, rowBytes }: Snapshot, { format }: Form): number {
  const { textBytes, rows, fields } = manifest
  return 'repeatsNames' in format && !format.repeatsNames ? textBytes / rows + fields.length : rowBytes
}

/**
 * Cuts a batch before its last row group, which the next batch would decode again, unless fewer than half of
 * the rows would remain.
 */
function upToGroup(snapshot: Snapshot, positions: Uint32Array): Uint32Array {
  const last = positions.at(-1) ?? 0
  const start = snapshot.manifest.parts[partOf(snapshot.manifest.parts, last)]?.firstRow ?? 0
  const group = start + Math.floor((last - start) / rowGroupRows) * rowGroupRows
  const cut = positions.findIndex((position) => position >= group)
  return cut >= positions.length / 2 ? positions.subarray(0, cut) : positions
}
