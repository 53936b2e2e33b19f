import zlib from 'node:zlib'

/**
 * The layout of the row store, from which a few rows are read at little cost. Each chunk has 128 rows with
 * all their fields, in the order of declaration. For a field with a dictionary, a chunk has:
 *
 * - width of a number in bits (UINT8), least number (UINT16)
 * - numbers: the code of each row
 *
 * For other fields, it has the texts of the values in JSON; text fields are without quotes and escapes. If
 * all of these texts are decimals, a chunk has:
 *
 * - 1 + digits after the point (UINT8), width of a number in bits (UINT8), least number (DOUBLE)
 * - numbers: per row 0 for null, or 1 + the digits as an integer - the least number
 *
 * Zeros at the end are omitted, as in JSON, except one directly after the point. If each text has all digits
 * instead, the first byte is 101 + digits. For other texts, a chunk has:
 *
 * - 0 (UINT8), width of a number in bits (UINT8), least number (UINT32), size of the stored texts in bytes
 *   (UINT32)
 * - numbers: per row 0 for null, or 1 + the bytes of the text
 * - texts: in UTF-8, one after the other. If the first byte is 255 instead of 0, their size in bytes
 *   (UINT32), then the texts deflated (RFC 1951)
 *
 * A number is stored as its difference from the least one, bit after bit, the lowest bit first.
 */

/** Number of rows in a chunk; the last chunk may have fewer. */
export const chunkRows = 128

/** Texts of consecutive rows. */
export interface ColumnTexts {
  /** In UTF-8, one after the other. */
  readonly bytes: Uint8Array
  /** Per row 0 for null, or 1 + the bytes of its text. */
  readonly lengths: Uint32Array
}

/** Decimals of consecutive rows, all with the same number of digits after the point. */
export interface Integers {
  /** Decimals without their points; NaN for null. */
  readonly integers: Float64Array
  /** Number of digits after the point. */
  readonly digits: number
}

/** The values of a field in some rows, to be stored in a chunk. */
export type ChunkColumn = { readonly codes: Uint8Array | Uint16Array } | Integers | ColumnTexts

/** @param columns columns of the same rows, at most 128 */
export function encodeChunk(columns: readonly ChunkColumn[]): Buffer {
  return Buffer.concat(
    columns.flatMap((column) => {
      if ('codes' in column) return encodeCodes(column.codes)
      if ('integers' in column) return encodeIntegers(column) ?? encodeTexts(textsOf(column))
      return encodeDecimals(column) ?? encodeTexts(column)
    }),
  )
}

const codedHead = 3
const otherHead = 10
/** Maximum width of a packed number, in bits: wider ones would be inexact in a double. */
const widthMax = 45
const deflatedForm = 255
const fixedForm = 101

function encodeCodes(codes: ArrayLike<number>): Buffer[] {
  const { min, width, bytes } = encodeNumbers(codes, codes.length)
  const head = Buffer.alloc(codedHead)
  head.writeUInt8(width)
  head.writeUInt16LE(min, 1)
  return [head, bytes]
}

/** The texts of a field in a chunk are deflated if they have at least this many bytes, and shrink to this share or less. */
const deflatedBytesMin = 4096
const deflatedShareMax = 3 / 4
/** Size in bytes of the number that precedes deflated texts. */
const sizeBytes = 4

function encodeTexts({ bytes: texts, lengths }: ColumnTexts): Buffer[] {
  const { min, width, bytes } = encodeNumbers(lengths, lengths.length)
  const deflated = texts.length < deflatedBytesMin ? texts : zlib.deflateRawSync(texts, { level: 1 })
  const isSmaller = deflated.length < texts.length * deflatedShareMax
  const stored = isSmaller ? deflated : texts
  const size = Buffer.alloc(isSmaller ? sizeBytes : 0)
  if (isSmaller) size.writeUInt32LE(texts.length)
  const head = Buffer.alloc(otherHead)
  head.writeUInt8(isSmaller ? deflatedForm : 0)
  head.writeUInt8(width, 1)
  head.writeUInt32LE(min, 2)
  head.writeUInt32LE(size.length + stored.length, 6)
  return [head, bytes, size, Buffer.from(stored.buffer, stored.byteOffset, stored.length)]
}

const [minus, point, zero, nine] = [0x2d, 0x2e, 0x30, 0x39]
const digitsMax = 15

/** The decimals of a chunk, as integers without their point: shared, since one chunk is encoded at a time. */
const integers = new Float64Array(chunkRows)
const fractions = new Uint8Array(chunkRows)

