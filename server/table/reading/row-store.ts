import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { unchangedSql } from '../../../core/catalog/types/field-type.ts'
import { quotedJson } from '../../../core/text.ts'
import { chunkRows, type RowChunk } from '../../../core/warehouse/format/row-store.ts'
import { EventLoopYielder } from '../../base/queue.ts'
import { TooLarge } from '../engine/errors.ts'
import type { Timing } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import type { LineForm, WrittenLine } from '../../formats/format.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import { StoredRows } from '../indexes/chunk-file.ts'
import { Cache } from '../../base/cache.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** Maximum number of rows read here; DuckDB reads larger pages in its own threads. */
const rowsMax = 2000
/** Approximate bytes of a value with its name. */
const cellBytes = 50
/** Rows between two checks of whether to yield to other requests. */
const rowsOfTurn = 16

/** Rows, and the time it took to read them. */
interface RowsRead {
  readonly bytes: Uint8Array
  readonly timing: Timing
}

/** Reads rows from the row store; cheap for small, scattered sets of rows. */
export class RowStore {
  readonly #dictionaries: Dictionaries
  readonly #columns: Cache<Columns>

  constructor(dictionaries: Dictionaries) {
    this.#dictionaries = dictionaries
    this.#columns = new Cache(dictionaries.bytesMax, ({ bytes }) => bytes)
  }

  /** Returns whether the row store can write these rows: few enough, and in a supported form. */
  canRead(snapshot: Snapshot, form: LineForm, rows: number): boolean {
    const { row_store: file, dictionary } = snapshot.manifest
    // Dictionaries that exceed the cache would be read again for each request: DuckDB is cheaper then.
    const values = dictionary?.fields.reduce((sum, field) => sum + field.values, 0) ?? 0
    const fits = this.#dictionaries.bytesMax > 0 && values * cellBytes <= this.#dictionaries.bytesMax / 2
    return file !== undefined && fits && rows <= rowsMax && isWritable(snapshot, form)
  }

  /**
   * Returns rows for which `has` is true, in the order of their positions, as texts joined by the separator
   * of the format.
   * @returns null if their chunks are too large: DuckDB has to read the rows
   * @throws DamagedTable, TooLarge, and the errors of statements
   */
  async read(
    snapshot: Snapshot,
    form: LineForm,
    positions: Uint32Array,
    requester: Requester,
  ): Promise<RowsRead | null> {
    const began = performance.now()
    const file = snapshot.manifest.row_store
    const { written, separator } = form.format
    if (file === undefined || written === undefined) return null
    const { columns } = await this.#columnsOf(snapshot, form, written, requester)
    const yielder = new EventLoopYielder(requester.signal())
    const release = await snapshot.pin([file.file])
    const reader = new StoredRows(snapshot, file)
    const { before, between, after } = written.around
    const separators = { rows: Buffer.from(separator), values: Buffer.from(between) }
    const [begin, end] = [Buffer.from(before), Buffer.from(after)]
    const lines = new ByteBuilder()
    try {
      const chunks = await reader.read(positions, yielder)
      if (chunks === null) return null
      for (const [index, position] of positions.entries()) {
        if (index % rowsOfTurn === 0) await yielder.next()
        const chunk = chunks.get(Math.floor(position / chunkRows))
        if (chunk === undefined) throw new RangeError(`the chunk of row ${position} was not read`)
        if (lines.length > requester.pageBytesMax) throw new TooLarge()
        if (index > 0) lines.add(separators.rows)
        lines.add(begin)
        for (let column = 0; column < columns.length; column += 1) {
          if (column > 0) lines.add(separators.values)
          columns[column]?.(chunk, position % chunkRows, lines)
        }
        lines.add(end)
      }
    } finally {
      reader.close()
      release()
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
    const cached = this.#columns.get(key)
    if (cached !== undefined) return cached
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
    const entry = { columns, bytes }
    this.#columns.set(key, entry)
    return entry
  }
}

/** Writes a field of a row. */
type Column = (chunk: RowChunk, row: number, lines: ByteBuilder) => void

/** The columns of a form, and their size in memory. */
interface Columns {
  readonly columns: readonly Column[]
  readonly bytes: number
}

/** Approximate memory of a column, in bytes. */
const columnBytes = 500

/** Returns the writer of a field without codes. */
function textColumn(place: number, field: Field, written: WrittenLine): Column {
  const isText = typeRow(field.type).wire.kind === 'text'
  const isQuoted = written.valueForm === 'json' && isText
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

/**
 * Returns whether the row store can write a form without DuckDB. It has values as JSON texts, which not all
 * formats can use.
 */
function isWritable({ manifest }: Snapshot, { format: { written }, fields }: LineForm): boolean {
  if (written === undefined) return false
  const coded = new Set(manifest.dictionary?.fields.map(({ name }) => name))
  return fields.every(({ name, type }) => {
    if (coded.has(name) || written.valueForm === 'json') return true
    const { isPlainInJson, wire } = typeRow(type)
    return isPlainInJson && (written.valueForm === 'plain' || wire.text === unchangedSql)
  })
}

/** Builds bytes piece by piece. Copies short pieces in a loop, which is faster than a call per piece. */
export class ByteBuilder {
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Adds some bytes of another buffer. */
  copy(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    if (end - start > longBytes) {
      this.#bytes.set(from.subarray(start, end), this.#length)
      this.#length += end - start
      return
    }
    const bytes = this.#bytes
    let at = this.#length
    for (let index = start; index < end; index += 1, at += 1) bytes[at] = from[index] ?? 0
    this.#length = at
  }

  add(bytes: Uint8Array): void {
    this.copy(bytes, 0, bytes.length)
  }

  /** Adds a text in UTF-8. */
  text(text: string): void {
    this.#reserve(text.length * utf8BytesMax)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Returns all bytes; nothing may be added after. */
  build(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(more: number): void {
    const requiredLength = this.#length + more
    if (requiredLength <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(requiredLength, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

const longBytes = 100
/** Maximum number of UTF-8 bytes per code unit of UTF-16. */
const utf8BytesMax = 3
