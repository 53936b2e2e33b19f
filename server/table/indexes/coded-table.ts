import zlib from 'node:zlib'
import { tableId } from '../../../core/catalog/catalog.ts'
import {
  codesChunks,
  countsChunk,
  countsOfAll,
  groupChunk,
  unpackGroup,
  type Codes,
} from '../../../core/warehouse/format/codes.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import type { Kept } from '../../base/kept.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { ChunkFile } from './chunk-file.ts'
import { valuesOf } from './dictionaries.ts'

/** What is kept of files of codes, unpacked. */
export type Unpacked = Codes | Uint32Array

/** A file of codes of a snapshot, in whichever order, while an ask reads it. Fields that have none in it are refused. */
export class CodedTable {
  readonly #snapshot: Snapshot
  readonly #codes: CodesFile
  readonly #values: readonly number[]
  readonly #file: ChunkFile
  readonly #kept: Kept<Unpacked>

  constructor(snapshot: Snapshot, codes: CodesFile, kept: Kept<Unpacked>) {
    this.#snapshot = snapshot
    this.#codes = codes
    this.#values = codes.fields.map((name) => valuesOf(snapshot, name))
    this.#file = new ChunkFile(snapshot, codes, codesChunks(this.#shape))
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
    return this.#unpacked(`counts ${section} ${field}`, () => {
      const number = countsChunk(this.#shape, this.#placeOf(field), section)
      const bytes = zlib.inflateRawSync(this.#file.read(number))
      return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
    })
  }

  /**
   * The codes of a group of rows.
   *
   * @throws DamagedTable
   */
  group(field: string, group: number): Codes {
    return this.#unpacked(`group ${group} ${field}`, () => {
      const number = groupChunk(this.#shape, this.#placeOf(field), group)
      const planes = zlib.inflateRawSync(this.#file.read(number))
      return unpackGroup(planes, this.valuesOf(field))
    })
  }

  /** Closes the file; each instance must be closed once. */
  close(): void {
    this.#file.close()
  }

  #placeOf(field: string): number {
    const place = this.#codes.fields.indexOf(field)
    if (place === -1) throw new RangeError(`${this.#codes.file} has no codes of ${field}`)
    return place
  }

  #unpacked<T extends Unpacked>(name: string, read: () => T): T {
    const key = `${tableId(this.#snapshot.table)}/${this.#snapshot.manifest.snapshot}/${this.#codes.file} ${name}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept as T
    const unpacked = read()
    this.#kept.set(key, unpacked)
    return unpacked
  }

  get #shape() {
    return { rows: this.#snapshot.manifest.rows, fields: this.#codes.fields.length }
  }
}
