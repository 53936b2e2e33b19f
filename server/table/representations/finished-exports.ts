import { open, rm, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { SingleFlight } from '../../base/single-flight.ts'

/** An unlinked file, which disappears with its last reader. */
interface Finished {
  readonly handle: FileHandle
  readonly bytes: number
  readers: number
  isKept: boolean
}

const chunkBytes = 262_144
/** Each export takes a file descriptor. */
export const retainedExportsMax = 16

/** Retains complete exports for clients that first request the length, or download by ranges. */
export class FinishedExports {
  readonly #folder: string
  readonly #bytesMax: number
  readonly #cache: LRUCache<string, Finished>
  readonly #making = new SingleFlight<boolean>()
  #number = 0
  #openBytes = 0

  /** @param bytesMax for all together; one export may take half of it */
  constructor(folder: string, bytesMax: number) {
    this.#folder = folder
    this.#bytesMax = bytesMax
    this.#cache = new LRUCache({
      max: retainedExportsMax,
      maxSize: Math.max(1, bytesMax),
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
      dispose: (finished) => {
        finished.isKept = false
        this.#closeIfUnused(finished)
      },
    })
  }

  /** One export may take half of the cache; all open exports, twice the cache. */
  fits(bytes: number): boolean {
    return bytes <= this.#bytesMax / 2 && this.#openBytes + bytes <= 2 * this.#bytesMax
  }

  /** Callers must release the export. */
  find(name: string): Finished | null {
    const file = this.#cache.get(name) ?? null
    if (file !== null) file.readers += 1
    return file
  }

  /**
   * Makes an export once for concurrent requests; callers must release it.
   * @returns null if it became too large to retain
   * @throws errors of the chunks
   */
  async make(
    name: string,
    signal: AbortSignal,
    chunks: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
  ): Promise<Finished | null> {
    for (;;) {
      // The cache may evict a new export before this request finds it.
      const finishedFile = this.find(name)
      if (finishedFile !== null) return finishedFile
      const writeToCache = async (stop: () => AbortSignal): Promise<boolean> => {
        const finishedExport = await this.#write(await chunks(stop()))
        if (finishedExport !== null) this.#cache.set(name, finishedExport)
        return finishedExport === null
      }
      const isTooLarge = await this.#making.join(name, () => signal, writeToCache)
      if (isTooLarge) return null
    }
  }

  release(finishedExport: Finished): void {
    finishedExport.readers -= 1
    this.#closeIfUnused(finishedExport)
  }

  /** @param end included */
  async *read({ handle }: Finished, start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let offset = start; offset <= end;) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, end + 1 - offset))
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, offset)
      if (bytesRead === 0) throw new Error('finished export is truncated')
      yield chunk.subarray(0, bytesRead)
      offset += bytesRead
    }
  }

  close(): void {
    this.#cache.clear()
  }

  async #write(chunks: AsyncIterable<Uint8Array>): Promise<Finished | null> {
    this.#number += 1
    const file = path.join(this.#folder, `export-${this.#number}`)
    const handle = await open(file, 'wx+')
    let bytes = 0
    try {
      // The open file stays readable, and no crash can leave it behind.
      await rm(file)
      for await (const chunk of chunks) {
        bytes += chunk.length
        this.#openBytes += chunk.length
        // `#openBytes` already includes `bytes`, so `fits` gets 0.
        if (!this.fits(0) || bytes > this.#bytesMax / 2) {
          this.#openBytes -= bytes
          await handle.close()
          return null
        }
        await handle.appendFile(chunk)
      }
      return { handle, bytes, readers: 0, isKept: true }
    } catch (error) {
      this.#openBytes -= bytes
      await handle.close().catch(() => undefined)
      throw error
    }
  }

  #closeIfUnused(finishedExport: Finished): void {
    if (finishedExport.isKept || finishedExport.readers > 0) return
    this.#openBytes -= finishedExport.bytes
    void finishedExport.handle.close().catch(() => undefined)
  }
}
