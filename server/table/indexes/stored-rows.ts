import type { Chunk } from '../../../core/warehouse/format/chunk-file.ts'
import { chunkRows, RowChunk } from '../../../core/warehouse/format/row-store.ts'
import type { PiecewiseFile } from '../../../core/warehouse/manifest.ts'
import type { Turns } from '../../base/concurrency/turns.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { ChunkFile } from './chunk-file.ts'
import { Scratch } from './scratch.ts'

/** DuckDB reads longer rows, within its bounded memory: bytes of all chunks of a request, with their texts inflated. */
const requestBytesMax = 16_000_000
/** Chunks with a smaller gap between them are read together: another read costs as much. */
const gapBytesMax = 4096
/** Bytes that are read without yielding to other requests. */
const runBytesMax = 262_144

/** The row store of a snapshot, while a request reads it. */
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
   *
   * @throws DamagedTable
   */
  chunk(number: number): RowChunk {
    return this.#decode(number, this.#file.read(number))
  }

  /**
   * Returns the chunks of some positions by their numbers; reads those that are near each other together.
   *
   * @returns null if they are large
   * @throws DamagedTable
   */
  async read(positions: Uint32Array, turns: Turns): Promise<ReadonlyMap<number, RowChunk> | null> {
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
      await turns.next()
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

  /** Chunks that were read must not be used after this. */
  close(): void {
    this.#file.close()
    this.#scratch.end()
  }
}
