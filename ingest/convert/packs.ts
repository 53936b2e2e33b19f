import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import zlib from 'node:zlib'
import { typeRow } from '../../core/catalog/field-types.ts'
import { groupRows, sectionRows, type Codes } from '../../core/warehouse/codes/layout.ts'
import {
  Pack,
  packed,
  packRows,
  PackSections,
  packsEnd,
  packsIn,
  placeIn,
  sectionPacks,
  type PackedColumn,
} from '../../core/warehouse/packs/layout.ts'
import type { Piece } from '../../core/warehouse/file-checks.ts'
import { TableFailure } from '../rejects.ts'
import { sortedRowsSql, sortedSql, type Work } from './convert.ts'
import { sumsOf, type CodedField, type DueSums } from './dictionary.ts'
import { bytesAt, requireSame } from './proof.ts'

/** A field of the table: its codes or its texts are packed. */
interface PackedField {
  readonly name: string
  readonly index: number
  readonly coded: CodedField | null
  /** So many are read at once where it has texts. */
  readonly rowsAtOnce: number
}

/** Of the texts of a field that are in memory at once, about. */
const textBytesMax = 32_000_000

/** Writes all rows in packs: see `core/warehouse/packs/layout.ts`. */
export class PacksWriter {
  readonly #work: Work
  readonly #handle: FileHandle
  readonly #fields: readonly PackedField[]
  readonly #packs: Omit<Piece, 'start'>[] = []
  #bytes = 0
  #rows = 0

  private constructor(work: Work, handle: FileHandle, fields: readonly PackedField[]) {
    this.#work = work
    this.#handle = handle
    this.#fields = fields
  }

  static async open(work: Work, file: string, coded: readonly CodedField[]): Promise<PacksWriter> {
    const fields: PackedField[] = []
    for (const [index, { field }] of work.fields.entries()) {
      const known = coded.find((one) => one.index === index) ?? null
      const rowsAtOnce = known === null ? await rowsAtOnceOf(work, index) : 0
      fields.push({ name: field.name, index, coded: known, rowsAtOnce })
    }
    return new PacksWriter(work, await open(file, 'wx+'), fields)
  }

  /** @param codes of the next rows, by the index of the field; of a multiple of 128 rows, but for the last ones */
  async add(codes: ReadonlyMap<number, Codes>, rows: number): Promise<void> {
    const atOnce = Math.min(
      rows,
      ...this.#fields.flatMap(({ coded, rowsAtOnce }) => (coded === null ? [rowsAtOnce] : [])),
    )
    for (let first = 0; first < rows; first += atOnce)
      await this.#addSome(codes, first, Math.min(rows, first + atOnce))
    this.#rows += rows
  }

  async #addSome(codes: ReadonlyMap<number, Codes>, from: number, to: number): Promise<void> {
    const texts = new Map<number, readonly (string | null)[]>()
    for (const { index, coded } of this.#fields)
      if (coded === null) texts.set(index, await readTexts(this.#work, index, this.#rows + from, to - from))
    const packs: Buffer[] = []
    for (let first = from; first < to; first += packRows) {
      const end = Math.min(to, first + packRows)
      const columns = this.#fields.map(({ index }): PackedColumn => {
        const known = texts.get(index)
        return known === undefined
          ? { codes: codes.get(index)?.subarray(first, end) ?? new Uint8Array() }
          : { texts: known.slice(first - from, end - from) }
      })
      const pack = packed(columns)
      packs.push(pack)
      this.#packs.push({ length: pack.length, sum: zlib.crc32(pack) })
    }
    await this.#append(Buffer.concat(packs))
  }

