import { readSync } from 'node:fs'
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
import { closeFile, descriptorOf } from '../../base/open-files.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** Memory for the locations of chunks, in bytes: enough for 100 million rows. */
const locationBytesMax = 16_000_000
const locations = new Cache<ChunkLocations>(locationBytesMax, ({ bytes }) => bytes)

/** Cached section tables of chunk files, by the entry of the file in the manifest. */
const allSections = new WeakMap<PiecewiseFile, Sections>()

/** A file of chunks of a snapshot. Verifies the CRC-32 of each chunk. */
export class ChunkFile {
  readonly #snapshot: Snapshot
  readonly #file: PiecewiseFile
  readonly #chunks: number
  /** Locations that this request has used, by section. */
  readonly #own = new Map<number, ChunkLocations>()

  /** @param chunks their number */
  constructor(snapshot: Snapshot, file: PiecewiseFile, chunks: number) {
    this.#snapshot = snapshot
    this.#file = file
    this.#chunks = chunks
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
    const all = this.#read(first.start, last.start + last.length - first.start)
    return chunks.map(({ start, length, sum }) => {
      const bytes = all.subarray(start - first.start, start - first.start + length)
      if (zlib.crc32(bytes) !== sum)
        throw this.#damaged(`its bytes from ${start} on do not match their checksum`)
      return bytes
    })
  }

  #locations(section: number): ChunkLocations {
    const key = `${this.#file.sha256} ${section}`
    const known = locations.get(key)
    if (known !== undefined) return known
    const sections = this.#sections()
    const { start, length, sum } = sections.directory(section)
    const directory = this.#read(start, length)
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
    const end = this.#read(bytes - length, length)
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
  #read(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    try {
      const descriptor = descriptorOf(this.#file, path.join(this.#snapshot.folder, this.#file.file))
      for (let filled = 0; filled < length;) {
        const read = readSync(descriptor, bytes, filled, length - filled, start + filled)
        if (read === 0) throw this.#damaged('it is truncated')
        filled += read
      }
    } catch (error) {
      closeFile(this.#file)
      if (error instanceof DamagedTable) throw error
      this.#snapshot.recheck(messageOf(error))
      throw new DamagedTable(tableId(this.#snapshot.table))
    }
    return bytes
  }

  /** Withdraws the snapshot, and returns the error to throw. */
  #damaged(what: string): DamagedTable {
    const { withdraw, table } = this.#snapshot
    // The file may be replaced.
    closeFile(this.#file)
    withdraw(new DamagedFile(`${this.#file.file} is damaged: ${what}`))
    return new DamagedTable(tableId(table))
  }
}
