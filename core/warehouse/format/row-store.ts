import zlib from 'node:zlib'
import type { Field } from '../../catalog/catalog.ts'
import { quotedJson } from '../../text.ts'
import { storedBlock } from './gzip-sections.ts'

/** The layout of a row store: see `rows-N.bin` in docs/reference/format.md. A page is mostly copied from it. */

/** A divisor of the usual page sizes, so that pages consist of complete chunks. */
export const chunkRows = 25
export const indexedChunks = 64
export const indexedRows = indexedChunks * chunkRows

/** DuckDB reads rows of longer texts from parts. */
export const textBytesMax = 16_000_000

/** Index chunks follow the text chunks. */
export function textChunks(rows: number): number {
  return Math.ceil(rows / chunkRows)
}

export function storeChunks(rows: number): number {
  return textChunks(rows) + Math.ceil(rows / indexedRows)
}

/** Higher levels take up to twice the time, and make files only a tenth smaller; see docs/explanation/performance.md. */
const level = 3

/** The last block of a text chunk: a comma, not compressed. */
export const commaBlock = storedBlock(Buffer.from(','))

/** CRC-32 of a text without its last comma, and the end of each row, after its comma. */
export interface IndexedText {
  readonly sum: number
  readonly ends: readonly number[]
}

/** Adds a comma after each of at most 25 rows. */
export function encodeText(text: Uint8Array): Buffer {
  // A smaller window and less memory save time; a short text fits into the smaller window.
  const windowBits = text.length > 2 ** 14 ? 15 : 14
  const options = { level, windowBits, memLevel: 7, finishFlush: zlib.constants.Z_FULL_FLUSH }
  return Buffer.concat([zlib.deflateRawSync(text.subarray(0, -1), options), commaBlock])
}

export function encodeIndex(texts: readonly IndexedText[]): Buffer {
  const chunk = new DataView(new ArrayBuffer(4 * texts.reduce((sum, { ends }) => sum + 1 + ends.length, 0)))
  let offset = 0
  const add = (number: number): void => {
    chunk.setUint32(offset, number, true)
    offset += 4
  }
  for (const { sum } of texts) add(sum)
  for (const { ends } of texts) for (const end of ends) add(end)
  return Buffer.from(chunk.buffer)
}

/**
 * Inflates consecutive text chunks at once.
 * @param bytes size of their text in bytes
 */
export function inflateTexts(chunks: Uint8Array, bytes: number): Buffer {
  // The chunks lack deflate's last block, so inflating ends with a flush. A larger buffer than needed saves a
  // second call of zlib.
  const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize: Math.max(bytes + 1, 64) }
  return zlib.inflateRawSync(chunks, options)
}

export class RowIndex {
  readonly #numbers: DataView
  readonly #texts: number
  readonly #rows: number

  constructor(chunk: Uint8Array, rows: number) {
    this.#numbers = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#texts = textChunks(rows)
    this.#rows = rows
  }

  /** CRC-32 of a text without its last comma. */
  sum(text: number): number {
    return this.#numbers.getUint32(4 * text, true)
  }

  size(text: number): number {
    return this.end(Math.min(this.#rows, (text + 1) * chunkRows) - 1)
  }

  start(row: number): number {
    return row % chunkRows === 0 ? 0 : this.end(row - 1)
  }

  end(row: number): number {
    return this.#numbers.getUint32(4 * (this.#texts + row), true)
  }
}

const [quote, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Finds the values of a row in its text, without parsing them, so that numbers keep their digits. */
export class RowValues {
  /** Start and end of each value of the last row, by field index. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly #names: readonly number[]

  constructor(fields: readonly Pick<Field, 'name'>[]) {
    // Each name follows a brace or a comma, and a colon follows it.
    this.#names = fields.map(({ name }) => Buffer.byteLength(quotedJson(name)) + 2)
    this.starts = new Uint32Array(fields.length)
    this.ends = new Uint32Array(fields.length)
  }

  /**
   * Finds the values of the row at an offset of a text.
   * @param count number of the first fields whose values are needed
   */
  find(text: Uint8Array, row: number, count = this.#names.length): void {
    let offset = row
    for (let field = 0; field < count; field += 1) {
      offset += this.#names[field] ?? 0
      this.starts[field] = offset
      offset = valueEnd(text, offset)
      this.ends[field] = offset
    }
  }
}

/** End of the JSON value that begins at `start`, with the blanks after it. */
function valueEnd(text: Uint8Array, start: number): number {
  let offset = skipSpaces(text, start)
  const first = text[offset]
  if (first === quote) return skipSpaces(text, stringEnd(text, offset) + 1)
  if (first !== openBrace && first !== openBracket) {
    for (
      let byte = text[offset];
      byte !== comma && byte !== closeBrace && byte !== undefined;
      byte = text[offset]
    )
      offset += 1
    return offset
  }
  for (let depth = 0; offset < text.length; offset += 1) {
    const byte = text[offset]
    if (byte === quote) offset = stringEnd(text, offset)
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) return skipSpaces(text, offset + 1)
    }
  }
  return offset
}

function skipSpaces(text: Uint8Array, start: number): number {
  let offset = start
  while (text[offset] === space) offset += 1
  return offset
}

function stringEnd(text: Uint8Array, start: number): number {
  let offset = start + 1
  for (let byte = text[offset]; byte !== quote && byte !== undefined; byte = text[offset])
    offset += byte === backslash ? 2 : 1
  return offset
}
