import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { same } from '../../../core/catalog/types/field-type.ts'
import { quotedJson } from '../../../core/json.ts'
import type { Chunk } from '../../../core/warehouse/format/chunk-file.ts'
import { chunkRows, RowChunk } from '../../../core/warehouse/format/row-store.ts'
import type { PiecewiseFile } from '../../../core/warehouse/manifest.ts'
import { Turns } from '../../base/concurrency/turns.ts'
import { TooLarge } from '../engine/errors.ts'
import type { Timing } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import type { LineForm, WrittenLine } from '../../formats/format.ts'
import { ChunkFile } from '../indexes/chunk-file.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import { Scratch } from '../indexes/scratch.ts'
import { Kept } from '../../base/kept.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { ByteBuilder } from './byte-builder.ts'

/** DuckDB reads more rows than this, in threads of its own. */
const rowsMax = 2000
/** DuckDB reads longer rows, within its bounded memory: bytes of all chunks of a request, with their texts inflated. */
const requestBytesMax = 16_000_000
/** Chunks with a smaller gap between them are read together: another read costs as much. */
const gapBytesMax = 4096
/** Bytes that are read without yielding to other requests. */
const runBytesMax = 262_144
/** Bytes of a value with its name, about. */
const cellBytes = 50
/** Rows between two looks at the clock. */
const rowsOfTurn = 16

/** Rows, and the time it took to read them. */
interface StoredRows {
  readonly bytes: Uint8Array
  readonly timing: Timing
}

/** Reads rows from the row store; cheap for a few rows, wherever they are. */
export class RowStore {
  readonly #dictionaries: Dictionaries
  readonly #columns: Kept<Columns>

  constructor(dictionaries: Dictionaries) {
    this.#dictionaries = dictionaries
    this.#columns = new Kept(dictionaries.bytesMax, ({ bytes }) => bytes)
  }

  /** Returns whether the row store has rows in a form, and they are few. */
  has(snapshot: Snapshot, form: LineForm, rows: number): boolean {
    const { row_store: file, dictionary } = snapshot.manifest
    // Values that the next request would evict cost more than they save.
    const values = dictionary?.fields.reduce((sum, field) => sum + field.values, 0) ?? 0
    const fits = this.#dictionaries.bytesMax > 0 && values * cellBytes <= this.#dictionaries.bytesMax / 2
    return file !== undefined && fits && rows <= rowsMax && isWritable(snapshot, form)
  }

  /**
   * Returns rows as texts with the separator of their format between, in the order of their positions, or null if DuckDB
   * has to read them.
   *
   * @throws DamagedTable, TooLarge, and what a statement throws
   */
  async read(
    snapshot: Snapshot,
    form: LineForm,
    positions: Uint32Array,
    requester: Requester,
  ): Promise<StoredRows | null> {
    const began = performance.now()
    const file = snapshot.manifest.row_store
    const { written, separator } = form.format
    if (file === undefined || written === undefined || !this.has(snapshot, form, positions.length))
      return null
    const { columns } = await this.#columnsOf(snapshot, form, written, requester)
    const turns = new Turns(requester.signal())
    const letGo = await snapshot.hold([file.file])
    const reader = new Reader(snapshot, file)
    const { before, between, after } = written.around
    const apart = { rows: Buffer.from(separator), values: Buffer.from(between) }
    const [begin, end] = [Buffer.from(before), Buffer.from(after)]
    const lines = new ByteBuilder()
    try {
      const chunks = await reader.read(positions, turns)
      if (chunks === null) return null
      for (const [index, position] of positions.entries()) {
        if (index % rowsOfTurn === 0) await turns.next()
        const chunk = chunks.get(Math.floor(position / chunkRows))
        if (chunk === undefined) throw new RangeError(`the chunk of row ${position} was not read`)
        if (lines.length > requester.pageBytesMax) throw new TooLarge()
        if (index > 0) lines.add(apart.rows)
        lines.add(begin)
        for (let column = 0; column < columns.length; column += 1) {
          if (column > 0) lines.add(apart.values)
          columns[column]?.(chunk, position % chunkRows, lines)
        }
        lines.add(end)
      }
    } finally {
      reader.close()
      letGo()
    }
    return { bytes: lines.build(), timing: { queue: 0, query: performance.now() - began } }
  }

  async #columnsOf(
    snapshot: Snapshot,
    form: LineForm,
    written: WrittenLine,
    requester: Requester,
  ): Promise<Columns> {
    const key = `${tableId(snapshot.table)}/${snapshot.manifest.snapshot} ${form.key}`
    const kept = this.#columns.get(key)
    if (kept !== undefined) return kept
    const columns: Column[] = []
    let bytes = columnBytes * form.fields.length
    for (const field of form.fields) {
      const place = snapshot.manifest.fields.findIndex(({ name }) => name === field.name)
      const cells = await this.#dictionaries.cells(snapshot, field, written, requester)
      if (cells === null) {
        columns.push(textColumn(place, field, written))
        continue
      }
      const { all, starts } = cells
      bytes += cells.bytes
      columns.push((chunk, row, lines) => {
        const code = chunk.code(place, row)
        lines.copy(all, starts[code] ?? 0, starts[code + 1] ?? 0)
      })
    }
    const made = { columns, bytes }
    this.#columns.set(key, made)
    return made
  }
}

