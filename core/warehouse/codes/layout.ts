import zlib from 'node:zlib'
import type { Chunk } from '../format/chunk-file.ts'

/**
 * How the codes of a snapshot lie in their file. Each value of a coded field has a number, its code: its place among all
 * different values of the field in their order, from 0; null comes last. Codes are packed by row groups, and these
 * by sections, so that an ask reads what it needs:
 *
 *     section 0:  field 0: counts, group 0, group 1, ...   field 1: counts, group 0, ...
 *     section 1:  ...
 *     directory:  of each piece above, in this order, its length and its CRC-32 (UINT32, little endian each)
 *                 CRC-32 of the directory
 *
 * The pieces follow each other without a gap, and each is deflated (RFC 1951) on its own.
 */

/** Rows of a row group, but of the last one. */
export const groupRows = 16_384
/** Row groups of a section, but of the last one. */
export const sectionGroups = 16
export const sectionRows = groupRows * sectionGroups

/** A field with more different values has no codes: a code is at most two bytes, and the last one means null. */
export const codedValuesMax = 65_535

/** Nor has one whose different values are longer than this, all together in bytes, since a server has them in memory. */
export const codedBytesMax = 4_000_000

export type Codes = Uint8Array | Uint16Array

/** Whether the codes of a field take one byte. */
const isNarrow = (values: number): boolean => values < 256

export function groupsIn(rows: number): number {
  return Math.ceil(rows / groupRows)
}

export function sectionsIn(rows: number): number {
  return Math.ceil(rows / sectionRows)
}

/** An empty array for the codes of a field of so many values. */
export function codesOf(values: number, rows: number): Codes {
  return isNarrow(values) ? new Uint8Array(rows) : new Uint16Array(rows)
}

/** The low bytes of all codes, then the high ones: each compresses better beside its like. */
export function packGroup(codes: Codes): Uint8Array {
  if (codes instanceof Uint8Array) return codes
  const planes = new Uint8Array(2 * codes.length)
  for (let row = 0; row < codes.length; row += 1) {
    const code = codes[row] ?? 0
    planes[row] = code & 255
    planes[codes.length + row] = code >> 8
  }
  return planes
}

/** @param planes as `packGroup` made them, of a field of so many values */
export function unpackGroup(planes: Uint8Array, values: number): Codes {
  if (isNarrow(values)) return planes
  const rows = planes.length / 2
  const codes = new Uint16Array(rows)
  for (let row = 0; row < rows; row += 1) codes[row] = (planes[row] ?? 0) | ((planes[rows + row] ?? 0) << 8)
  return codes
}

/**
 * How many rows of a section have each code: of each group where codes are narrow, of all groups where they are not.
 *
 * @param groups of the section
 * @returns codes of the first group, then of the next one
 */
export function countCodes(groups: readonly Codes[], values: number): Uint32Array {
  const width = values + 1
  const counts = new Uint32Array(width * countsOf(groups.length, values))
  for (const [index, codes] of groups.entries()) {
    const from = isNarrow(values) ? index * width : 0
    // By index: to iterate over an array of numbers costs several times as much.
    for (let row = 0; row < codes.length; row += 1) {
      const place = from + (codes[row] ?? 0)
      counts[place] = (counts[place] ?? 0) + 1
    }
  }
  return counts
}

/** How many counts of a code there are in a section of so many groups. */
export function countsOf(groups: number, values: number): number {
  return isNarrow(values) ? groups : 1
}

/** The same of all sections of so many rows. */
export function countsOfAll(rows: number, values: number): number {
  return isNarrow(values) ? groupsIn(rows) : sectionsIn(rows)
}

/** The levels above take more than twice the time for some 4 % of the bytes. */
const deflateLevel = 4

export const deflated = (bytes: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    zlib.deflateRaw(bytes, { level: deflateLevel }, (error, packed) =>
      error === null ? resolve(packed) : reject(error),
    )
  })

/** What lies where in a file of codes. */
export interface Shape {
  readonly rows: number
  readonly bytes: number
  /** Of each field, in the order of the file: how many different values it has. */
  readonly values: readonly number[]
}

/** Bytes at the end of the file that say where the pieces are. */
export function directoryBytes({ rows, values }: Shape): number {
  return values.length * (sectionsIn(rows) + groupsIn(rows)) * 8 + 4
}

/** The directory of pieces in the order in which they were written. */
export function directoryOf(pieces: readonly Pick<Chunk, 'length' | 'sum'>[]): Uint8Array {
  const bytes = Buffer.alloc(pieces.length * 8 + 4)
  for (const [index, { length, sum }] of pieces.entries()) {
    bytes.writeUInt32LE(length, index * 8)
    bytes.writeUInt32LE(sum, index * 8 + 4)
  }
  bytes.writeUInt32LE(zlib.crc32(bytes.subarray(0, -4)), bytes.length - 4)
  return bytes
}

/** Says where each piece of a file lies. */
export class Directory {
  readonly #shape: Shape
  readonly #bytes: Buffer
  readonly #starts: Float64Array

  private constructor(shape: Shape, bytes: Buffer, starts: Float64Array) {
    this.#shape = shape
    this.#bytes = bytes
    this.#starts = starts
  }

  /**
   * @param bytes the end of the file
   * @returns null where they are not as they were written
   */
  static read(bytes: Buffer, shape: Shape): Directory | null {
    if (bytes.length !== directoryBytes(shape)) return null
    if (zlib.crc32(bytes.subarray(0, -4)) !== bytes.readUInt32LE(bytes.length - 4)) return null
    const starts = new Float64Array((bytes.length - 4) / 8)
    let start = 0
    for (let piece = 0; piece < starts.length; piece += 1) {
      starts[piece] = start
      start += bytes.readUInt32LE(piece * 8)
    }
    return start + bytes.length === shape.bytes ? new Directory(shape, bytes, starts) : null
  }

  /** The counts of a section. */
  counts(field: number, section: number): Chunk {
    return this.#piece(this.#first(field, section))
  }

  /** The codes of a group, by its number in the table. */
  group(field: number, group: number): Chunk {
    const section = Math.floor(group / sectionGroups)
    return this.#piece(this.#first(field, section) + 1 + (group % sectionGroups))
  }

  /** All that a section has of a field, which follows each other: the counts, then each group. */
  section(field: number, section: number): Chunk[] {
    const first = this.#first(field, section)
    return Array.from({ length: 1 + this.#groups(section) }, (_, piece) => this.#piece(first + piece))
  }

  #first(field: number, section: number): number {
    const { values } = this.#shape
    return section * values.length * (1 + sectionGroups) + field * (1 + this.#groups(section))
  }

  #groups(section: number): number {
    return Math.min(sectionGroups, groupsIn(this.#shape.rows) - section * sectionGroups)
  }

  #piece(index: number): Chunk {
    return {
      start: this.#starts[index] ?? 0,
      length: this.#bytes.readUInt32LE(index * 8),
      sum: this.#bytes.readUInt32LE(index * 8 + 4),
    }
  }
}
