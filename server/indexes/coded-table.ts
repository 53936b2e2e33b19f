import zlib from 'node:zlib'
import { tableId } from '../../core/catalog/catalog.ts'
import { Directory, directoryBytes, unpackGroup, type Codes } from '../../core/warehouse/codes/layout.ts'
import type { CodesFile } from '../../core/warehouse/manifest.ts'
import type { Kept } from '../kept.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { CheckedFile } from './checked-file.ts'
import { valuesOf } from './dictionaries.ts'

/** What is kept of files of codes, unpacked. */
export type Unpacked = Codes | Uint32Array

/** The file of codes of a snapshot, while an ask reads it. */
export class CodedTable {
  readonly #snapshot: Snapshot
  readonly #fields: readonly string[]
  readonly #values: readonly number[]
  readonly #file: CheckedFile
  readonly #kept: Kept<Unpacked>

  constructor(snapshot: Snapshot, codes: CodesFile, kept: Kept<Unpacked>) {
    this.#snapshot = snapshot
    this.#fields = codes.fields
    this.#values = codes.fields.map((name) => valuesOf(snapshot, name))
    this.#file = new CheckedFile(snapshot, codes)
    this.#kept = kept
  }

  /** Where the codes of a field are; -1 where it has none. */
  placeOf(field: string): number {
    return this.#fields.indexOf(field)
  }

  /** How many different values a field has. */
  valuesOf(place: number): number {
    return this.#values[place] ?? 0
  }

  /**
   * How many rows of a section have each code of a field; see `countCodes`.
   *
   * @throws DamagedTable
   */
  counts(place: number, section: number): Uint32Array {
    return this.#unpacked(`${place} counts ${section}`, (directory) => {
      const bytes = zlib.inflateRawSync(this.#file.piece(directory.counts(place, section)))
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
      unpackGroup(zlib.inflateRawSync(this.#file.piece(directory.group(place, group))), this.valuesOf(place)),
    )
  }

  /** Whoever has made one ends it. */
  close(): void {
    this.#file.close()
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
    const shape = { rows: this.#snapshot.manifest.rows, bytes: this.#file.bytes, values: this.#values }
    const length = directoryBytes(shape)
    const directory = Directory.read(this.#file.unchecked(shape.bytes - length, length), shape)
    if (directory === null) throw this.#file.damaged('its directory has another sum')
    directories.set(this.#snapshot, directory)
    return directory
  }
}

const directories = new WeakMap<Snapshot, Directory>()
