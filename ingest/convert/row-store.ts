import { typeRow } from '../../core/catalog/field-types.ts'
import { groupRows, type Codes } from '../../core/warehouse/codes/layout.ts'
import { sectionChunks } from '../../core/warehouse/format/chunk-file.ts'
import { chunkRows, type Texts } from '../../core/warehouse/format/row-store.ts'
import { encodeRows, type Slice } from './encode-rows.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { sortedRowsSql, sortedSql, type Work } from './convert.ts'
import type { CodedField } from './dictionary.ts'

/** A field of the table: its codes or its texts are stored. */
interface StoredField {
  readonly index: number
  readonly isCoded: boolean
  /** Rows that are read at once if it has texts. */
  readonly rowsAtOnce: number
}

/** Of the texts of a field that are in memory at once, about. */
const textBytesMax = 32_000_000

/** Writes the row store: see `core/warehouse/format/row-store.ts`. */
export class RowStoreWriter {
  readonly #work: Work
  readonly #file: ChunkWriter
  readonly #fields: readonly StoredField[]
  #rows = 0

  private constructor(work: Work, file: ChunkWriter, fields: readonly StoredField[]) {
    this.#work = work
    this.#file = file
    this.#fields = fields
  }

  static async open(work: Work, file: string, coded: readonly CodedField[]): Promise<RowStoreWriter> {
    const fields: StoredField[] = []
    for (const index of work.fields.keys()) {
      const isCoded = coded.some((one) => one.index === index)
      fields.push({ index, isCoded, rowsAtOnce: isCoded ? Infinity : await rowsAtOnceOf(work, index) })
    }
    return new RowStoreWriter(work, await ChunkWriter.open(file), fields)
  }

  /** @param codes of the next rows, by the index of the field; of a multiple of 128 rows, except for the last ones */
  async add(codes: ReadonlyMap<number, Codes>, rows: number): Promise<void> {
    const atOnce = Math.min(rows, ...this.#fields.map(({ rowsAtOnce }) => rowsAtOnce))
    for (let first = 0; first < rows; first += atOnce)
      await this.#addSome(codes, first, Math.min(rows, first + atOnce))
    this.#rows += rows
  }

  /** @throws TableFailure */
  async finish(): Promise<void> {
    await this.#file.finish()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #addSome(codes: ReadonlyMap<number, Codes>, from: number, to: number): Promise<void> {
    const columns: Slice['columns'][number][] = []
    for (const { index, isCoded } of this.#fields)
      columns.push(
        isCoded
          ? { codes: codes.get(index)?.subarray(from, to) ?? new Uint8Array() }
          : await readTexts(this.#work, index, this.#rows + from, to - from),
      )
    await this.#file.add(encodeRows({ columns, rows: to - from }))
  }
}

/** SQL: the text of a value as it is stored; see `core/warehouse/format/row-store.ts`. */
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
  const chunks = Math.floor(((groupRows / chunkRows) * textBytesMax) / Math.max(1, Number(row[0])))
  return chunkRows * Math.min(sectionChunks, Math.max(1, chunks))
}

async function readTexts(work: Work, index: number, first: number, rows: number): Promise<Texts> {
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
  return { bytes, lengths: numbers }
}
