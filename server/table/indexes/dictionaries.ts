import path from 'node:path'
import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldedSql, quotedText } from '../../../core/sql.ts'
import { messageOf } from '../../../core/errors.ts'
import { hashOf } from '../../../core/warehouse/hash.ts'
import { DamagedFile } from '../../../core/warehouse/whole.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { DamagedTable } from '../engine/errors.ts'
import type { Plan } from '../engine/plan.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import type { WrittenLine } from '../../formats/format.ts'
import { quotedJson } from '../../../core/text.ts'
import { Cache } from '../../base/cache.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import zlib from 'node:zlib'
import {
  codesChunks,
  countsChunk,
  countsOfAll,
  groupChunk,
  unpackGroup,
  type Codes,
} from '../../../core/warehouse/format/codes.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import { ChunkFile } from './chunk-file.ts'

/** All different values of a field, as something; the code of each is its index, and that of null their number. */
interface Entries {
  /** What it takes in memory, about. */
  readonly bytes: number
}

/** As what is asked is compared with them. */
export interface Dictionary extends Entries {
  readonly field: Field
  /** As an address has them, in their order. */
  readonly values: readonly string[]
  /** Without regard to case and accents; null where they are no texts. */
  readonly folded: readonly string[] | null
  /** By code: in how many rows it stands. */
  readonly rows: Float64Array
}

/** As lines are written with them, null last: all that a line has for a value, one after the other. */
interface Cells extends Entries {
  readonly all: Uint8Array
  /** Where that of a code begins, and that of the next one. */
  readonly starts: Uint32Array
}

/** How many different values a field of a snapshot has, where it has a dictionary. */
export function valuesOf({ manifest: { dictionary } }: Snapshot, field: string): number {
  return dictionary?.fields.find(({ name }) => name === field)?.values ?? 0
}

/** The dictionaries of snapshots, looked up when they are asked for, and kept as long as there is room. */
export class Dictionaries {
  /** Of all that are kept. */
  readonly bytesMax: number
  readonly #pool: Pool
  readonly #kept: Cache<Dictionary | Cells>
  readonly #flights = new SingleFlight<Dictionary | Cells | null>()
  readonly #verified = new WeakSet<Snapshot>()

  constructor(pool: Pool, bytesMax: number) {
    this.#pool = pool
    this.bytesMax = bytesMax
    this.#kept = new Cache(bytesMax, ({ bytes }) => bytes)
  }

