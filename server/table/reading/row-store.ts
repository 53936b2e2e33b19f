import zlib from 'node:zlib'
import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { combinedCrc, GzipBuilder } from '../../../core/warehouse/format/gzip-sections.ts'
import { inAlphabet } from '../../../core/warehouse/format/row-json.ts'
import { chunkRows, commaBlock, RowValues, textBytesMax } from '../../../core/warehouse/format/row-store.ts'
import { EventLoopYielder } from '../../base/queue.ts'
import { TooLarge } from '../engine/errors.ts'
import type { Timing } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import type { Copies, LineForm, StoredLine } from '../../formats/format.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { ByteBuilder } from './byte-builder.ts'
import { StoredRows, type Slice, type Text } from './stored-rows.ts'

/** Row stores are cheap for small, scattered sets of rows. */

/** Beyond this number, DuckDB writes rows in its own threads. */
const valuesRowsMax = 2000
const stepsPerTurn = 16
/** Smaller pages fit into one packet. */
const gzipBytesMin = 1000
/** Maximum to compress anew, since compression blocks the thread of all requests. */
const anewBytesMax = 100_000
/** Pieces that are smaller on average are joined, since a socket sends one large piece faster. */
const pieceBytesMin = 16_384

interface RowsRead {
  readonly pieces: readonly Uint8Array[]
  readonly isGzip: boolean
  readonly timing: Timing
}

/** True if the row store can write this form with so many rows. */
export function canReadStored(snapshot: Snapshot, form: LineForm, rows: number): boolean {
  if (!hasRowStores(snapshot)) return false
  if (areStoredAsJson(snapshot, form)) return true
  const { stored } = form.format
  const isKnown = stored.isJson || form.fields.every(({ type }) => typeRow(type).csvOfJson !== null)
  return isKnown && rows <= valuesRowsMax
}

export function hasRowStores({ manifest: { parts, row_stores: stores } }: Snapshot): boolean {
  return stores?.length === parts.length
}

export function areStored(snapshot: Snapshot, form: LineForm): boolean {
  return hasRowStores(snapshot) && areStoredAsJson(snapshot, form)
}

function areStoredAsJson({ manifest }: Snapshot, { format, fields }: LineForm): boolean {
  return format.stored.isJson && fields.length === manifest.fields.length
}

/** Approximate bytes; rows of one chunk share its text. */
export function textBytesOf({ rowBytes }: Snapshot, positions: Uint32Array): number {
  let [chunks, last] = [0, -1]
  for (const position of positions) {
    const chunk = Math.floor(position / chunkRows)
    if (chunk !== last) chunks += 1
    last = chunk
  }
  return Math.min(textBytesMax, chunks * chunkRows * rowBytes)
}

/**
 * Texts in the order of the positions, joined by the separator of the format.
 * @param envelope texts around rows that are stored as sent; null without gzip
 * @returns null if their texts are too large: DuckDB has to read the rows
 * @throws DamagedTable or TooLarge
 */
export async function readStored(
  snapshot: Snapshot,
  form: LineForm,
  positions: Uint32Array,
  envelope: Around | null,
  requester: Requester,
): Promise<RowsRead | null> {
  const startedAt = performance.now()
  const yielder = new EventLoopYielder(requester.signal)
  const { row_stores: stores = [] } = snapshot.manifest
  const rows = new StoredRows(snapshot, stores)
  const slices = rows.slices(positions)
  const release = await snapshot.pin([...new Set(slices.flatMap(({ part }) => stores[part]?.file ?? []))])
  try {
    if (!(await fitInMemory(rows, slices, yielder))) return null
    const bytes = sumOf(slices.map((slice) => rows.size(slice)))
    const file =
      envelope === null || bytes < gzipBytesMin ? null : await gzipOf(rows, slices, envelope, yielder)
    const pieces = file === null ? await piecesOf(snapshot, form, rows, slices, requester, yielder) : [file]
    return { pieces, isGzip: file !== null, timing: { queue: 0, query: performance.now() - startedAt } }
  } finally {
    release()
  }
}

interface Around {
  readonly head: string
  readonly tail: string
}

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

async function fitInMemory(
  rows: StoredRows,
  slices: readonly Slice[],
  yielder: EventLoopYielder,
): Promise<boolean> {
  const chunkKeys = new Set<string>()
  let bytes = 0
  for (const slice of slices) {
    const chunkKey = `${slice.part} ${slice.chunk}`
    if (chunkKeys.has(chunkKey)) continue
    chunkKeys.add(chunkKey)
    bytes += rows.chunkSize(slice)
    if (bytes > textBytesMax) return false
    if (chunkKeys.size % stepsPerTurn === 0) await yielder.next()
  }
  return true
}

const commaCrc = zlib.crc32(',')

/** A chunk with rows of other pages cannot be copied. */
function mustCompress({ isWhole }: Slice): boolean {
  return !isWhole
}

/** Mostly copied from stored chunks; null if too much must be compressed anew. */
async function gzipOf(
  rows: StoredRows,
  slices: readonly Slice[],
  { head, tail }: Around,
  yielder: EventLoopYielder,
): Promise<Buffer | null> {
  if (sumOf(slices.filter(mustCompress).map((slice) => rows.size(slice))) > anewBytesMax) return null
  await rows.load(slices, yielder, mustCompress)
  const file = new GzipBuilder()
  file.addText(Buffer.from(head))
  for (const slice of slices) {
    // Every row but the last ends with a comma. After a stored chunk, the comma is a block outside the
    // chunk's CRC-32.
    const isLast = slice === slices.at(-1)
    if (mustCompress(slice)) {
      const { bytes, start, end } = rows.text(slice)
      file.addText(bytes.subarray(start, isLast ? end - 1 : end))
      continue
    }
    const { bytes, sum: crc } = rows.stored(slice)
    const size = rows.size(slice)
    if (isLast) file.addBlocks(bytes.subarray(0, -commaBlock.length), size - 1, crc)
    else file.addBlocks(bytes, size, combinedCrc(crc, commaCrc, 1))
  }
  file.addText(Buffer.from(tail))
  return file.build()
}

