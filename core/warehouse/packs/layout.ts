import zlib from 'node:zlib'
import type { Piece } from '../file-checks.ts'

/**
 * How rows lie in their file one by one, so that few of them cost little wherever they are: packs of 128 rows, each with all
 * fields of them. All numbers are little endian:
 *
 *     pack 0, pack 1, ...
 *     directory:   of each pack its length and its CRC-32 (UINT32 each)
 *     sections:    of each 2,048 packs where the first one lies (UINT64), and the CRC-32 of their piece of the directory
 *     CRC-32 of the sections
 *
 * A pack has, for each field in the order of declaration, where the values of the field are in the dictionary:
 *
 *     bits of a number (UINT8), least number (UINT16)
 *     numbers: the code of each row
 *
 * and otherwise the text that JSON has for a value, of a text without quotes and escapes. Where all texts are decimals:
 *
 *     1 and how many digits are after the point (UINT8), bits of a number (UINT8), least number (DOUBLE)
 *     numbers: of each row 0 for null, or 1 and the digits as an integer less the least
 *
 * or else:
 *
 *     0 (UINT8), bits of a number (UINT8), least number (UINT32), bytes of all texts (UINT32)
 *     numbers: of each row 0 for null, or 1 and the bytes of the text
 *     texts: in UTF-8, one after the other
 *
 * Numbers are written as what they are more than the least, bit after bit, the lowest first.
 */

/** Rows of a pack, but of the last one. */
export const packRows = 128
/** Packs of a section, but of the last one. */
export const sectionPacks = 2048

export function packsIn(rows: number): number {
  return Math.ceil(rows / packRows)
}

/** A field of some rows, on its way into a pack: of each row its code, or the text that JSON has; null for null. */
export type PackedColumn =
  | { readonly codes: Uint8Array | Uint16Array }
  | { readonly texts: readonly (string | null)[] }

/** @param columns of at most 128 rows, all of as many */
export function packed(columns: readonly PackedColumn[]): Buffer {
  return Buffer.concat(
    columns.flatMap((column) => {
      if ('codes' in column) return packedCodes(column.codes)
      return packedDecimals(column.texts) ?? packedTexts(column.texts)
    }),
  )
}

const codedHead = 3
const otherHead = 10
/** Numbers of more bits would not be exact on their way out. */
const bitsMax = 45

function packedCodes(codes: ArrayLike<number>): Buffer[] {
  const { least, bits, bytes } = packedNumbers(codes)
  const start = Buffer.alloc(codedHead)
  start.writeUInt8(bits)
  start.writeUInt16LE(least, 1)
  return [start, bytes]
}

function packedTexts(texts: readonly (string | null)[]): Buffer[] {
  const all = texts.map((text) => Buffer.from(text ?? ''))
  const lengths = all.map(({ length }, row) => (texts[row] === null ? 0 : 1 + length))
  const { least, bits, bytes } = packedNumbers(lengths)
  const start = Buffer.alloc(otherHead)
  start.writeUInt8(bits, 1)
  start.writeUInt32LE(least, 2)
  start.writeUInt32LE(
    all.reduce((sum, { length }) => sum + length, 0),
    6,
  )
  return [start, bytes, ...all]
}

/** Null where one is no decimal, or not the text that a decimal is read back as. */
function packedDecimals(texts: readonly (string | null)[]): Buffer[] | null {
  const read = texts.map((text) => (text === null ? null : decimal.exec(text)))
  const digits = read.reduce((most, found) => Math.max(most, found?.[2]?.length ?? 0), 0)
  const integers: (number | null)[] = []
  for (const [row, text] of texts.entries()) {
    if (text === null) {
      integers.push(null)
      continue
    }
    const [, before, after = ''] = read[row] ?? []
    if (before === undefined) return null
    const integer = Number(`${before}${after.padEnd(digits, '0')}`)
    if (!Number.isSafeInteger(integer) || decimalText(integer, digits) !== text) return null
    integers.push(integer)
  }
  const least = integers.reduce<number>((low, integer) => Math.min(low, integer ?? Infinity), Infinity)
  const from = least === Infinity ? 0 : least
  const numbers = integers.map((integer) => (integer === null ? 0 : 1 + integer - from))
  const { bits, bytes } = packedNumbers(numbers, 0)
  if (bits > bitsMax) return null
  const start = Buffer.alloc(otherHead)
  start.writeUInt8(1 + digits)
  start.writeUInt8(bits, 1)
  start.writeDoubleLE(from, 2)
  return [start, bytes]
}