  /**
   * Writes what says where all lies, and reads everything back.
   *
   * @param due by the index of the field
   * @throws TableFailure
   */
  async finish(due: ReadonlyMap<number, DueSums>): Promise<void> {
    await this.#append(packsEnd(this.#packs))
    const shape = { rows: this.#rows, bytes: this.#bytes }
    const length = PackSections.bytes(shape)
    const sections = PackSections.read(await bytesAt(this.#handle, shape.bytes - length, length), shape)
    if (sections === null) throw damaged()
    const proofs = this.#fields.map((field) => new Proof(field, due.get(field.index)))
    const areCoded = this.#fields.map(({ coded }) => coded !== null)
    const last = packsIn(shape.rows)
    for (let first = 0; first < last; first += sectionPacks) {
      const section = first / sectionPacks
      const directory = await this.#read(sections.directory(section))
      const places = sections.places(section, directory)
      for (let pack = first; pack < Math.min(last, first + sectionPacks); pack += 1) {
        const rows = Math.min(packRows, shape.rows - pack * packRows)
        const read = new Pack(await this.#read(placeIn(places, pack - first)), rows, areCoded)
        for (const [field, proof] of proofs.entries()) proof.add(read, field, rows)
      }
    }
    for (const proof of proofs) await proof.finish(this.#work, shape.rows)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, this.#bytes)
    this.#bytes += bytes.length
  }

  async #read({ start, length, sum }: Piece): Promise<Buffer> {
    const bytes = await bytesAt(this.#handle, start, length)
    if (zlib.crc32(bytes) !== sum) throw damaged()
    return bytes
  }
}

const damaged = (): TableFailure =>
  new TableFailure('packs are not as they were written; nothing was published')

/** SQL: the text of a value as it is packed; see `core/warehouse/packs/layout.ts`. */
function textSql({ fields }: Work, index: number): string {
  const field = fields[index]?.field
  if (field === undefined) throw new RangeError(`the table has no field ${index}`)
  const { json, wire } = typeRow(field.type)
  const value = json(`f${index}`, field)
  return wire.kind === 'text' || wire.kind === 'json' ? value : `to_json(${value})::varchar`
}

/** A multiple of 128 rows whose texts fit into memory. */
async function rowsAtOnceOf(work: Work, index: number): Promise<number> {
  const [row = []] = await work.db.rows(
    `select max(bytes)::double from (select sum(strlen(${textSql(work, index)})) as bytes from ${sortedSql(work)}
      group by file_row_number // ${groupRows})`,
  )
  const packs = Math.floor(((groupRows / packRows) * textBytesMax) / Math.max(1, Number(row[0])))
  return packRows * Math.min(sectionPacks, Math.max(1, packs))
}

async function readTexts(work: Work, index: number, first: number, rows: number): Promise<(string | null)[]> {
  const [bytes, lengths] = await work.db.columns(
    `select coalesce(encode(string_agg(text, '' order by row)), ''::blob),
        list((coalesce(strlen(text) + 1, 0))::uinteger order by row)
      from (select (file_row_number - ${first})::uinteger as row,
        case when f${index} is not null then ${textSql(work, index)} end as text from ${sortedRowsSql(work, first, rows)})`,
    [],
    {},
  )
  const numbers = lengths === undefined || lengths instanceof Uint8Array ? null : lengths.values
  if (!(bytes instanceof Uint8Array) || !(numbers instanceof Uint32Array))
    throw new TypeError('expected texts and their lengths')
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = 0
  return Array.from(numbers, (length) => {
    if (length === 0) return null
    end += length - 1
    return all.toString('utf8', end - length + 1, end)
  })
}

/** Compares a field of all packs with the sorted rows, group by group. */
class Proof {
  readonly #field: PackedField
  readonly #due: DueSums | undefined
  readonly #found: (number | string)[] = []
  readonly #codes = new Uint16Array(groupRows)
  #hash = createHash('sha256')
  #rows = 0

  constructor(field: PackedField, due: DueSums | undefined) {
    this.#field = field
    this.#due = due
  }

  add(pack: Pack, place: number, rows: number): void {
    if (this.#field.coded === null) {
      const texts = pack.texts(place)
      this.#hash.update(
        texts.map((text) => (text === null ? '-' : `${Buffer.byteLength(text)}:${text}`)).join(''),
      )
    } else for (let row = 0; row < rows; row += 1) this.#codes[this.#rows + row] = pack.code(place, row)
    this.#rows += rows
    if (this.#rows === groupRows) this.#endGroup()
  }

  /** @throws TableFailure */
  async finish(work: Work, rows: number): Promise<void> {
    if (this.#rows > 0) this.#endGroup()
    const { name, index } = this.#field
    const due = this.#due === undefined ? await hashesOf(work, index, rows) : [...this.#due.sums]
    requireSame(`packs of "${name}"`, due.join(' '), this.#found.join(' '))
  }

  #endGroup(): void {
    if (this.#due === undefined) this.#found.push(this.#hash.digest('hex'))
    else this.#found.push(...sumsOf(this.#codes.subarray(0, this.#rows), this.#due))
    this.#hash = createHash('sha256')
    this.#rows = 0
  }
}

/** Of the texts of each group as `Proof` reads them back; section by section, since what is put in order is held in memory. */
async function hashesOf(work: Work, index: number, rows: number): Promise<string[]> {
  const text = `case when f${index} is not null then ${textSql(work, index)} end`
  const hashes: string[] = []
  for (let first = 0; first < rows; first += sectionRows) {
    const found = await work.db.rows(
      `select sha256(string_agg(coalesce(strlen(text) || ':' || text, '-'), '' order by row))
        from (select file_row_number as row, ${text} as text from ${sortedRowsSql(work, first, sectionRows)})
        group by row // ${groupRows} order by row // ${groupRows}`,
    )
    hashes.push(...found.map(([hash]) => String(hash)))
  }
  return hashes
}