/** Returns null if a text is not a decimal, or would be read back differently. */
function encodeDecimals({ bytes: texts, lengths }: ColumnTexts): Buffer[] | null {
  let [start, digits, digitsMin, hasTrailingZero] = [0, 0, digitsMax, false]
  for (let row = 0; row < lengths.length; row += 1) {
    const length = (lengths[row] ?? 0) - 1
    if (length < 0) continue
    const fraction = readDecimal(texts, start, start + length, row)
    start += length
    if (fraction < 0) return null
    fractions[row] = fraction
    if (fraction > digits) digits = fraction
    if (fraction < digitsMin) digitsMin = fraction
    if (fraction > 1 && texts[start - 1] === zero) hasTrailingZero = true
  }
  const isFixed = digitsMin >= digits
  if (!isFixed && (digitsMin === 0 || hasTrailingZero)) return null
  for (let row = 0; row < lengths.length; row += 1) {
    const integer = (integers[row] ?? 0) * 10 ** (digits - (fractions[row] ?? 0))
    if (lengths[row] !== 0 && !Number.isSafeInteger(integer)) return null
    integers[row] = lengths[row] === 0 ? Number.NaN : integer
  }
  return encodeIntegers({ integers: integers.subarray(0, lengths.length), digits }, isFixed)
}

/** Differences from the least integer: shared, since one chunk is encoded at a time. */
const differences = new Float64Array(chunkRows)

/** Encodes integers as differences from the least; null if a difference is too wide. */
function encodeIntegers({ integers: all, digits }: Integers, isFixed = true): Buffer[] | null {
  let min = Infinity
  for (let row = 0; row < all.length; row += 1) if ((all[row] ?? 0) < min) min = all[row] ?? 0
  if (min === Infinity) min = 0
  for (let row = 0; row < all.length; row += 1) {
    const integer = all[row] ?? 0
    differences[row] = Number.isNaN(integer) ? 0 : 1 + integer - min
  }
  const { width, bytes } = encodeNumbers(differences, all.length, 0)
  if (width > widthMax) return null
  const head = Buffer.alloc(otherHead)
  head.writeUInt8((isFixed ? fixedForm : 1) + digits)
  head.writeUInt8(width, 1)
  head.writeDoubleLE(min, 2)
  return [head, bytes]
}

/** Returns decimals as texts, with all digits after the point. */
export function textsOf({ integers: all, digits }: Integers): ColumnTexts {
  const texts = Array.from(all, (integer) =>
    Number.isNaN(integer) ? null : decimalText(integer, digits, true),
  )
  return {
    bytes: Buffer.from(texts.map((text) => text ?? '').join('')),
    lengths: Uint32Array.from(texts, (text) => (text === null ? 0 : 1 + text.length)),
  }
}

/**
 * Parses a decimal into `integers` and returns its number of digits after the point; -1 if the text is no
 * decimal.
 */
function readDecimal(texts: Uint8Array, start: number, end: number, row: number): number {
  const isNegative = texts[start] === minus
  const first = isNegative ? start + 1 : start
  let [integer, pointAt] = [0, -1]
  for (let at = first; at < end; at += 1) {
    const byte = texts[at] ?? 0
    if (byte === point && pointAt === -1 && at > first) {
      pointAt = at
      continue
    }
    if (byte < zero || byte > nine) return -1
    integer = integer * 10 + (byte - zero)
  }
  const before = (pointAt === -1 ? end : pointAt) - first
  const fraction = pointAt === -1 ? 0 : end - pointAt - 1
  if (before === 0 || before > digitsMax || fraction > digitsMax || (pointAt !== -1 && fraction === 0))
    return -1
  if ((before > 1 && texts[first] === zero) || (isNegative && integer === 0)) return -1
  integers[row] = isNegative ? -integer : integer
  return fraction
}

/**
 * @param digits number of digits after the point
 * @param isFixed false to omit zeros at the end, except one directly after the point
 */
function decimalText(integer: number, digits: number, isFixed: boolean): string {
  if (digits === 0) return String(integer)
  const all = String(Math.abs(integer)).padStart(digits + 1, '0')
  let end = all.length
  const pointAt = end - digits
  if (!isFixed) while (end > pointAt + 1 && all.charCodeAt(end - 1) === zero) end -= 1
  return `${integer < 0 ? '-' : ''}${all.slice(0, pointAt)}.${all.slice(pointAt, end)}`
}

/**
 * Maximum width in bits for integer operators: with up to 7 bits of the byte before, such numbers fit into 32
 * bits.
 */
const narrowMax = 24

/**
 * Packs numbers as differences from the least.
 * @param known the least number, if it is known
 */
