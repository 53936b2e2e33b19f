import path from 'node:path'
import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldedSql } from '../../../core/folding.ts'
import { quotedText } from '../../../core/sql.ts'
import { messageOf } from '../../../core/errors.ts'
import { hashOf } from '../../../core/warehouse/hash.ts'
import { DamagedFile } from '../../../core/warehouse/verify-files.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { DamagedTable } from '../engine/errors.ts'
import type { Plan } from '../engine/plan.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { Cache } from '../../base/cache.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import {
  codesChunks,
  countsOfAll,
  groupRows,
  readCounts,
  readGroup,
  type Codes,
} from '../../../core/warehouse/format/codes.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import { chunkFileOf } from './chunk-file.ts'

/** Distinct values as canonical texts. A value's code is its index; null's code is the number of values. */
export interface Dictionary {
  readonly bytes: number
  readonly field: Field
  readonly values: readonly string[]
  readonly folded: readonly string[] | null
  readonly rows: Float64Array
}

/** Number of values in the dictionary of a field; 0 if it has none. */
export function dictionarySize({ manifest: { dictionary } }: Snapshot, field: string): number {
  return dictionary?.fields.find(({ name }) => name === field)?.values ?? 0
}

export class Dictionaries {
  readonly #pool: Pool
  readonly #cache: Cache<Dictionary>
  readonly #flights = new SingleFlight<Dictionary | null>()
  readonly #verified = new WeakSet<Snapshot>()

  constructor(pool: Pool, bytesMax: number) {
    this.#pool = pool
    this.#cache = new Cache(bytesMax, ({ bytes }) => bytes)
  }

  /** Null if the field has no dictionary, or a value that the server cannot compare. */
  async values(snapshot: Snapshot, field: Field, { client, signal }: Requester): Promise<Dictionary | null> {
    const key = `${tableId(snapshot.table)}/${snapshot.manifest.snapshot} ${field.name}`
    const cachedDictionary = this.#cache.get(key)
    if (cachedDictionary !== undefined) return cachedDictionary
    const plan = planOf(snapshot, field)
    if (plan === null) return null
    return this.#flights.join(key, signal, async (stop) => {
      await this.#verify(snapshot)
      const { rows } = await this.#pool.rows(plan, client, stop())
      const dictionary = dictionaryOf(field, rows, snapshot.manifest.rows)
      if (dictionary !== null) this.#cache.set(key, dictionary)
      return dictionary
    })
  }

  async #verify(snapshot: Snapshot): Promise<void> {
    const { dictionary } = snapshot.manifest
    if (dictionary === undefined || this.#verified.has(snapshot)) return
    const release = await snapshot.pin([dictionary.file])
    try {
      const hash = await hashOf(path.join(snapshot.folder, dictionary.file))
      if (hash === dictionary.sha256) {
        this.#verified.add(snapshot)
        return
      }
      snapshot.withdraw(new DamagedFile(`${dictionary.file} is damaged`))
    } catch (error) {
      snapshot.recheck(messageOf(error))
    } finally {
      release()
    }
    throw new DamagedTable(tableId(snapshot.table))
  }
}

function planOf(snapshot: Snapshot, { name, type }: Field): Plan | null {
  const { folder, manifest } = snapshot
  const place = manifest.dictionary?.fields.findIndex((field) => field.name === name) ?? -1
  if (manifest.dictionary === undefined || place === -1) return null
  const { file, fields } = manifest.dictionary
  const first = fields.slice(0, place).reduce((sum, { values }) => sum + values, 0)
  const end = first + (fields[place]?.values ?? 0)
  return {
    sql: `select value, ${typeRow(type).isText ? foldedSql('value') : 'null'}, rows::double from read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)
      where file_row_number between ${first} and ${end - 1} order by file_row_number`,
    parameters: [],
    reads: { snapshot, files: [file] },
  }
}

function dictionaryOf(
  field: Field,
  valueRows: readonly (readonly unknown[])[],
  rowCount: number,
): Dictionary | null {
  const { isText, parse } = typeRow(field.type)
  const values = valueRows.map(([value]) => (isText ? String(value) : parse(String(value), field)))
  if (!values.every((value) => value !== null)) return null
  const foldedTexts = isText ? valueRows.map(([, text]) => String(text)) : null
  const counts = new Float64Array(values.length + 1)
  for (const [code, [, , count]] of valueRows.entries()) counts[code] = Number(count)
  counts[values.length] = rowCount - counts.reduce((sum, count) => sum + count, 0)
  const bytes = counts.byteLength + bytesIn([...values, ...(foldedTexts ?? [])])
  return { field, values, folded: foldedTexts, rows: counts, bytes }
}

const textBytes = 40

function bytesIn(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + 2 * length + textBytes, textBytes)
}

/** Decompressed, as cached. */
export type Unpacked = Codes | Uint32Array

/** File of codes, in the order of the table or another one. Throws for fields without codes. */
export class CodedTable {
  readonly #snapshot: Snapshot
  readonly #codes: CodesFile
  readonly #values: readonly number[]
  readonly #file: ChunkFile
  readonly #cache: Cache<Unpacked>

  constructor(snapshot: Snapshot, codes: CodesFile, cache: Cache<Unpacked>) {
    this.#snapshot = snapshot
    this.#codes = codes
    this.#values = codes.fields.map((name) => dictionarySize(snapshot, name))
    this.#file = chunkFileOf(snapshot, codes, codesChunks(this.#shape))
    this.#cache = cache
  }

  get rows(): number {
    return this.#snapshot.manifest.rows
  }

  valueCountOf(field: string): number {
    return this.#values[this.#placeOf(field)] ?? 0
  }

  /** The work to add up all counts of a field. */
  countsOf(field: string): number {
    const values = this.valueCountOf(field)
    return countsOfAll(this.rows, values) * (values + 1)
  }

  /**
   * See `countCodes`.
   * @throws DamagedTable
   */
  counts(field: string, section: number): Uint32Array {
    return this.#unpacked(`counts ${section} ${field}`, () =>
      readCounts(this.#file, this.#shape, this.#placeOf(field), section),
    )
  }

  groupSize(group: number): number {
    return Math.min(groupRows, this.rows - group * groupRows)
  }

  /** @throws DamagedTable */
  group(field: string, group: number): Codes {
    return this.#unpacked(`group ${group} ${field}`, () =>
      readGroup(this.#file, this.#shape, this.#placeOf(field), group, this.valueCountOf(field)),
    )
  }

  #placeOf(field: string): number {
    const place = this.#codes.fields.indexOf(field)
    if (place === -1) throw new RangeError(`${this.#codes.file} has no codes of ${field}`)
    return place
  }

  #unpacked<T extends Unpacked>(name: string, unpack: () => T): T {
    const key = `${tableId(this.#snapshot.table)}/${this.#snapshot.manifest.snapshot}/${this.#codes.file} ${name}`
    const cachedUnpacked = this.#cache.get(key)
    if (cachedUnpacked !== undefined) return cachedUnpacked as T
    const unpacked = unpack()
    this.#cache.set(key, unpacked)
    return unpacked
  }

  get #shape() {
    return { rows: this.#snapshot.manifest.rows, fields: this.#codes.fields.length }
  }
}