const decimal = /^(-?\d{1,15})(?:\.(\d{1,15}))?$/

/** As JSON has it: at least one digit after the point, where there is one, and no zeros at the end besides. */
function decimalText(integer: number, digits: number): string {
  if (digits === 0) return String(integer)
  const all = String(Math.abs(integer)).padStart(digits + 1, '0')
  let end = all.length
  while (end > all.length - digits + 1 && all.charCodeAt(end - 1) === zero) end -= 1
  const point = all.length - digits
  return `${integer < 0 ? '-' : ''}${all.slice(0, point)}.${all.slice(point, end)}`
}

const zero = '0'.charCodeAt(0)

/** @param known the lowest number, where it is */
function packedNumbers(
  numbers: ArrayLike<number>,
  known?: number,
): { readonly least: number; readonly bits: number; readonly bytes: Buffer } {
  let [least, most] = [known ?? numbers[0] ?? 0, numbers[0] ?? 0]
  for (let row = 0; row < numbers.length; row += 1) {
    const number = numbers[row] ?? 0
    if (number < least) least = number
    if (number > most) most = number
  }
  const bits = most === least ? 0 : (most - least).toString(2).length
  const bytes = Buffer.alloc(bytesOf(bits, numbers.length))
  if (bits === 0) return { least, bits, bytes }
  // What was begun of a byte, in numbers that are exact: at most 7 bits more than one of them has.
  let [begun, filled, at] = [0, 0, 0]
  for (let row = 0; row < numbers.length; row += 1) {
    begun += ((numbers[row] ?? 0) - least) * 2 ** filled
    for (filled += bits; filled >= 8; filled -= 8, at += 1) {
      bytes[at] = begun % 256
      begun = Math.floor(begun / 256)
    }
  }
  if (filled > 0) bytes[at] = begun
  return { least, bits, bytes }
}

const bytesOf = (bits: number, rows: number): number => Math.ceil((bits * rows) / 8)

/** What the head of a field in a pack says, number by number: an object for each costs more than what is read with it. */
const head = {
  bits: 0,
  least: 1,
  /** Where its numbers begin, and where they end. */
  first: 2,
  end: 3,
  /** Of what is no code: how many digits are after the point; -1 where there are texts. */
  digits: 4,
} as const
const headNumbers = 5

/** The fields of the rows of a pack. */
export class Pack {
  readonly #bytes: Buffer
  readonly #rows: number
  readonly #heads: Float64Array

  /**
   * @param bytes as `packed` made them
   * @param areCoded of each field, whether it has codes
   */
  constructor(bytes: Buffer, rows: number, areCoded: readonly boolean[]) {
    this.#bytes = bytes
    this.#rows = rows
    const heads = new Float64Array(headNumbers * areCoded.length)
    let at = 0
    for (let field = 0, to = 0; field < areCoded.length; field += 1, to += headNumbers) {
      const isCoded = areCoded[field] === true
      const form = isCoded ? 1 : (bytes[at] ?? 0)
      const bits = bytes[isCoded ? at : at + 1] ?? 0
      const first = at + (isCoded ? codedHead : otherHead)
      const end = first + bytesOf(bits, rows)
      heads[to] = bits
      heads[to + head.least] = isCoded
        ? (bytes[at + 1] ?? 0) | ((bytes[at + 2] ?? 0) << 8)
        : form === 0
          ? bytes.readUInt32LE(at + 2)
          : bytes.readDoubleLE(at + 2)
      heads[to + head.first] = first
      heads[to + head.end] = end
      heads[to + head.digits] = form - 1
      at = form === 0 ? end + bytes.readUInt32LE(at + 6) : end
    }
    this.#heads = heads
  }

  /** The code of a row, of a field that has codes. */
  code(field: number, row: number): number {
    return this.#of(field, head.least) + this.#number(field, row)
  }

