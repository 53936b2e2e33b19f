import zlib from 'node:zlib'

/** The layout of files beside the Parquet files: see "Container" in docs/reference/format.md. */

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

/** Encodes length and checksum of each chunk, then start and checksum of each section of chunks. */
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
  const sectionEntriesBytes = sectionChunks * entryBytes
  for (let section = 0; section * sectionBytes < sections.length; section += 1) {
    const sectionEntries = directory.subarray(
      section * sectionEntriesBytes,
      (section + 1) * sectionEntriesBytes,
    )
    sections.writeUInt32LE(zlib.crc32(sectionEntries), section * sectionBytes + 8)
  }
  const sectionsSum = Buffer.alloc(sumBytes)
  sectionsSum.writeUInt32LE(zlib.crc32(sections))
  return Buffer.concat([directory, sections, sectionsSum])
}

class ChunkLocations {
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

  get length(): number {
    return this.#directory.length + this.#starts.byteLength
  }

  chunk(index: number): Chunk {
    return {
      start: this.#starts[index] ?? 0,
      length: this.#directory.readUInt32LE(index * entryBytes),
      sum: this.#directory.readUInt32LE(index * entryBytes + 4),
    }
  }
}

/** Places of the sections of a file, or of the chunks of one section. */
export type ChunkDirectory = Buffer | ChunkLocations

interface ChunkSource {
  readonly bytes: number
  readonly chunks: number
  /** Expected last four bytes, which reveal a file of another table. */
  readonly directorySum: number
  readonly read: (start: number, length: number) => Buffer
  readonly damaged: (problem: string) => Error
  /** Returns a directory from a cache, or makes it. */
  readonly cached: <T extends ChunkDirectory>(name: string, make: () => T) => T
}

export class ChunkFile {
  readonly #source: ChunkSource
  readonly #locations = new Map<number, ChunkLocations>()

  constructor(source: ChunkSource) {
    this.#source = source
  }

  locate(number: number): Chunk {
    const section = Math.floor(number / sectionChunks)
    let location = this.#locations.get(section)
    if (location === undefined) {
      location = this.#source.cached(String(section), () => this.#readLocations(section))
      this.#locations.set(section, location)
    }
    return location.chunk(number % sectionChunks)
  }

  /** @throws the error for a damaged file */
  read(number: number): Buffer {
    return this.readTogether([this.locate(number)])[0] ?? Buffer.alloc(0)
  }

  /**
   * Reads chunks and the gaps between them at once.
   * @param chunks ascending
   * @throws the error for a damaged file
   */
  readTogether(chunks: readonly Chunk[]): Buffer[] {
    const [first, last] = [chunks[0], chunks.at(-1)]
    if (first === undefined || last === undefined) return []
    const block = this.#source.read(first.start, last.start + last.length - first.start)
    return chunks.map(({ start, length, sum }) => {
      const bytes = block.subarray(start - first.start, start - first.start + length)
      if (zlib.crc32(bytes) !== sum)
        throw this.#source.damaged(`its bytes from ${start} on do not match their checksum`)
      return bytes
    })
  }

  #readLocations(section: number): ChunkLocations {
    const { chunks, bytes, read } = this.#source
    const sections = this.#source.cached('sections', () => this.#readSections())
    const first = section * sectionChunks
    const start = bytes - sections.length - (chunks - first) * entryBytes
    const directory = read(start, Math.min(sectionChunks, chunks - first) * entryBytes)
    this.#requireSum(directory, sections.readUInt32LE(section * sectionBytes + 8))
    return new ChunkLocations(directory, Number(sections.readBigUInt64LE(section * sectionBytes)))
  }

  #readSections(): Buffer {
    const { chunks, bytes, directorySum, read } = this.#source
    const length = Math.ceil(chunks / sectionChunks) * sectionBytes + sumBytes
    const sections = read(bytes - length, length)
    const sum = sections.readUInt32LE(length - sumBytes)
    this.#requireSum(sections.subarray(0, -sumBytes), sum === directorySum ? sum : null)
    return sections
  }

  #requireSum(bytes: Buffer, sum: number | null): void {
    if (zlib.crc32(bytes) !== sum)
      throw this.#source.damaged('the checksum of its directory of chunks does not match')
  }
}
