import { closeSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { tableId } from '../../../core/catalog/catalog.ts'
import { messageOf } from '../../../core/errors.ts'
import {
  Directory,
  directoryBytes,
  unpackGroup,
  type Codes,
  type Piece,
  type Shape,
} from '../../../core/warehouse/codes/layout.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import { DamagedFile } from '../../../core/warehouse/whole.ts'
import { DamagedTable } from '../../engine/errors.ts'
import type { Kept } from '../../kept.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** What is kept of files of codes, unpacked. */
export type Unpacked = Codes | Uint32Array

/** The file of codes of a snapshot, while an ask reads it. Each piece is compared with its sum. */
export class CodedTable {
  readonly codes: CodesFile
  readonly #snapshot: Snapshot
  readonly #shape: Shape
  readonly #kept: Kept<Unpacked>
  #descriptor: number | null = null

  constructor(snapshot: Snapshot, codes: CodesFile, kept: Kept<Unpacked>) {
    this.codes = codes
    this.#snapshot = snapshot
    this.#kept = kept
    const { bytes, fields } = codes
    this.#shape = { rows: snapshot.manifest.rows, bytes, values: fields.map(({ values }) => values) }
  }

  /** Where the codes of a field are; -1 where it has none. */
  placeOf(field: string): number {
    return this.codes.fields.findIndex(({ name }) => name === field)
  }

  /** How many different values a field has. */
  valuesOf(place: number): number {
    return this.#shape.values[place] ?? 0
  }

  /**
   * How many rows of a section have each code of a field; see `countCodes`.
   *
   * @throws DamagedTable
   */
  counts(place: number, section: number): Uint32Array {
    return this.#unpacked(`${place} counts ${section}`, (directory) => {
      const bytes = this.#piece(directory.counts(place, section))
      return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
    })
  }

  /**
   * The codes of a group of rows.
   *
   * @throws DamagedTable
   */
  group(place: number, group: number): Codes {
    return this.#unpacked(`${place} ${group}`, (directory) =>
      unpackGroup(this.#piece(directory.group(place, group)), this.valuesOf(place)),
    )
  }

  /** Whoever has made one ends it. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }

  #unpacked<T extends Unpacked>(name: string, read: (directory: Directory) => T): T {
    const key = `${tableId(this.#snapshot.table)}/${this.#snapshot.manifest.snapshot} ${name}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept as T
    const unpacked = read(this.#directory())
    this.#kept.set(key, unpacked)
    return unpacked
  }

  #directory(): Directory {
    const known = directories.get(this.#snapshot)
    if (known !== undefined) return known
    const length = directoryBytes(this.#shape)
    const directory = Directory.read(this.#read(this.#shape.bytes - length, length), this.#shape)
    if (directory === null) throw this.#damaged('its directory has another sum')
    directories.set(this.#snapshot, directory)
    return directory
  }

  #piece({ start, length, sum }: Piece): Buffer {
    const packed = this.#read(start, length)
    if (zlib.crc32(packed) !== sum) throw this.#damaged(`its bytes from ${start} on have another sum`)
    return zlib.inflateRawSync(packed)
  }

  /** Here and now: what is asked for often is in the memory of the system, and a turn of Node's pool costs more. */
  #read(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    try {
      this.#descriptor ??= openSync(path.join(this.#snapshot.folder, this.codes.file), 'r')
      for (let filled = 0; filled < length;) {
        const read = readSync(this.#descriptor, bytes, filled, length - filled, start + filled)
        if (read === 0) throw this.#damaged('it is cut short')
        filled += read
      }
    } catch (error) {
      if (error instanceof DamagedTable) throw error
      this.#snapshot.doubt(messageOf(error))
      throw new DamagedTable(tableId(this.#snapshot.table))
    }
    return bytes
  }

  #damaged(what: string): DamagedTable {
    const { takeOut, table } = this.#snapshot
    takeOut(new DamagedFile(`${this.codes.file} is not as it was written: ${what}`))
    return new DamagedTable(tableId(table))
  }
}

const directories = new WeakMap<Snapshot, Directory>()
