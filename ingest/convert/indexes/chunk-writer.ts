import zlib from 'node:zlib'
import { open, type FileHandle } from 'node:fs/promises'
import { type Chunk, directoryOf } from '../../../core/warehouse/format/chunk-file.ts'
import { TableFailure } from '../../base/rejects.ts'

/** Maximum number of bytes that one read verifies. */
const readBytesMax = 4_000_000

/** Writes a file of chunks: see `core/warehouse/format/chunk-file.ts`. */
export class ChunkWriter {
  readonly #handle: FileHandle
  readonly #chunks: Chunk[] = []
  #bytes = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async open(file: string): Promise<ChunkWriter> {
    return new ChunkWriter(await open(file, 'wx+'))
  }

  async add(chunks: readonly Uint8Array[]): Promise<void> {
    const from = this.#bytes
    for (const chunk of chunks) {
      this.#chunks.push({ start: this.#bytes, length: chunk.length, sum: zlib.crc32(chunk) })
      this.#bytes += chunk.length
    }
    await this.#write(Buffer.concat(chunks), from)
  }

  /**
   * Writes the directory, and reads everything back.
   * @throws TableFailure if the disk returns other bytes
   */
  async finish(): Promise<void> {
    const directory = directoryOf(this.#chunks)
    const end: Chunk = { start: this.#bytes, length: directory.length, sum: zlib.crc32(directory) }
    await this.#write(directory, end.start)
    let pending: Chunk[] = []
    for (const chunk of [...this.#chunks, end]) {
      const first = pending[0]
      if (first !== undefined && chunk.start + chunk.length - first.start > readBytesMax) {
        await this.#prove(pending)
        pending = []
      }
      pending.push(chunk)
    }
    await this.#prove(pending)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #write(bytes: Uint8Array, start: number): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, start)
  }

  /**
   * Verifies chunks by reading them back.
   * @param chunks consecutive ones
   */
  async #prove(chunks: readonly Chunk[]): Promise<void> {
    const [first, last] = [chunks[0], chunks.at(-1)]
    if (first === undefined || last === undefined) return
    const bytes = Buffer.alloc(last.start + last.length - first.start)
    await this.#handle.read(bytes, 0, bytes.length, first.start)
    for (const { start, length, sum } of chunks) {
      const from = start - first.start
      if (zlib.crc32(bytes.subarray(from, from + length)) !== sum)
        throw new TableFailure(
          'a file of the snapshot, read back, differs from what was written: check the disk; nothing was published',
        )
    }
  }
}