function encodeNumbers(
  numbers: ArrayLike<number>,
  count: number,
  known?: number,
): { readonly min: number; readonly width: number; readonly bytes: Buffer } {
  let [min, max] = [known ?? numbers[0] ?? 0, numbers[0] ?? 0]
  for (let row = 0; row < count; row += 1) {
    const number = numbers[row] ?? 0
    if (number < min) min = number
    if (number > max) max = number
  }
  const range = max - min
  const width = range < 2 ** 31 ? 32 - Math.clz32(range) : range.toString(2).length
  const bytes = Buffer.alloc(bytesOf(width, count))
  if (width === 0) return { min, width, bytes }
  // Bits of the incomplete byte, their number, and the index of the byte.
  let [pending, filled, at] = [0, 0, 0]
  if (width <= narrowMax) {
    for (let row = 0; row < count; row += 1) {
      pending |= ((numbers[row] ?? 0) - min) << filled
      for (filled += width; filled >= 8; filled -= 8, at += 1) {
        bytes[at] = pending & 255
        pending >>>= 8
      }
    }
  } else {
    for (let row = 0; row < count; row += 1) {
      pending += ((numbers[row] ?? 0) - min) * 2 ** filled
      for (filled += width; filled >= 8; filled -= 8, at += 1) {
        bytes[at] = pending % 256
        pending = Math.floor(pending / 256)
      }
    }
  }
  if (filled > 0) bytes[at] = pending
  return { min, width, bytes }
}

const bytesOf = (width: number, rows: number): number => Math.ceil((width * rows) / 8)

/** Indexes of the numbers that describe a field of a chunk; an object per field would cost more than reading the field. */
const head = {
  width: 0,
  least: 1,
  /** Position of the first byte of the packed numbers, and of the byte after them. */
  first: 2,
  end: 3,
  form: 4,
} as const
const headNumbers = 5

/** Rows that were read from the row store. */
export class RowChunk {
  /** Size of its deflated texts after inflating, in bytes. */
  readonly inflatedBytes: number
  readonly #bytes: Buffer
  readonly #rows: number
  readonly #areCoded: readonly boolean[]
  readonly #heads: Float64Array
  /** Texts by field, after the first one was read. */
  readonly #texts: ({ readonly bytes: Uint8Array; readonly ends: Uint32Array } | undefined)[] = []

  /**
   * @param bytes a chunk from `encodeChunk`
   * @param areCoded for each field, whether it has codes
   */
  constructor(bytes: Buffer, rows: number, areCoded: readonly boolean[]) {
    this.#bytes = bytes
    this.#rows = rows
    this.#areCoded = areCoded
    const heads = new Float64Array(headNumbers * areCoded.length)
    let [at, inflated] = [0, 0]
    for (let field = 0, to = 0; field < areCoded.length; field += 1, to += headNumbers) {
      const isCoded = areCoded[field] === true
      const form = isCoded ? 1 : (bytes[at] ?? 0)
      const width = bytes[isCoded ? at : at + 1] ?? 0
      const first = at + (isCoded ? codedHead : otherHead)
      const end = first + bytesOf(width, rows)
      const isText = isTextForm(form)
      heads[to] = width
      heads[to + head.least] = isCoded
        ? (bytes[at + 1] ?? 0) | ((bytes[at + 2] ?? 0) << 8)
        : isText
          ? bytes.readUInt32LE(at + 2)
          : bytes.readDoubleLE(at + 2)
      heads[to + head.first] = first
      heads[to + head.end] = end
      heads[to + head.form] = form
      if (form === deflatedForm) inflated += bytes.readUInt32LE(end)
      at = isText ? end + bytes.readUInt32LE(at + 6) : end
    }
    this.#heads = heads
    this.inflatedBytes = inflated
  }

  /** Returns the code of a row, for a field with codes. */
  code(field: number, row: number): number {
    return this.#headValue(field, head.least) + this.#number(field, row)
  }

