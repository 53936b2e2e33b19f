import { closeSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { tableId } from '../../../core/catalog/catalog.ts'
import { messageOf } from '../../../core/errors.ts'
import {
  sectionChunks,
  Sections,
  type Chunk,
  type ChunkLocations,
} from '../../../core/warehouse/format/chunk-file.ts'
import type { PiecewiseFile } from '../../../core/warehouse/manifest.ts'
import { DamagedFile } from '../../../core/warehouse/verify-files.ts'
import { DamagedTable } from '../engine/errors.ts'
import { Cache } from '../../base/cache.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { chunkRows, RowChunk } from '../../../core/warehouse/format/row-store.ts'
import type { EventLoopYielder } from '../../base/queue.ts'

/** Memory for the locations of chunks, in bytes: enough for 100 million rows. */
const locationBytesMax = 16_000_000
const locations = new Cache<ChunkLocations>(locationBytesMax, ({ bytes }) => bytes)

/** Cached section tables of chunk files, by the entry of the file in the manifest. */
const allSections = new WeakMap<PiecewiseFile, Sections>()

type Allocate = (length: number) => Buffer
const allocateUnsafe: Allocate = (length) => Buffer.allocUnsafe(length)

/** A file of chunks of a snapshot, opened for one request. Verifies the CRC-32 of each chunk. */
export class ChunkFile {
  readonly #snapshot: Snapshot
  readonly #file: PiecewiseFile
  readonly #chunks: number
  readonly #allocate: Allocate
  /** Locations that this request has used, by section. */
  readonly #own = new Map<number, ChunkLocations>()
  #descriptor: number | null = null

  /**
   * @param chunks their number
   * @param allocate returns memory for the chunks that are read
   */
  constructor(snapshot: Snapshot, file: PiecewiseFile, chunks: number, allocate = allocateUnsafe) {
    this.#snapshot = snapshot
    this.#file = file
    this.#chunks = chunks
    this.#allocate = allocate
  }

  /**
   * Returns where a chunk is.
   * @throws DamagedTable
   */
  locate(number: number): Chunk {
    const section = Math.floor(number / sectionChunks)
    let found = this.#own.get(section)
    if (found === undefined) {
      found = this.#locations(section)
      this.#own.set(section, found)
    }
    return found.chunk(number % sectionChunks)
  }

  /** @throws DamagedTable */
  read(number: number): Buffer {
    return this.readTogether([this.locate(number)])[0] ?? Buffer.alloc(0)
  }

  /**
   * Reads chunks, and the gaps between them, in a single read.
   * @param chunks ascending
   * @throws DamagedTable
   */
  readTogether(chunks: readonly Chunk[]): Buffer[] {
    const [first, last] = [chunks[0], chunks.at(-1)]
    if (first === undefined || last === undefined) return []
    const all = this.#read(first.start, last.start + last.length - first.start, this.#allocate)
    return chunks.map(({ start, length, sum }) => {
      const bytes = all.subarray(start - first.start, start - first.start + length)
      if (zlib.crc32(bytes) !== sum)
        throw this.#damaged(`its bytes from ${start} on do not match their checksum`)
      return bytes
    })
  }

  /** Closes the file; chunks in memory that `allocate` returned stay valid as long as that memory does. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }

  #locations(section: number): ChunkLocations {
    const key = `${this.#file.sha256} ${section}`
    const known = locations.get(key)
    if (known !== undefined) return known
    const sections = this.#sections()
    const { start, length, sum } = sections.directory(section)
    const directory = this.#read(start, length, allocateUnsafe)
    if (zlib.crc32(directory) !== sum)
      throw this.#damaged('the checksum of its directory of chunks does not match')
    const found = sections.locations(section, directory)
    locations.set(key, found)
    return found
  }

  #sections(): Sections {
    const known = allSections.get(this.#file)
    if (known !== undefined) return known
    const { bytes, directory_sum: directorySum } = this.#file
    const length = Sections.bytes(this.#chunks)
    const end = this.#read(bytes - length, length, allocateUnsafe)
    // Compare with the manifest: an intact file of another table has another checksum.
    const isOurs = end.readUInt32LE(length - 4) === directorySum
    const sections = isOurs ? Sections.read(end, { chunks: this.#chunks, bytes }) : null
    if (sections === null) throw this.#damaged('the checksum of its directory of chunks does not match')
    allSections.set(this.#file, sections)
    return sections
  }

  /**
   * Reads synchronously: most bytes are in the page cache, where reading costs less than a task of Node's
   * thread pool.
   */
  #read(start: number, length: number, allocate: Allocate): Buffer {
    const bytes = allocate(length)
    try {
      this.#descriptor ??= openSync(path.join(this.#snapshot.folder, this.#file.file), 'r')
      for (let filled = 0; filled < length;) {
        const read = readSync(this.#descriptor, bytes, filled, length - filled, start + filled)
        if (read === 0) throw this.#damaged('it is truncated')
        filled += read
      }
    } catch (error) {
      if (error instanceof DamagedTable) throw error
      this.#snapshot.recheck(messageOf(error))
      throw new DamagedTable(tableId(this.#snapshot.table))
    }
    return bytes
  }

  /** Withdraws the snapshot, and returns the error to throw. */
  #damaged(what: string): DamagedTable {
    const { withdraw, table } = this.#snapshot
    withdraw(new DamagedFile(`${this.#file.file} is damaged: ${what}`))
    return new DamagedTable(tableId(table))
  }
}

/**
 * Maximum bytes of all chunks of a request, with their texts inflated. Beyond it, DuckDB reads the rows, in
 * its bounded memory.
 */
const requestBytesMax = 16_000_000
/** Maximum gap between chunks that are read together: a separate read costs as much as reading this gap. */
const gapBytesMax = 4096
/** Bytes that are read without yielding to other requests. */
const runBytesMax = 262_144

/** The row store of a snapshot, opened for one request. */
export class StoredRows {
  readonly #rows: number
  readonly #scratch = new Scratch()
  readonly #file: ChunkFile
  readonly #areCoded: readonly boolean[]

  constructor(snapshot: Snapshot, file: PiecewiseFile) {
    const { rows, fields, dictionary } = snapshot.manifest
    this.#rows = rows
    this.#file = new ChunkFile(snapshot, file, Math.ceil(rows / chunkRows), this.#scratch.allocate)
    const coded = new Set(dictionary?.fields.map(({ name }) => name))
    this.#areCoded = fields.map(({ name }) => coded.has(name))
  }

  /**
   * Returns a chunk by its number.
   * @throws DamagedTable
   */
  chunk(number: number): RowChunk {
    return this.#decode(number, this.#file.read(number))
  }

  /**
   * Returns the chunks that contain some positions, by chunk number; reads nearby chunks together.
   * @returns null if the chunks are too large
   * @throws DamagedTable
   */
  async read(
    positions: Uint32Array,
    yielder: EventLoopYielder,
  ): Promise<ReadonlyMap<number, RowChunk> | null> {
    const numbers = new Set(positions.map((position) => Math.floor(position / chunkRows)).toSorted())
    const runs: (readonly [number: number, chunk: Chunk])[][] = []
    let [bytes, begin, end] = [0, 0, -Infinity]
    for (const number of numbers) {
      const chunk = this.#file.locate(number)
      bytes += chunk.length
      if (bytes > requestBytesMax) return null
      if (chunk.start - end > gapBytesMax || chunk.start - begin > runBytesMax) {
        runs.push([])
        begin = chunk.start
      }
      runs.at(-1)?.push([number, chunk])
      end = chunk.start + chunk.length
    }
    const chunks = new Map<number, RowChunk>()
    for (const run of runs) {
      await yielder.next()
      const read = this.#file.readTogether(run.map(([, chunk]) => chunk))
      for (const [index, [number]] of run.entries()) {
        const chunk = this.#decode(number, read[index] ?? Buffer.alloc(0))
        bytes += chunk.inflatedBytes
        if (bytes > requestBytesMax) return null
        chunks.set(number, chunk)
      }
    }
    return chunks
  }

  #decode(number: number, bytes: Buffer): RowChunk {
    return new RowChunk(bytes, Math.min(chunkRows, this.#rows - number * chunkRows), this.#areCoded)
  }

  /** Closes the file. Chunks that were read must not be used afterwards. */
  close(): void {
    this.#file.close()
    this.#scratch.end()
  }
}

/** Size of the reused buffer of a request; memory beyond it is allocated as usual. */
const scratchBytes = 512 * 1024
/** Maximum number of buffers that are kept for later requests. */
const waitingMax = 8

const waiting: Buffer[] = []

/**
 * Reused memory for the bytes of one request. New memory of this size would cost more than the reads, since
 * the system provides it page by page.
 */
class Scratch {
  #bytes: Buffer | null = null
  #used = 0

  /** The returned bytes must not be used after `end`. */
  readonly allocate = (length: number): Buffer => {
    if (this.#used + length > scratchBytes) return Buffer.allocUnsafe(length)
    this.#bytes ??= waiting.pop() ?? Buffer.allocUnsafeSlow(scratchBytes)
    this.#used += length
    return this.#bytes.subarray(this.#used - length, this.#used)
  }

  /** Returns the memory for the next request; to be called once. */
  end(): void {
    if (this.#bytes !== null && waiting.length < waitingMax) waiting.push(this.#bytes)
    this.#bytes = null
  }
}
