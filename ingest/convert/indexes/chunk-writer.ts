import zlib from 'node:zlib'
import { open, type FileHandle } from 'node:fs/promises'
import { readExactly } from '../../../core/warehouse/read-exactly.ts'
import { ChunkFile, type Chunk, directoryOf } from '../../../core/warehouse/format/chunk-file.ts'
import { TableFailure } from '../../base/rejects.ts'

export class ChunkWriter {
  readonly #handle: FileHandle
  readonly #chunks: Omit<Chunk, 'start'>[] = []
  #bytes = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async open(file: string): Promise<ChunkWriter> {
    return new ChunkWriter(await open(file, 'wx+'))
  }

  async add(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) this.#chunks.push({ length: chunk.length, sum: zlib.crc32(chunk) })
    await this.#write(Buffer.concat(chunks))
  }

  /**
   * Writes the directory.
   * @returns the file as the server reads it, for a proof; its methods throw TableFailure if the disk returns
   * other bytes
   */
  async finish(): Promise<ChunkFile> {
    const directory = directoryOf(this.#chunks)
    await this.#write(directory)
    return new ChunkFile({
      bytes: this.#bytes,
      chunks: this.#chunks.length,
      directorySum: directory.readUInt32LE(directory.length - 4),
      read: (start, length) => {
        const bytes = readExactly(this.#handle.fd, start, length)
        if (bytes === null) throw damaged('it is truncated')
        return bytes
      },
      damaged,
      cached: (_, make) => make(),
    })
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, this.#bytes)
    this.#bytes += bytes.length
  }
}

function damaged(problem: string): TableFailure {
  return new TableFailure(
    `a file of the snapshot, read back, differs from what was written (${problem}): check the disk; nothing was published`,
  )
}