  /**
   * Decodes a field in all rows: its codes, its decimals without their points (NaN for null), or the lengths
   * of its texts (0 for null, else 1 + bytes).
   * @returns numbers that the next call overwrites
   */
  decode(field: number): Float64Array {
    const [width, min] = [this.#headValue(field, head.width), this.#headValue(field, head.least)]
    const isDecimal = this.#isDecimal(field)
    const from = isDecimal ? min - 1 : min
    const numbers = decoded.subarray(0, this.#rows)
    readNumbers(this.#bytes, this.#headValue(field, head.first), width, numbers)
    for (let row = 0; row < numbers.length; row += 1) {
      const number = numbers[row] ?? 0
      numbers[row] = isDecimal && number === 0 ? Number.NaN : number + from
    }
    return numbers
  }

  /** Returns whether a field without codes is stored as texts in this chunk. */
  hasTexts(field: number): boolean {
    return isTextForm(this.#headValue(field, head.form))
  }

  /** Returns the decimal of a row as text; null for null. Only for a field that this chunk stores as decimals. */
  decimal(field: number, row: number): string | null {
    const number = this.#number(field, row)
    if (number === 0) return null
    const form = this.#headValue(field, head.form)
    const isFixed = form >= fixedForm
    return decimalText(
      number - 1 + this.#headValue(field, head.least),
      form - (isFixed ? fixedForm : 1),
      isFixed,
    )
  }

  /** Returns the text of a row; null for null. Only for a field that this chunk stores as texts. */
  text(field: number, row: number): string | null {
    if (this.isNull(field, row)) return null
    const { bytes, ends } = this.texts(field)
    const from = row === 0 ? 0 : (ends[row - 1] ?? 0)
    return Buffer.from(bytes.buffer, bytes.byteOffset + from, (ends[row] ?? 0) - from).toString()
  }

  /** Returns whether the text of a row is null. Only for a field that this chunk stores as texts. */
  isNull(field: number, row: number): boolean {
    return this.#headValue(field, head.least) + this.#number(field, row) === 0
  }

  /**
   * Returns the texts of all rows, concatenated in UTF-8, and where each ends. A null ends where it begins.
   * Only for a field that this chunk stores as texts.
   */
  texts(field: number): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
    const known = this.#texts[field]
    if (known !== undefined) return known
    const lengths = this.decode(field)
    const ends = new Uint32Array(this.#rows)
    let end = 0
    for (let row = 0; row < ends.length; row += 1) {
      end += Math.max(0, (lengths[row] ?? 0) - 1)
      ends[row] = end
    }
    const start = this.#headValue(field, head.end)
    const isDeflated = this.#headValue(field, head.form) === deflatedForm
    const bytes = isDeflated
      ? zlib.inflateRawSync(this.#bytes.subarray(start + sizeBytes, start + this.#storedBytes(field)))
      : this.#bytes.subarray(start, start + end)
    const texts = { bytes, ends }
    this.#texts[field] = texts
    return texts
  }

  /** Returns the size of the stored texts, from the four bytes before the packed numbers. */
  #storedBytes(field: number): number {
    return this.#bytes.readUInt32LE(this.#headValue(field, head.first) - 4)
  }

  #isDecimal(field: number): boolean {
    return this.#areCoded[field] !== true && !this.hasTexts(field)
  }

  #headValue(field: number, what: number): number {
    const found = this.#heads[headNumbers * field + what]
    if (found === undefined) throw new RangeError(`there is no field ${field}`)
    return found
  }

  /** Returns the packed number of a row, which is its difference from the least one. */
  #number(field: number, row: number): number {
    const width = this.#headValue(field, head.width)
    if (width === 0) return 0
    const bytes = this.#bytes
    let at = this.#headValue(field, head.first) + ((width * row) >> 3)
    const skip = (width * row) & 7
    if (width <= 17) {
      const three = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
      return (three >> skip) & ((1 << width) - 1)
    }
    let [more, place] = [(bytes[at] ?? 0) >> skip, 8 - skip]
    for (; place < width; place += 8) {
      at += 1
      more += (bytes[at] ?? 0) * 2 ** place
    }
    return more % 2 ** width
  }
}

const decoded = new Float64Array(chunkRows)

function readNumbers(bytes: Uint8Array, first: number, width: number, numbers: Float64Array): void {
  if (width === 0) {
    numbers.fill(0)
    return
  }
  let [pending, filled, at] = [0, 0, first]
  if (width <= narrowMax) {
    const mask = 2 ** width - 1
    for (let row = 0; row < numbers.length; row += 1) {
      for (; filled < width; filled += 8, at += 1) pending |= (bytes[at] ?? 0) << filled
      numbers[row] = pending & mask
      pending >>>= width
      filled -= width
    }
    return
  }
  const range = 2 ** width
  for (let row = 0; row < numbers.length; row += 1) {
    for (; filled < width; filled += 8, at += 1) pending += (bytes[at] ?? 0) * 2 ** filled
    const rest = Math.floor(pending / range)
    numbers[row] = pending - rest * range
    pending = rest
    filled -= width
  }
}

const isTextForm = (form: number): boolean => form === 0 || form === deflatedForm
