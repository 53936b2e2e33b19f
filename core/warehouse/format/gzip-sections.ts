/**
 * A gzip file of one member (RFC 1952), whose deflate data consists of sections. A full flush ends each
 * section, so that sections can be compressed concurrently, inflated alone, and copied into another file.
 */

/** Compressed bytes, uncompressed bytes, and CRC-32 of the uncompressed bytes. */
export type GzipSection = readonly [packed: number, unpacked: number, crc32: number]

/** Deflate, no flags, no time, unknown system. The first section follows. */
export const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/** Returns the bytes after the last section: an empty last block, the CRC-32 and the size of all sections. */
export function gzipTrailer(sections: readonly GzipSection[]): Buffer {
  const trailer = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  const [sum, size] = sections.reduce(
    ([crc, bytes], [, unpacked, own]) => [combinedCrc(crc, own, unpacked), bytes + unpacked],
    [0, 0],
  )
  trailer.writeUInt32LE(sum, 2)
  trailer.writeUInt32LE(size % 2 ** 32, 6)
  return trailer
}

/** Returns the offset of a section in the file, in bytes. */
export function sectionStart(sections: readonly GzipSection[], index: number): number {
  return sections.slice(0, index).reduce((at, [packed]) => at + packed, gzipHeader.length)
}

/** Returns the CRC-32 of two texts after each other, of which only the sums are known. */
function combinedCrc(first: number, second: number, secondBytes: number): number {
  // A checksum is a polynomial whose highest bit is x^0. Each further byte multiplies it by x^8.
  let [shifted, power] = [first, 1 << 23]
  for (let bytes = secondBytes; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) shifted = product(shifted, power)
    power = product(power, power)
  }
  return (shifted ^ second) >>> 0
}

/** Multiplies two polynomials modulo that of CRC-32. */
function product(one: number, other: number): number {
  let [sum, term] = [0, other]
  for (let bit = 31; bit >= 0; bit -= 1) {
    if (((one >>> bit) & 1) === 1) sum ^= term
    term = (term & 1) === 1 ? (term >>> 1) ^ 0xedb88320 : term >>> 1
  }
  return sum
}
