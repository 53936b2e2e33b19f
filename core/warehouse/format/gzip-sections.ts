import zlib from 'node:zlib'

/**
 * A gzip file of one member (RFC 1952). Its deflate sections end at whole bytes and need no earlier bytes, so
 * they are compressed concurrently, inflated alone, and copied into other files.
 */

export type GzipSection = readonly [packed: number, unpacked: number, crc32: number]

/** Deflate, no flags, no time, unknown system. The first section follows. */
export const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/** Returns the bytes after the last section: an empty last block, the CRC-32 and the size of all sections. */
export function gzipTrailer(sections: readonly GzipSection[]): Buffer {
  const trailer = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  const [sum, size] = sections.reduce(
    ([crc, bytes], [, unpacked, partCrc]) => [combinedCrc(crc, partCrc, unpacked), bytes + unpacked],
    [0, 0],
  )
  trailer.writeUInt32LE(sum, 2)
  trailer.writeUInt32LE(size % 2 ** 32, 6)
  return trailer
}

export function sectionStart(sections: readonly GzipSection[], index: number): number {
  return sections.slice(0, index).reduce((offset, [packed]) => offset + packed, gzipHeader.length)
}

/** Stores at most 65,535 bytes as they are. */
export function storedBlock(bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt16LE(bytes.length, 1)
  header.writeUInt16LE(0xffff - bytes.length, 3)
  return Buffer.concat([header, bytes])
}

/** zlib takes longer to start than to compress a shorter text. */
const storedTextMax = 500

/**
 * Builds a gzip file from texts and from deflate blocks that end at whole bytes and need no earlier bytes.
 */
export class GzipBuilder {
  readonly #pieces: Uint8Array[] = [gzipHeader]
  readonly #sections: GzipSection[] = []
  #texts: Uint8Array[] = []

  /** Adds a text, which is compressed unless it is short. */
  addText(text: Uint8Array): void {
    this.#texts.push(text)
  }

  /**
   * Adds compressed bytes.
   * @param bytes size of their text
   * @param sum CRC-32 of their text
   */
  addBlocks(blocks: Uint8Array, bytes: number, sum: number): void {
    this.#deflate()
    this.#pieces.push(blocks)
    this.#sections.push([blocks.length, bytes, sum])
  }

  build(): Buffer {
    this.#deflate()
    return Buffer.concat([...this.#pieces, gzipTrailer(this.#sections)])
  }

  #deflate(): void {
    if (this.#texts.length === 0) return
    const text = Buffer.concat(this.#texts)
    this.#texts = []
    const options = { level: 1, finishFlush: zlib.constants.Z_FULL_FLUSH }
    const blocks = text.length <= storedTextMax ? storedBlock(text) : zlib.deflateRawSync(text, options)
    this.#pieces.push(blocks)
    this.#sections.push([blocks.length, text.length, zlib.crc32(text)])
  }
}

export function combinedCrc(first: number, second: number, secondBytes: number): number {
  // A checksum is a polynomial whose highest bit is x^0; each further byte multiplies it by x^8.
  let shifted = first
  for (let [bytes, bit] = [secondBytes, 0]; bytes > 0; bytes = Math.floor(bytes / 2), bit += 1) {
    if (powers[bit] === undefined) powers.push(product(powers[bit - 1] ?? 0, powers[bit - 1] ?? 0))
    if (bytes % 2 === 1) shifted = product(shifted, powers[bit] ?? 0)
  }
  return (shifted ^ second) >>> 0
}

const powers = [1 << 23]

function product(a: number, b: number): number {
  let [sum, term] = [0, b]
  for (let bit = 31; bit >= 0; bit -= 1) {
    if (((a >>> bit) & 1) === 1) sum ^= term
    term = (term & 1) === 1 ? (term >>> 1) ^ 0xedb88320 : term >>> 1
  }
  return sum
}
