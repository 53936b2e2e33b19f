import zlib from 'node:zlib'
import type { ChunkFile } from './chunk-file.ts'

/**
 * The layout of the codes of a snapshot. The code of a value is its index in the sorted distinct values of
 * the field, from 0; null comes last. The chunks follow each other in this order, each of them deflated (RFC
 * 1951):
 *
 * - section 0: counts and groups of field 0 (counts, group 0, group 1, ...), then of field 1, ...
 * - section 1: the same for the next 16 groups of rows, ...
 */

/** Number of rows in a group; the last group may have fewer. */
export const groupRows = 16_384
export const sectionGroups = 16
export const sectionRows = groupRows * sectionGroups

/**
 * Maximum number of distinct values of a field with codes: a code has at most two bytes, and the last code
 * means null.
 */
export const codedValuesMax = 65_535

/** Maximum number of bytes of the distinct values of a coded field, since a server keeps them in memory. */
export const codedBytesMax = 4_000_000

export type Codes = Uint8Array | Uint16Array

const isNarrow = (values: number): boolean => values < 256

/** Returns the number of bytes of a code, for a field with this many distinct values. */
export function codeBytes(values: number): number {
  return isNarrow(values) ? 1 : 2
}

export function groupCount(rows: number): number {
  return Math.ceil(rows / groupRows)
}

export function sectionCount(rows: number): number {
  return Math.ceil(rows / sectionRows)
}

/** Allocates the codes of some rows, for a field with this many distinct values. */
export function codesOf(values: number, rows: number): Codes {
  return isNarrow(values) ? new Uint8Array(rows) : new Uint16Array(rows)
}

/** Writes the low bytes of all codes, then the high bytes, since similar bytes compress better side by side. */
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

/**
 * Restores the codes of a group.
 * @param planes result of `packGroup`
 * @param values number of distinct values of the field
 */
export function unpackGroup(planes: Uint8Array, values: number): Codes {
  if (isNarrow(values)) return planes
  const rows = planes.length / 2
  const codes = new Uint16Array(rows)
  for (let row = 0; row < rows; row += 1) codes[row] = (planes[row] ?? 0) | ((planes[rows + row] ?? 0) << 8)
  return codes
}

/**
 * Counts the rows of a section by code: in each group if codes take one byte, else in the whole section.
 * @param groups codes of each group of the section
 * @returns counts of the first group, then of the next one
 */
export function countCodes(groups: readonly Codes[], values: number): Uint32Array {
  const width = values + 1
  const counts = new Uint32Array(width * countsOf(groups.length, values))
  for (const [index, codes] of groups.entries()) {
    const from = isNarrow(values) ? index * width : 0
    // Loops by index, since iterating over a typed array takes several times as long.
    for (let row = 0; row < codes.length; row += 1) {
      const place = from + (codes[row] ?? 0)
      counts[place] = (counts[place] ?? 0) + 1
    }
  }
  return counts
}

/** Returns the number of counts per code in a section with this many groups. */
export function countsOf(groups: number, values: number): number {
  return isNarrow(values) ? groups : 1
}

/** Returns the number of counts per code in all sections of a field with this many rows. */
export function countsOfAll(rows: number, values: number): number {
  return isNarrow(values) ? groupCount(rows) : sectionCount(rows)
}

/** Compression level: higher ones take more than twice the time, and save about 4 %. */
const deflateLevel = 4

export const deflated = (bytes: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    zlib.deflateRaw(bytes, { level: deflateLevel }, (error, packed) =>
      error === null ? resolve(packed) : reject(error),
    )
  })

interface Shape {
  readonly rows: number
  readonly fields: number
}

export function codesChunks({ rows, fields }: Shape): number {
  return fields * (sectionCount(rows) + groupCount(rows))
}

/** Returns the index of the chunk with the counts of a section. */
export function countsChunk({ rows, fields }: Shape, field: number, section: number): number {
  const groups = Math.min(sectionGroups, groupCount(rows) - section * sectionGroups)
  return section * fields * (1 + sectionGroups) + field * (1 + groups)
}

/** Returns the index of the chunk with the codes of a group. */
export function groupChunk(shape: Shape, field: number, group: number): number {
  return countsChunk(shape, field, Math.floor(group / sectionGroups)) + 1 + (group % sectionGroups)
}

/** Returns the number of rows with each code of a field in a section; see `countCodes`. */
export function readCounts(file: ChunkFile, shape: Shape, field: number, section: number): Uint32Array {
  const bytes = zlib.inflateRawSync(file.read(countsChunk(shape, field, section)))
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/**
 * Returns the codes of a group of rows.
 * @param values number of distinct values of the field
 */
export function readGroup(
  file: ChunkFile,
  shape: Shape,
  field: number,
  group: number,
  values: number,
): Codes {
  return unpackGroup(zlib.inflateRawSync(file.read(groupChunk(shape, field, group))), values)
}
