import zlib from 'node:zlib'
import { tableId } from '../../core/catalog/catalog.ts'
import {
  countsOfAll,
  Directory,
  directoryBytes,
  unpackGroup,
  type Codes,
} from '../../core/warehouse/codes/layout.ts'
import type { CodesFile } from '../../core/warehouse/manifest.ts'
import type { Kept } from '../kept.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { CheckedFile } from './checked-file.ts'
import { valuesOf } from './dictionaries.ts'

/** What is kept of files of codes, unpacked. */
export type Unpacked = Codes | Uint32Array

/** A file of codes of a snapshot, in whichever order, while an ask reads it. Fields that have none in it are refused. */
export class CodedTable {
  readonly #snapshot: Snapshot
  readonly #codes: CodesFile
  readonly #values: readonly number[]
  readonly #file: CheckedFile
  readonly #kept: Kept<Unpacked>

  constructor(snapshot: Snapshot, codes: CodesFile, kept: Kept<Unpacked>) {
    this.#snapshot = snapshot
    this.#codes = codes
    this.#values = codes.fields.map((name) => valuesOf(snapshot, name))
    this.#file = new CheckedFile(snapshot, codes)
    this.#kept = kept
  }

  /** How many rows it has. */
  get rows(): number {
    return this.#snapshot.manifest.rows
  }

  /** How many different values a field has. */
  valuesOf(field: string): number {
    return this.#values[this.#placeOf(field)] ?? 0
  }

  /** How many counts there are of a field, of all sections. */
  countsOf(field: string): number {
    const values = this.valuesOf(field)
    return countsOfAll(this.rows, values) * (values + 1)
  }

  /**
   * How many rows of a section have each code of a field; see `countCodes`.
   *
   * @throws DamagedTable
   */
  counts(field: string, section: number): Uint32Array {
    return this.#unpacked(`counts ${section} ${field}`, (directory) => {
      const place = this.#placeOf(field)
      const bytes = zlib.inflateRawSync(this.#file.piece(directory.counts(place, section)))
      return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
    })
  }

  /**
   * The codes of a group of rows.
   *
   * @throws DamagedTable
   */
  group(field: string, group: number): Codes {
    return this.#unpacked(`group ${group} ${field}`, (directory) => {
      const planes = zlib.inflateRawSync(this.#file.piece(directory.group(this.#placeOf(field), group)))
      return unpackGroup(planes, this.valuesOf(field))
    })
  }

  /** Whoever has made one ends it. */
  close(): void {
    this.#file.close()
  }

  #placeOf(field: string): number {
    const place = this.#codes.fields.indexOf(field)
    if (place === -1) throw new RangeError(`${this.#codes.file} has no codes of ${field}`)
    return place
  }

  #unpacked<T extends Unpacked>(name: string, read: (directory: Directory) => T): T {
    const key = `${tableId(this.#snapshot.table)}/${this.#snapshot.manifest.snapshot}/${this.#codes.file} ${name}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept as T
    const unpacked = read(this.#directory())
    this.#kept.set(key, unpacked)
    return unpacked
  }

  #directory(): Directory {
    const known = directories.get(this.#codes)
    if (known !== undefined) return known
    const shape = { rows: this.#snapshot.manifest.rows, bytes: this.#file.bytes, values: this.#values }
    const length = directoryBytes(shape)
    const directory = Directory.read(this.#file.directory(length), shape)
    if (directory === null) throw this.#file.damaged('its directory has another sum')
    directories.set(this.#codes, directory)
    return directory
  }
}

/** By what a manifest says of a file. */
const directories = new WeakMap<CodesFile, Directory>()
