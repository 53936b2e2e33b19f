import zlib from 'node:zlib'

/**
 * The layout of the files beside the Parquet files of a snapshot: chunks, then where each one is. All numbers are little endian.
 *
 *     chunk 0, chunk 1, ...
 *     directory:  per chunk, its length and its CRC-32 (UINT32 each)
 *     sections:   per 2,048 chunks, the position of the first one (UINT64) and the CRC-32 of their part of the directory (UINT32)
 *     CRC-32 of the sections (UINT32)
 *
 * The number of chunks follows from the content: see `row-store.ts`.
 */

/** Some bytes of a file, and their CRC-32. */
export interface Chunk {
  readonly start: number
  readonly length: number
  readonly sum: number
}

/** Number of chunks in a section of the directory; the last section may have fewer. */
export const sectionChunks = 2048

const entryBytes = 8
const sectionBytes = 12
const sumBytes = 4

/** Returns the bytes that end a file of chunks. */
export function directoryOf(chunks: readonly Omit<Chunk, 'start'>[]): Buffer {
  const directory = Buffer.alloc(chunks.length * entryBytes)
  const sections = Buffer.alloc(Math.ceil(chunks.length / sectionChunks) * sectionBytes)
  let start = 0
  for (const [index, { length, sum }] of chunks.entries()) {
    if (index % sectionChunks === 0)
      sections.writeBigUInt64LE(BigInt(start), (index / sectionChunks) * sectionBytes)
    directory.writeUInt32LE(length, index * entryBytes)
    directory.writeUInt32LE(sum, index * entryBytes + 4)
    start += length
  }
  const partBytes = sectionChunks * entryBytes
  for (let section = 0; section * sectionBytes < sections.length; section += 1) {
    const part = directory.subarray(section * partBytes, (section + 1) * partBytes)
    sections.writeUInt32LE(zlib.crc32(part), section * sectionBytes + 8)
  }
  const end = Buffer.alloc(sumBytes)
  end.writeUInt32LE(zlib.crc32(sections))
  return Buffer.concat([directory, sections, end])
}

/** Number of chunks of a file, and its size in bytes. */
interface Shape {
  readonly chunks: number
  readonly bytes: number
}

/** The sections of a file: where each part of its directory is. */
export class Sections {
  readonly #shape: Shape
  readonly #bytes: Buffer

  private constructor(shape: Shape, bytes: Buffer) {
    this.#shape = shape
    this.#bytes = bytes
  }

  /** Returns the size of the sections and their CRC-32 at the end of a file, in bytes. */
  static bytes(chunks: number): number {
    return Math.ceil(chunks / sectionChunks) * sectionBytes + sumBytes
  }

  /** @returns null if the bytes are damaged */
  static read(bytes: Buffer, shape: Shape): Sections | null {
    if (bytes.length !== Sections.bytes(shape.chunks)) return null
    const isIntact = zlib.crc32(bytes.subarray(0, -sumBytes)) === bytes.readUInt32LE(bytes.length - sumBytes)
    return isIntact ? new Sections(shape, bytes) : null
  }

  /** Returns the location of the part of the directory that describes a section. */
  directory(section: number): Chunk {
    const { chunks, bytes } = this.#shape
    const first = section * sectionChunks
    return {
      start: bytes - this.#bytes.length - (chunks - first) * entryBytes,
      length: Math.min(sectionChunks, chunks - first) * entryBytes,
      sum: this.#bytes.readUInt32LE(section * sectionBytes + 8),
    }
  }

  /**
   * Returns the locations of the chunks of a section.
   * @param directory bytes of its part of the directory
   */
  locations(section: number, directory: Buffer): ChunkLocations {
    return new ChunkLocations(directory, Number(this.#bytes.readBigUInt64LE(section * sectionBytes)))
  }
}

/** The positions, lengths and checksums of the chunks of a section. */
export class ChunkLocations {
  readonly #directory: Buffer
  readonly #starts: Float64Array

  constructor(directory: Buffer, firstStart: number) {
    this.#directory = directory
    this.#starts = new Float64Array(directory.length / entryBytes)
    let start = firstStart
    for (let chunk = 0; chunk < this.#starts.length; chunk += 1) {
      this.#starts[chunk] = start
      start += directory.readUInt32LE(chunk * entryBytes)
    }
  }

  /** Size in memory, in bytes. */
  get bytes(): number {
    return this.#directory.length + this.#starts.byteLength
  }

  /** @param index of the chunk in its section, from 0 */
  chunk(index: number): Chunk {
    return {
      start: this.#starts[index] ?? 0,
      length: this.#directory.readUInt32LE(index * entryBytes),
      sum: this.#directory.readUInt32LE(index * entryBytes + 4),
    }
  }
}