  /** The text of a row, of a field that has no codes; null for null. */
  text(field: number, row: number): string | null {
    const [digits, least] = [this.#of(field, head.digits), this.#of(field, head.least)]
    const number = this.#number(field, row)
    if (digits >= 0) return number === 0 ? null : decimalText(number - 1 + least, digits)
    const length = least + number - 1
    if (length < 0) return null
    let at = this.#of(field, head.end)
    for (let before = 0; before < row; before += 1) at += Math.max(0, least + this.#number(field, before) - 1)
    return this.#bytes.toString('utf8', at, at + length)
  }

  /** The texts of all rows. */
  texts(field: number): (string | null)[] {
    if (this.#of(field, head.digits) >= 0)
      return Array.from({ length: this.#rows }, (_, row) => this.text(field, row))
    const least = this.#of(field, head.least)
    let at = this.#of(field, head.end)
    return Array.from({ length: this.#rows }, (_, row) => {
      const length = least + this.#number(field, row) - 1
      at += Math.max(0, length)
      return length < 0 ? null : this.#bytes.toString('utf8', at - length, at)
    })
  }

  #of(field: number, what: number): number {
    const found = this.#heads[headNumbers * field + what]
    if (found === undefined) throw new RangeError(`there is no field ${field}`)
    return found
  }

  /** What a row has more than the least. */
  #number(field: number, row: number): number {
    const bits = this.#of(field, head.bits)
    if (bits === 0) return 0
    const bytes = this.#bytes
    let at = this.#of(field, head.first) + ((bits * row) >> 3)
    const skip = (bits * row) & 7
    if (bits <= 17) {
      const three = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
      return (three >> skip) & ((1 << bits) - 1)
    }
    let [more, place] = [(bytes[at] ?? 0) >> skip, 8 - skip]
    for (; place < bits; place += 8) {
      at += 1
      more += (bytes[at] ?? 0) * 2 ** place
    }
    return more % 2 ** bits
  }
}

interface PacksShape {
  readonly rows: number
  readonly bytes: number
}

/** The end of a file: where its packs lie. */
export function packsEnd(packs: readonly Omit<Piece, 'start'>[]): Buffer {
  const directory = Buffer.alloc(packs.length * 8)
  const sections = Buffer.alloc(Math.ceil(packs.length / sectionPacks) * 12)
  let start = 0
  for (const [pack, { length, sum }] of packs.entries()) {
    if (pack % sectionPacks === 0) sections.writeBigUInt64LE(BigInt(start), (pack / sectionPacks) * 12)
    directory.writeUInt32LE(length, pack * 8)
    directory.writeUInt32LE(sum, pack * 8 + 4)
    start += length
  }
  for (let section = 0; section * 12 < sections.length; section += 1) {
    const piece = directory.subarray(section * sectionPacks * 8, (section + 1) * sectionPacks * 8)
    sections.writeUInt32LE(zlib.crc32(piece), section * 12 + 8)
  }
  const end = Buffer.alloc(4)
  end.writeUInt32LE(zlib.crc32(sections))
  return Buffer.concat([directory, sections, end])
}

/** Says where the pieces of the directory lie. */
export class PackSections {
  readonly #shape: PacksShape
  readonly #bytes: Buffer

  private constructor(shape: PacksShape, bytes: Buffer) {
    this.#shape = shape
    this.#bytes = bytes
  }

  /** Bytes at the end of the file that say so. */
  static bytes({ rows }: PacksShape): number {
    return Math.ceil(packsIn(rows) / sectionPacks) * 12 + 4
  }

  /** @returns null where they are not as they were written */
  static read(bytes: Buffer, shape: PacksShape): PackSections | null {
    if (bytes.length !== PackSections.bytes(shape)) return null
    const isWhole = zlib.crc32(bytes.subarray(0, -4)) === bytes.readUInt32LE(bytes.length - 4)
    return isWhole ? new PackSections(shape, bytes) : null
  }

  /** The piece of the directory of a section. */
  directory(section: number): Piece {
    const packs = packsIn(this.#shape.rows)
    const first = section * sectionPacks
    const start = this.#shape.bytes - this.#bytes.length - (packs - first) * 8
    const length = Math.min(sectionPacks, packs - first) * 8
    return { start, length, sum: this.#bytes.readUInt32LE(section * 12 + 8) }
  }

  /** @param directory the piece of the section */
  places(section: number, directory: Buffer): PackPlaces {
    const starts = new Float64Array(directory.length / 8)
    let start = Number(this.#bytes.readBigUInt64LE(section * 12))
    for (let pack = 0; pack < starts.length; pack += 1) {
      starts[pack] = start
      start += directory.readUInt32LE(pack * 8)
    }
    return { starts, directory }
  }
}

/** Where the packs of a section lie. */
export interface PackPlaces {
  readonly starts: Float64Array
  readonly directory: Buffer
}

/** @param pack of those of the section, from 0 */
export function placeIn({ starts, directory }: PackPlaces, pack: number): Piece {
  return {
    start: starts[pack] ?? 0,
    length: directory.readUInt32LE(pack * 8),
    sum: directory.readUInt32LE(pack * 8 + 4),
  }
}