/**
 * Returns the texts of slices with the separator of the format between them, and none at the end of a piece.
 */
async function piecesOf(
  snapshot: Snapshot,
  form: LineForm,
  rows: StoredRows,
  slices: readonly Slice[],
  requester: Requester,
  yielder: EventLoopYielder,
): Promise<readonly Uint8Array[]> {
  await rows.load(slices, yielder)
  if (!areStoredAsJson(snapshot, form)) return writtenValues(snapshot, form, rows, slices, requester, yielder)
  const bytes = sumOf(slices.map((slice) => rows.size(slice)))
  requireSize(bytes, requester)
  const { separator } = form.format
  if (separator !== ',')
    for (const slice of slices) replaceCommas(rows.text(slice).bytes, rows.ends(slice), separator)
  const pieces = joinAdjacent(slices.map((slice) => rows.text(slice)))
  const mergedPieces = bytes < pieces.length * pieceBytesMin ? [Buffer.concat(pieces)] : pieces
  return mergedPieces.map((piece) => piece.subarray(0, -1))
}

function requireSize(bytes: number, { pageBytesMax }: Requester): void {
  if (bytes > pageBytesMax) throw new TooLarge()
}

function joinAdjacent(texts: readonly Text[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let from = 0, to = 1; from < texts.length; from = to, to += 1) {
    const first = texts[from]
    if (first === undefined) break
    let { end } = first
    for (let next = texts[to]; next?.bytes === first.bytes && next.start === end; next = texts[to]) {
      ;({ end } = next)
      to += 1
    }
    pieces.push(first.bytes.subarray(first.start, end))
  }
  return pieces
}

function replaceCommas(bytes: Buffer, ends: readonly number[], separator: string): void {
  const code = separator.charCodeAt(0)
  for (const end of ends) bytes[end - 1] = code
}

interface Column {
  readonly field: Field
  readonly index: number
  readonly beforeValue: Buffer
  /** Null, with the text before it. */
  readonly null: Buffer
  readonly copies: Copies
  readonly write: StoredLine['value']
}

/** Writes stored rows in another format, value by value: most values are copied from the JSON. */
async function writtenValues(
  { table }: Snapshot,
  { format: { stored, separator }, fields }: LineForm,
  rows: StoredRows,
  slices: readonly Slice[],
  requester: Requester,
  yielder: EventLoopYielder,
): Promise<Uint8Array[]> {
  const sortedFields = inAlphabet(table.fields)
  const values = new RowValues(sortedFields)
  const columns = fields.map((field): Column => {
    const beforeValue = stored.before(field)
    return {
      field,
      index: sortedFields.findIndex(({ name }) => name === field.name),
      beforeValue: Buffer.from(beforeValue),
      null: Buffer.from(beforeValue + stored.null),
      copies: stored.copies(field),
      write: stored.value,
    }
  })
  const fieldsToFind = 1 + Math.max(...columns.map(({ index }) => index))
  const { before, between, after } = stored.around
  const firstRowStart = Buffer.from(before)
  const betweenValues = Buffer.from(between)
  const lastRowEnd = Buffer.from(after)
  const betweenRows = Buffer.from(after + separator + before)
  const lines = new ByteBuilder()
  let count = 0
  for (const slice of slices) {
    const { bytes, start } = rows.text(slice)
    let rowStart = start
    for (const next of rows.ends(slice)) {
      if (count % stepsPerTurn === 0) await yielder.next()
      requireSize(lines.length, requester)
      values.find(bytes, rowStart, fieldsToFind)
      lines.add(count === 0 ? firstRowStart : betweenRows)
      // Uses indexes, since iterators would account for a third of the time.
      for (let place = 0; place < columns.length; place += 1) {
        if (place > 0) lines.add(betweenValues)
        const column = columns[place]
        if (column !== undefined) writeValue(column, values, bytes, lines)
      }
      rowStart = next
      count += 1
    }
  }
  if (count > 0) lines.add(lastRowEnd)
  return [lines.build()]
}

const letterN = 'n'.charCodeAt(0)
const quote = '"'.charCodeAt(0)

function writeValue(column: Column, values: RowValues, bytes: Buffer, lines: ByteBuilder): void {
  const { index, field, beforeValue, null: nullBytes, write, copies } = column
  const [start, end] = [values.starts[index] ?? 0, values.ends[index] ?? 0]
  // All formats that copy every value write null as JSON does.
  if (bytes[start] === letterN && copies.isCopied !== null) {
    lines.add(nullBytes)
    return
  }
  lines.add(beforeValue)
  const isBare = bytes[start] === quote && !copies.hasQuotes
  const [from, to] = isBare ? [start + 1, end - 1] : [start, end]
  if (areCopied(bytes, from, to, copies.isCopied)) lines.copy(bytes, from, to)
  else lines.text(write(bytes.toString('utf8', start, end), field))
}

function areCopied(bytes: Buffer, from: number, to: number, isCopied: Uint8Array | null): boolean {
  if (isCopied === null) return true
  for (let offset = from; offset < to; offset += 1) if (isCopied[bytes[offset] ?? 0] === 0) return false
  return to > from
}
