import { typeRow } from '../../core/catalog/field-types.ts'
import { groupRows, type Codes } from '../../core/warehouse/format/codes.ts'
import { sectionChunks } from '../../core/warehouse/format/chunk-file.ts'
import { chunkRows, type ChunkColumn } from '../../core/warehouse/format/row-store.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { numberOf, sortedRowsSql, sortedSql, type Work } from './convert.ts'
import type { CodedField } from './dictionary.ts'
import { encodeRows } from './encode-rows.ts'

/** A field of the table in its stored form: codes, whole numbers, or texts. */
interface StoredField {
  readonly index: number
  readonly kind: 'codes' | 'integers' | 'texts'
  /** Decimal places of numbers. */
  readonly digits: number
  /** Number of rows that are read at a time; Infinity unless the field is stored as texts. */
  readonly rowsAtOnce: number
}

/** Approximate maximum size of a field's texts in memory, in bytes. */
const textBytesMax = 32_000_000
/**
 * Limits of numbers that are stored as integers. Beyond either limit, a double is inexact, or JSON writes a
 * number otherwise than DuckDB.
 */
const integerMax = 1e15
const digitsMax = 4

/** Columns of consecutive rows, by the index of their field. */
type Columns = ReadonlyMap<number, ChunkColumn>

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
      const common = { index, digits: 0, rowsAtOnce: Infinity }
      fields.push(isCoded ? { ...common, kind: 'codes' } : await storedField(work, index))
    }
    return new RowStoreWriter(work, await ChunkWriter.open(file), fields)
  }

  /**
   * Reads the values without codes of some rows in advance; null if they do not fit into memory, so that
   * `add` reads them in steps.
   */
  async read(first: number, rows: number): Promise<Columns | null> {
    return rows > this.#rowsAtOnce ? null : this.#read(first, rows)
  }

  /**
   * Adds the next rows: a multiple of 128, except at the end.
   * @param codes codes of these rows, by the index of the field
   * @param uncodedColumns result of `read` for these rows
   */
  async add(codes: ReadonlyMap<number, Codes>, uncodedColumns: Columns | null, rows: number): Promise<void> {
    const atOnce = Math.min(rows, this.#rowsAtOnce)
    for (let first = 0; first < rows; first += atOnce) {
      const some = Math.min(atOnce, rows - first)
      const read = uncodedColumns ?? (await this.#read(this.#rows + first, some))
      const columns = this.#fields.map(({ index }): ChunkColumn => {
        const own = codes.get(index)?.subarray(first, first + some)
        return own === undefined ? (read.get(index) ?? { codes: new Uint8Array() }) : { codes: own }
      })
      await this.#file.add(encodeRows({ columns, rows: some }))
    }
    this.#rows += rows
  }

  /** @throws TableFailure if the file differs when it is read back */
  async finish(): Promise<void> {
    await this.#file.finish()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  get #rowsAtOnce(): number {
    return Math.min(...this.#fields.map(({ rowsAtOnce }) => rowsAtOnce))
  }

  async #read(first: number, rows: number): Promise<Columns> {
    const columns = new Map<number, ChunkColumn>()
    const numbers = this.#fields.filter(({ kind }) => kind === 'integers')
    const integers = numbers.length === 0 ? [] : await readIntegers(this.#work, numbers, first, rows)
    for (const [place, { index, digits }] of numbers.entries())
      columns.set(index, { integers: integers[place] ?? new Float64Array(), digits })
    for (const { index, kind } of this.#fields)
      if (kind === 'texts') columns.set(index, await readTexts(this.#work, index, first, rows))
    return columns
  }
}

async function storedField(work: Work, index: number): Promise<StoredField> {
  const field = fieldAt(work, index)
  const digits = field.type === 'integer' ? 0 : field.type === 'decimal' ? field.scale : Infinity
  if (digits <= digitsMax) {
    const [[max] = []] = await work.db.rows(
      `select coalesce(max(abs(${integerSql(index, digits)})), 0) from ${sortedSql(work)}`,
    )
    if (numberOf(max) < integerMax) return { index, kind: 'integers', digits, rowsAtOnce: Infinity }
  }
  return { index, kind: 'texts', digits: 0, rowsAtOnce: await rowsAtOnceOf(work, index) }
}

function fieldAt({ fields }: Work, index: number) {
  const field = fields[index]?.field
  if (field === undefined) throw new RangeError(`the table has no field ${index}`)
  return field
}

/** SQL: a value as a whole number, without its decimal point. */
const integerSql = (index: number, digits: number): string =>
  digits === 0 ? `f${index}::double` : `round(f${index}::double * ${10 ** digits})`

/** SQL: the text of a value as it is stored; see `core/warehouse/format/row-store.ts`. */
function textSql(work: Work, index: number): string {
  const field = fieldAt(work, index)
  const { json, wire } = typeRow(field.type)
  const value = json(`f${index}`, field)
  return wire.kind === 'text' || wire.kind === 'json' ? value : `to_json(${value})::varchar`
}

/** Returns the number of rows to read at a time, so that their texts fit into memory: a multiple of 128. */
async function rowsAtOnceOf(work: Work, index: number): Promise<number> {
  const [row = []] = await work.db.rows(
    `select max(bytes)::double from (select sum(strlen(${textSql(work, index)})) as bytes from ${sortedSql(work)}
      group by file_row_number // ${groupRows})`,
  )
  const chunks = Math.floor(((groupRows / chunkRows) * textBytesMax) / Math.max(1, Number(row[0])))
  return chunkRows * Math.min(sectionChunks, Math.max(1, chunks))
}

/** Reads the values of fields as whole numbers without decimal points, in the order of the rows; NaN for null. */
async function readIntegers(
  work: Work,
  fields: readonly StoredField[],
  first: number,
  rows: number,
): Promise<Float64Array[]> {
  const values = fields.map(({ index, digits }) => `coalesce(${integerSql(index, digits)}, 'nan'::double)`)
  const [positions = new Float64Array(), ...columns] = await work.db.doubleColumns(
    `select ${[`(file_row_number - ${first})::double`, ...values].join(', ')} from ${sortedRowsSql(work, first, rows)}`,
  )
  return columns.map((column) => {
    const placed = new Float64Array(rows).fill(Number.NaN)
    for (let row = 0; row < column.length; row += 1) placed[positions[row] ?? 0] = column[row] ?? 0
    return placed
  })
}

async function readTexts(work: Work, index: number, first: number, rows: number): Promise<ChunkColumn> {
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