/** Writes a field of a row. */
type Column = (chunk: RowChunk, row: number, lines: ByteBuilder) => void

/** The columns of a form, and their size in memory. */
interface Columns {
  readonly columns: readonly Column[]
  readonly bytes: number
}

/** Bytes of a column in memory, about. */
const columnBytes = 500

/** Returns what writes a field that has no codes. */
function textColumn(place: number, field: Field, written: WrittenLine): Column {
  const isText = typeRow(field.type).wire.kind === 'text'
  const isQuoted = written.takes === 'json' && isText
  const before = written.before(field)
  const [nothing, start] = [Buffer.from(before + written.null), Buffer.from(before)]
  const write = (text: string, lines: ByteBuilder): void => {
    lines.add(start)
    lines.text(written.value(isQuoted ? quotedJson(text) : text, field))
  }
  const { isCopied, quote } = written.copies(field)
  const around = Buffer.from(quote)
  return (chunk, row, lines) => {
    if (!chunk.hasTexts(place)) {
      const decimal = chunk.decimal(place, row)
      if (decimal === null) lines.add(nothing)
      else write(decimal, lines)
      return
    }
    if (chunk.isNull(place, row)) {
      lines.add(nothing)
      return
    }
    const { bytes, ends } = chunk.texts(place)
    const [from, to] = [row === 0 ? 0 : (ends[row - 1] ?? 0), ends[row] ?? 0]
    if (!areCopied(bytes, from, to, isCopied)) {
      write(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString(), lines)
      return
    }
    lines.add(start)
    lines.add(around)
    lines.copy(bytes, from, to)
    lines.add(around)
  }
}

function areCopied(bytes: Uint8Array, from: number, to: number, isCopied: Uint8Array): boolean {
  for (let at = from; at < to; at += 1) if (isCopied[bytes[at] ?? 0] === 0) return false
  return to > from
}

/** Returns whether no field of a form needs DuckDB: the texts of the row store are those of JSON. */
function isWritable({ manifest }: Snapshot, { format: { written }, fields }: LineForm): boolean {
  if (written === undefined) return false
  const coded = new Set(manifest.dictionary?.fields.map(({ name }) => name))
  return fields.every(({ name, type }) => {
    if (coded.has(name) || written.takes === 'json') return true
    const { isPlainInJson, wire } = typeRow(type)
    return isPlainInJson && (written.takes === 'plain' || wire.text === same)
  })
}

/** The row store of a snapshot, while a request reads it. */
class Reader {
  readonly #rows: number
  readonly #scratch = new Scratch()
  readonly #file: ChunkFile
  readonly #areCoded: readonly boolean[]

  constructor(snapshot: Snapshot, file: PiecewiseFile) {
    const { rows, fields, dictionary } = snapshot.manifest
    this.#rows = rows
    this.#file = new ChunkFile(snapshot, file, Math.ceil(rows / chunkRows), this.#scratch.allocate)
    const coded = new Set(dictionary?.fields.map(({ name }) => name))
    this.#areCoded = fields.map(({ name }) => coded.has(name))
  }

  /**
   * Returns the chunks of some positions by their numbers; reads those that are near each other together.
   *
   * @returns null if they are large
   * @throws DamagedTable
   */
  async read(positions: Uint32Array, turns: Turns): Promise<ReadonlyMap<number, RowChunk> | null> {
    const numbers = new Set(positions.map((position) => Math.floor(position / chunkRows)).toSorted())
    const runs: (readonly [number: number, chunk: Chunk])[][] = []
    let [bytes, begin, end] = [0, 0, -Infinity]
    for (const number of numbers) {
      const chunk = this.#file.locate(number)
      bytes += chunk.length
      if (bytes > requestBytesMax) return null
      if (chunk.start - end > gapBytesMax || chunk.start - begin > runBytesMax) {
        runs.push([])
        begin = chunk.start
      }
      runs.at(-1)?.push([number, chunk])
      end = chunk.start + chunk.length
    }
    const chunks = new Map<number, RowChunk>()
    for (const run of runs) {
      await turns.next()
      const read = this.#file.readTogether(run.map(([, chunk]) => chunk))
      for (const [index, [number]] of run.entries()) {
        const rows = Math.min(chunkRows, this.#rows - number * chunkRows)
        const chunk = new RowChunk(read[index] ?? Buffer.alloc(0), rows, this.#areCoded)
        bytes += chunk.inflatedBytes
        if (bytes > requestBytesMax) return null
        chunks.set(number, chunk)
      }
    }
    return chunks
  }

  /** Nothing that was read may be used after it. */
  close(): void {
    this.#file.close()
    this.#scratch.end()
  }
}
