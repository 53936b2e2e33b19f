import zlib from 'node:zlib'
import type { ChunkFile } from './chunk-file.ts'

/** The layout of the codes of a snapshot: see `codes.bin` in docs/reference/format.md. */

/** Number of rows in a group; the last group may have fewer. */
export const groupRows = 16_384
export const sectionGroups = 16
export const sectionRows = groupRows * sectionGroups

/** A code has at most two bytes, and the last code means null. */
export const codedValuesMax = 65_535

/** A server keeps the distinct values in memory. */
export const codedBytesMax = 4_000_000

export type Codes = Uint8Array | Uint16Array

const isNarrow = (values: number): boolean => values < 256

/** @param values number of distinct values of the field */
export function codeBytes(values: number): number {
  return isNarrow(values) ? 1 : 2
}

export function groupCount(rows: number): number {
  return Math.ceil(rows / groupRows)
}

export function sectionCount(rows: number): number {
  return Math.ceil(rows / sectionRows)
}

export function emptyCodes(values: number, rows: number): Codes {
  return isNarrow(values) ? new Uint8Array(rows) : new Uint16Array(rows)
}

/** Writes all low bytes, then all high bytes: similar bytes compress better side by side. */
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
 * Inverse of `packGroup`.
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
 * Counts rows by code: per group if codes take one byte, else per section.
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

export function countsOf(groups: number, values: number): number {
  return isNarrow(values) ? groups : 1
}

export function countsOfAll(rows: number, values: number): number {
  return isNarrow(values) ? groupCount(rows) : sectionCount(rows)
}

/** Higher levels take more than twice the time, and save about 4 %. */
const deflateLevel = 4

export const deflated = (bytes: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    zlib.deflateRaw(bytes, { level: deflateLevel }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    )
  })

interface Shape {
  readonly rows: number
  readonly fields: number
}

export function codesChunks({ rows, fields }: Shape): number {
  return fields * (sectionCount(rows) + groupCount(rows))
}

export function countsChunk({ rows, fields }: Shape, field: number, section: number): number {
  const groups = Math.min(sectionGroups, groupCount(rows) - section * sectionGroups)
  return section * fields * (1 + sectionGroups) + field * (1 + groups)
}

export function groupChunk(shape: Shape, field: number, group: number): number {
  return countsChunk(shape, field, Math.floor(group / sectionGroups)) + 1 + (group % sectionGroups)
}

/** Rows with each code of a field in a section; see `countCodes`. */
export function readCounts(file: ChunkFile, shape: Shape, field: number, section: number): Uint32Array {
  const bytes = zlib.inflateRawSync(file.read(countsChunk(shape, field, section)))
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/**
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
