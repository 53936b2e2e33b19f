import zlib from 'node:zlib'

/**
 * How the positions of rows in another order lie in their file: UINT32, little endian, in the order; then the CRC-32 of
 * each 1,024 of them; then the CRC-32 of these sums.
 */
export const positionsOfPiece = 1024

export const positionBytes = 4

/** The sums at the end of a file of so many rows, in bytes. */
export function positionSumsBytes(rows: number): number {
  return 4 * Math.ceil(rows / positionsOfPiece) + 4
}

/** @param sums the CRC-32 of each piece */
export function positionsEnd(sums: readonly number[]): Buffer {
  const end = Buffer.alloc(4 * sums.length + 4)
  for (const [piece, sum] of sums.entries()) end.writeUInt32LE(sum, 4 * piece)
  end.writeUInt32LE(zlib.crc32(end.subarray(0, -4)), end.length - 4)
  return end
}

/** @returns the CRC-32 of each piece; null where they are not as they were written */
export function readPositionSums(end: Buffer, rows: number): Uint32Array | null {
  if (end.length !== positionSumsBytes(rows)) return null
  if (zlib.crc32(end.subarray(0, -4)) !== end.readUInt32LE(end.length - 4)) return null
  return Uint32Array.from({ length: end.length / 4 - 1 }, (_, piece) => end.readUInt32LE(4 * piece))
}
