import { closeSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { tableId } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import type { Chunk } from '../../core/warehouse/format/chunk-file.ts'
import type { PiecewiseFile } from '../../core/warehouse/manifest.ts'
import { DamagedFile } from '../../core/warehouse/whole.ts'
import { DamagedTable } from '../engine/errors.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** A file of a snapshot that is read here, piece by piece, each of which is compared with its sum. */
export class CheckedFile {
  readonly bytes: number
  readonly #snapshot: Snapshot
  readonly #name: string
  readonly #directorySum: number | undefined
  readonly #allocate: (length: number) => Buffer
  #descriptor: number | null = null

  /** @param allocate gives memory for what is read */
  constructor(
    snapshot: Snapshot,
    { file, bytes, directory_sum: directorySum }: PiecewiseFile,
    allocate: (length: number) => Buffer = (length) => Buffer.allocUnsafe(length),
  ) {
    this.#allocate = allocate
    this.#snapshot = snapshot
    this.#name = file
    this.bytes = bytes
    this.#directorySum = directorySum
  }

  /** @throws DamagedTable */
  piece(piece: Chunk): Buffer {
    return this.pieces([piece])[0] ?? Buffer.alloc(0)
  }

  /**
   * Pieces that lie near each other, in one reading.
   *
   * @param pieces ascending
   * @throws DamagedTable
   */
  pieces(pieces: readonly Chunk[]): Buffer[] {
    const [first, last] = [pieces[0], pieces.at(-1)]
    if (first === undefined || last === undefined) return []
    const all = this.#read(first.start, last.start + last.length - first.start)
    return pieces.map(({ start, length, sum }) => {
      const bytes = all.subarray(start - first.start, start - first.start + length)
      if (zlib.crc32(bytes) !== sum) throw this.damaged(`its bytes from ${start} on have another sum`)
      return bytes
    })
  }

  /**
   * Returns the end of the file, where its directory is.
   *
   * @param length of the directory with the CRC-32 after it
   * @throws DamagedTable if that sum is not the one in the manifest: a file of another table has a directory that is
   *   right by itself
   */
  directory(length: number): Buffer {
    const bytes = this.#read(this.bytes - length, length)
    if (this.#directorySum !== undefined && bytes.readUInt32LE(length - 4) !== this.#directorySum)
      throw this.damaged('its directory has another sum')
    return bytes
  }

  /** Reads synchronously: most bytes are in the page cache, and a turn of Node's thread pool costs more than they do. */
  #read(start: number, length: number): Buffer {
    const bytes = this.#allocate(length)
    try {
      this.#descriptor ??= openSync(path.join(this.#snapshot.folder, this.#name), 'r')
      for (let filled = 0; filled < length;) {
        const read = readSync(this.#descriptor, bytes, filled, length - filled, start + filled)
        if (read === 0) throw this.damaged('it is cut short')
        filled += read
      }
    } catch (error) {
      if (error instanceof DamagedTable) throw error
      this.#snapshot.doubt(messageOf(error))
      throw new DamagedTable(tableId(this.#snapshot.table))
    }
    return bytes
  }

  /** Takes the snapshot out. */
  damaged(what: string): DamagedTable {
    const { takeOut, table } = this.#snapshot
    takeOut(new DamagedFile(`${this.#name} is not as it was written: ${what}`))
    return new DamagedTable(tableId(table))
  }

  /** Whoever has made one ends it. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }
}