  /** Null where a field has none, or a value is none that the server knows to compare. */
  async values(snapshot: Snapshot, field: Field, requester: Requester): Promise<Dictionary | null> {
    const text = typeRow(field.type).isText ? foldedSql('value') : 'null'
    return this.#of(snapshot, field, requester, 'values', ['value', text, 'rows::double'], (answer) =>
      dictionaryOf(field, answer, snapshot.manifest.rows),
    )
  }

  /** Null where a field has none. */
  async cells(
    snapshot: Snapshot,
    field: Field,
    written: WrittenLine,
    requester: Requester,
  ): Promise<Cells | null> {
    const { csv, json, stored, wire } = typeRow(field.type)
    const stands = `value::${stored(field)}`
    const value = json(stands, field)
    const isQuoted = written.takes === 'json' && wire.kind === 'text'
    const columns = {
      json: isQuoted || wire.kind === 'json' ? value : `to_json(${value})`,
      plain: csv(stands),
      // As the dictionary has it.
      rendered: 'value',
    }
    const before = written.before(field)
    return this.#of(
      snapshot,
      field,
      requester,
      `cells ${written.key}`,
      [`(${columns[written.takes]})::varchar`],
      (answer) => {
        const texts = answer.map(([text]) => {
          const plain = String(text)
          return before + written.value(isQuoted ? quotedJson(plain) : plain, field)
        })
        return cellsOf([...texts, before + written.null])
      },
    )
  }

  async #of<T extends Dictionary | Cells>(
    snapshot: Snapshot,
    field: Field,
    { client, signal }: Requester,
    what: string,
    columns: readonly string[],
    read: (answer: readonly (readonly unknown[])[]) => T | null,
  ): Promise<T | null> {
    const key = `${tableId(snapshot.table)}/${snapshot.manifest.snapshot} ${what} ${field.name}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept as T
    const plan = planOf(snapshot, field, columns)
    if (plan === null) return null
    return this.#flights.join(key, signal(), async (stop) => {
      await this.#verify(snapshot)
      const { rows } = await this.#pool.rows(plan, client, stop)
      const made = read(rows)
      if (made !== null) this.#kept.set(key, made)
      return made
    }) as Promise<T | null>
  }

  /** Hashes the dictionary once in each process, since a damaged value would stand in every page that has it. */
  async #verify(snapshot: Snapshot): Promise<void> {
    const { dictionary } = snapshot.manifest
    if (dictionary === undefined || this.#verified.has(snapshot)) return
    const letGo = await snapshot.hold([dictionary.file])
    try {
      const hash = await hashOf(path.join(snapshot.folder, dictionary.file))
      if (hash === dictionary.sha256) {
        this.#verified.add(snapshot)
        return
      }
      snapshot.takeOut(new DamagedFile(`${dictionary.file} is not as it was written`))
    } catch (error) {
      snapshot.doubt(messageOf(error))
    } finally {
      letGo()
    }
    throw new DamagedTable(tableId(snapshot.table))
  }
}

function planOf(snapshot: Snapshot, { name }: Field, columns: readonly string[]): Plan | null {
  const { folder, manifest } = snapshot
  const place = manifest.dictionary?.fields.findIndex((field) => field.name === name) ?? -1
  if (manifest.dictionary === undefined || place === -1) return null
  const { file, fields } = manifest.dictionary
  const first = fields.slice(0, place).reduce((sum, { values }) => sum + values, 0)
  const end = first + (fields[place]?.values ?? 0)
  return {
    sql: `select ${columns.join(', ')} from read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)
      where file_row_number between ${first} and ${end - 1} order by file_row_number`,
    parameters: [],
    reads: { snapshot, files: [file] },
  }
}

function dictionaryOf(
  field: Field,
  answer: readonly (readonly unknown[])[],
  rows: number,
): Dictionary | null {
  const { isText, parse } = typeRow(field.type)
  const values = answer.map(([value]) => (isText ? String(value) : parse(String(value), field)))
  if (!values.every((value) => value !== null)) return null
  const folded = isText ? answer.map(([, text]) => String(text)) : null
  const counts = new Float64Array(values.length + 1)
  for (const [code, [, , count]] of answer.entries()) counts[code] = Number(count)
  counts[values.length] = rows - counts.reduce((sum, count) => sum + count, 0)
  const bytes = counts.byteLength + bytesIn([...values, ...(folded ?? [])])
  return { field, values, folded, rows: counts, bytes }
}

function cellsOf(texts: readonly string[]): Cells {
  const all = Buffer.from(texts.join(''))
  const starts = new Uint32Array(texts.length + 1)
  for (const [code, text] of texts.entries()) starts[code + 1] = (starts[code] ?? 0) + Buffer.byteLength(text)
  return { all, starts, bytes: all.length + starts.byteLength }
}

/** Of a text beside its characters. */
const textBytes = 40

function bytesIn(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + 2 * length + textBytes, textBytes)
}

/** What is kept of files of codes, unpacked. */
export type Unpacked = Codes | Uint32Array

/** A file of codes of a snapshot, in whichever order, while an ask reads it. Fields that have none in it are refused. */
export class CodedTable {
  readonly #snapshot: Snapshot
  readonly #codes: CodesFile
  readonly #values: readonly number[]
  readonly #file: ChunkFile
  readonly #kept: Cache<Unpacked>

  constructor(snapshot: Snapshot, codes: CodesFile, kept: Cache<Unpacked>) {
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
