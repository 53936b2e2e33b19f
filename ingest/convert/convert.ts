import { randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { rowGroupRows } from '../../core/warehouse/layout.ts'
import { orderTerms } from '../../core/warehouse/manifest.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import type { Progress } from '../base/progress.ts'
import { detailedRejectsMax } from '../base/rejects.ts'
import type { Batch } from '../source/batches.ts'
import { recordBytesMax } from '../source/soundness.ts'
import type { MatchedField } from './match.ts'
import { valuesSql } from './values.ts'

/**
 * Converts batches of a source in plain form into typed Parquet files, then sorts all rows, then writes
 * parts. Each step writes a file that the next one reads, so memory is bounded for any size. Columns are
 * named by number inside (c0, c1 for texts, f0, f1 for values), so that no name of a source collides with
 * ours.
 */

/**
 * Version of the conversion. Raise it when the same source would be cast, sorted, profiled or written
 * differently, so that unchanged sources are converted again. Version 1 lost a leading U+FEFF of values in
 * the profile. Version 3 omitted trailing zeros of decimals in the row store, and treated times of wide
 * tables as texts in the profile. Version 4 wrote downloads of several gzip members,
 * and folded case and accents alone in the words of searches. Version 5 packed the values of rows bit by bit.
 * Version 6 had 32 rows in a chunk of the row store. Version 7 had larger dictionaries in tables of 100 to 2,000
 * fields.
 */
export const converterVersion = 8

/**
 * Rows of a part. A query must read the footer of each part, which is longer for more rows: see
 * docs/explanation/performance.md for tables of 3, 18 and 45 fields. A multiple of 1,000: in a
 * table without partitions, pages then begin where chunks of the row store begin.
 */
export const partRowsDefault = 250_000
/** Row group size of temporary files, where fewer and larger groups are cheaper. */
export const scratchGroupRows = 131_072

/** A table during conversion. */
export interface Work {
  readonly db: Connection
  readonly table: Table
  readonly fields: readonly MatchedField[]
  /** Number of columns of the header. */
  readonly columns: number
  /** Weights of the columns that are read. */
  readonly weights: readonly ColumnWeights[]
  /** Folder of temporary files that one step writes for the next. */
  readonly scratch: string
  /**
   * Indexes of the fields in a file that is sorted in another order, besides `position`; undefined if it has
   * all fields.
   */
  readonly fieldIndexes?: ReadonlySet<number>
  /** Parts from which all rows are read, if not all of them were sorted here; else null. */
  readonly parts: readonly RowsOfPart[] | null
}

/** A part, and the position of its rows in the table. */
interface RowsOfPart {
  /** Absolute path. */
  readonly path: string
  readonly firstRow: number
  readonly rows: number
}

/** Cast batches, and facts about their rows. */
export interface Staged {
  readonly files: readonly string[]
  readonly goodRows: number
  readonly badRows: number
  /** Sum of the hashes of good rows, taken before anything was written. */
  readonly rowHash: bigint
  /** Maximum number of bits of the integers of each field, without the sign; null for other types. */
  readonly bits: readonly (number | null)[]
}

export const nothingStaged: Staged = { files: [], goodRows: 0, badRows: 0, rowHash: 0n, bits: [] }

export function together(one: Staged, other: Staged): Staged {
  return {
    files: [...one.files, ...other.files],
    goodRows: one.goodRows + other.goodRows,
    badRows: one.badRows + other.badRows,
    rowHash: one.rowHash + other.rowHash,
    bits: other.bits.map((bits, index) => (bits === null ? null : Math.max(bits, one.bits[index] ?? 0))),
  }
}

/** DuckDB returns `count` as a bigint. */
export const numberOf = (value: unknown): number => Number(value)

/**
 * SQL: the rows of a batch as texts, with the columns that fields need; empty texts are null. All options are
 * set, so that DuckDB guesses nothing. Several threads read only files without line feeds in values, since
 * they would split such values.
 */
export function plainSql(
  { table, columns, weights }: Work,
  { pieces, breaks, longest }: Batch,
  isInOrder = false,
): string {
  const { delimiter, quote } = table.source
  const files = pieces.map(({ file }) => quotedText(file))
  // Escaped or added quotes make a line longer than its record.
  const line = 2 * Math.max(longest, lineBytes)
  const names = Array.from({ length: columns }, (_, index) => `c${index}: 'VARCHAR'`)
  const read = [...new Set(weights.map(({ column }) => `c${column}`)), pieceColumn]
  return `(select ${read.join(', ')} from read_csv([${files.join(', ')}],
    auto_detect = false, header = true, delim = ${quotedText(delimiter)}, quote = ${quotedText(quote ?? '')},
    escape = ${quotedText(quote ?? '')}, new_line = '\\n', nullstr = '', strict_mode = true,
    parallel = ${!isInOrder && breaks === 0}, filename = '${pieceColumn}', max_line_size = ${line}, buffer_size = ${2 * line},
    columns = {${names.join(', ')}}))`
}

/** Maximum size of an ordinary record in bytes. DuckDB's reader allocates several buffers of four times this. */
const lineBytes = 8 * 1024 * 1024
/** Column with the file of a row. */
const pieceColumn = 'piece'

/** SQL: the constant value of a field without a column, which may differ between files; null if it is empty. */
export function constantSql({ pieces }: Batch): (field: string) => string {
  return (field) => {
    const texts = pieces.map(({ constants }) => constants.get(field) ?? '')
    const [first = ''] = texts
    if (texts.every((text) => text === first)) return filledSql(first)
    const cases = pieces.map(
      ({ file }, index) => `when ${quotedText(file)} then ${filledSql(texts[index] ?? '')}`,
    )
    return `(case ${pieceColumn} ${cases.join(' ')} end)`
  }
}

const filledSql = (text: string): string => (text === '' ? 'null::varchar' : quotedText(text))

export const sortedFile = (scratch: string): string => path.join(scratch, 'sorted.parquet')

export const stagedSql = (files: readonly string[]): string =>
  `read_parquet([${files.map(quotedText).join(', ')}], file_row_number = true)`

export const sortedFileSql = ({ scratch }: Work): string =>
  `read_parquet(${quotedText(sortedFile(scratch))}, file_row_number = true)`

/** SQL: all rows in their order, with their position as file_row_number. */
export function sortedSql(work: Work): string {
  const { fields, fieldIndexes, parts } = work
  if (parts !== null) return partsSql(work, parts)
  const values = fields.flatMap(({ field }, index) => {
    if (fieldIndexes !== undefined && !fieldIndexes.has(index)) return []
    return typeRow(field.type).isNarrowed
      ? `f${index}::${typeRow(field.type).stored(field)} as f${index}`
      : `f${index}`
  })
  const all = ['file_row_number', ...(fieldIndexes === undefined ? [] : ['position']), ...values]
  return `(select ${all.join(', ')} from ${sortedFileSql(work)})`
}

export function sortedRowsSql(work: Work, first: number, rows: number): string {
  const { parts } = work
  const from =
    parts === null
      ? sortedSql(work)
      : partsSql(
          work,
          parts.filter((part) => part.firstRow < first + rows && part.firstRow + part.rows > first),
        )
  return `${from} where file_row_number between ${first} and ${first + rows - 1}`
}

function partsSql({ fields }: Work, parts: readonly RowsOfPart[]): string {
  const values = fields.map(({ field }, index) => `${quotedName(field.name)} as f${index}`)
  const starts = parts.map(({ firstRow }) => firstRow)
  const place = `([${starts.join(', ')}][file_index::integer + 1] + file_row_number)::bigint`
  const files = parts.map((part) => quotedText(part.path))
  return `(select ${[`${place} as file_row_number`, ...values].join(', ')}
    from read_parquet([${files.join(', ')}], file_row_number = true))`
}

/**
 * Casts all rows of a batch into a Parquet file, and returns its path. A row has its values f0, f1, ..., and
 * their hash, computed before they are written. `is_good` is true if all values are valid. `seen` is a
 * weighted count of the values and bytes that the reader saw.
 */
export async function stage(work: Work, batch: Batch): Promise<string> {
  const file = `${batch.pieces[0]?.file ?? ''}.parquet`
  const groups = Array.from({ length: Math.ceil(work.fields.length / fieldsAtOnce) }, (_, group) =>
    castSql(work, batch, group),
  )
  const parts = groups.map((sql, group) => ({ sql, file: `${file}.${group}` }))
  // Every file has the rows in the order of the batch, so a positional join completes each row.
  if (parts.length > 1)
    for (const part of parts)
      await work.db.rows(`copy (${part.sql}) to ${quotedText(part.file)} ${scratchFormat(work)}`)
  const from =
    parts.length > 1
      ? parts.map((part) => `read_parquet(${quotedText(part.file)})`).join(' positional join ')
      : `(${groups.join('')})`
  const names = work.fields.map((_, index) => `f${index}`).join(', ')
  await work.db.rows(`copy (
    select ${names}, ${groups.map((_, group) => `is_good_${group}`).join(' and ')} as is_good,
      ${groups.map((_, group) => `seen_${group}`).join(' + ')} as seen,
      hash(${names}) as row_hash, ${batch.before}::bigint as before from ${from})
    to ${quotedText(file)} ${scratchFormat(work)}`)
  if (parts.length > 1) await Promise.all(parts.map((part) => rm(part.file)))
  return file
}

/** Maximum number of fields that one statement casts: some thousand rows are in memory, as texts and as values. */
export const fieldsAtOnce = 500

/** SQL: options of `copy` for a Parquet file with all fields of a table. */
function parquetFormat(work: Work, codec: 'lz4_raw' | 'zstd', groupRows: number): string {
  const page = Math.floor(Math.min(dictionaryBytes, dictionariesBytesMax / work.fields.length))
  return `(format parquet, codec ${codec}, row_group_size ${groupRows}, string_dictionary_page_size_limit ${page})`
}

function scratchFormat(work: Work): string {
  const rows = Math.floor(groupValuesMax / work.fields.length / vectorRows) * vectorRows
  return parquetFormat(work, 'lz4_raw', Math.min(scratchGroupRows, Math.max(vectorRows, rows)))
}

/** Maximum number of values of a row group in a temporary file: each thread has a row group in memory. */
const groupValuesMax = 16_000_000
/** Rows of a vector, the unit in which DuckDB processes rows. */
const vectorRows = 2048

/** Maximum size of a dictionary page, as of DuckDB. */
const dictionaryBytes = 1024 * 1024
/**
 * Maximum size of all dictionary pages together. DuckDB allocates one per text column before it knows the number of
 * values.
 */
const dictionariesBytesMax = 100_000_000

/** SQL: the values of a group of fields, whether all are good, and a weighted count of them. */
function castSql(work: Work, batch: Batch, group: number): string {
  const first = group * fieldsAtOnce
  const own = work.fields.slice(first, first + fieldsAtOnce)
  const columns = new Set(own.map(({ column }) => column))
  const some = { ...work, fields: own, weights: work.weights.filter(({ column }) => columns.has(column)) }
  const { fields, from } = valuesSql(own, plainSql(some, batch), constantSql(batch))
  const values = fields.map(({ value }, index) => `${value} as f${first + index}`)
  const areGood = fields.map(({ isGood }) => isGood).join(' and ')
  return `select ${values.join(', ')}, ${areGood} as is_good_${group}, ${weightedCountSql(some)} as seen_${group} from ${from}`
}

/** Weights of a column in the weighted count of a batch: `filled` per value, `bytes` per byte. */
interface ColumnWeights {
  /** Index in the header. */
  readonly column: number
  readonly filled: number
  readonly bytes: number
}

/**
 * Bits of a weight. A line has at most `2 * recordBytesMax` bytes and values, so its sum fits in 63 bits,
 * which DuckDB adds fast.
 */
const weightBits = 63 - Math.log2(2 * (2 * recordBytesMax))

/**
 * Draws random weights, so that no source can be crafted to hide a misreading. If two readers see a batch
 * differently, their sums are equal at most once in 2^36 times.
 */
export function drawWeights(fields: readonly MatchedField[]): ColumnWeights[] {
  return fields.flatMap(({ column }) =>
    column === null ? [] : [{ column, filled: drawWeight(), bytes: drawWeight() }],
  )
}

function drawWeight(): number {
  return randomInt(1, 2 ** weightBits)
}

/** SQL: weighted count of a row. */
export function weightedCountSql({ weights }: Work): string {
  const terms = weights.map(({ column, filled, bytes }) =>
    cellCountSql(`c${column}`, String(filled), String(bytes)),
  )
  return ['0', ...terms].join(' + ')
}

const cellCountSql = (text: string, filled: string, bytes: string): string =>
  `coalesce(${filled} + ${bytes} * strlen(${text}), 0)`

/** Returns the weighted count that `stage` must find in all columns that are read. */
export function expectedCount({ columns }: Batch, weights: readonly ColumnWeights[]): bigint {
  return weights.reduce((sum, { column, ...weight }) => {
    const { filled, bytes } = columns[column] ?? { filled: 0, bytes: 0 }
    return sum + BigInt(weight.filled) * BigInt(filled) + BigInt(weight.bytes) * BigInt(bytes)
  }, 0n)
}

/** A value that its declared type does not allow. */
export interface BadValue {
  /** Index in the source, from 0; rejected rows do not count. */
  readonly record: number
  readonly field: string
  readonly text: string
  readonly reason: string
}

/** Returns the number of bad values of a batch, and the first ones in their order. */
export async function badValues(
  work: Work,
  batch: Batch,
  valuesMax = detailedRejectsMax,
): Promise<{ count: number; values: readonly BadValue[] }> {
  const { fields, from } = valuesSql(work.fields, plainSql(work, batch), constantSql(batch))
  const counts = fields.map(({ isGood }) => `count_if(not ${isGood})`)
  const found = (await work.db.rows(`select ${counts.join(', ')} from ${from}`))[0]?.map(numberOf) ?? []
  const count = found.reduce((sum, bad) => sum + bad, 0)
  if (valuesMax === 0) return { count, values: [] }
  const bad = fields.flatMap(({ text, isGood }, index) =>
    found[index] === 0 ? [] : [{ index, text, isGood }],
  )
  const inOrder = valuesSql(work.fields, plainSql(work, batch, true), constantSql(batch)).from
  const rows = await work.db.rows(`select record, field, text from ${textsSql(batch, bad, inOrder)}
    where not is_good order by record, field limit ${valuesMax}`)
  const values = rows.map(([record, field, text]) => ({
    record: numberOf(record),
    field: work.fields[numberOf(field)]?.field.name ?? '',
    text: String(text),
    reason: `is not ${fields[numberOf(field)]?.expects ?? ''}`,
  }))
  return { count, values }
}

/**
 * SQL: a row for each cell of some fields, with its `record`, the index of its `field`, its `text` and
 * whether it `is_good`.
 * @param from SQL of the rows of a batch, in their order
 */
export function textsSql(
  { before }: Batch,
  fields: readonly { readonly index: number; readonly text: string; readonly isGood: string }[],
  from: string,
): string {
  const [indexes, texts, areGood] = [
    fields.map(({ index }) => index),
    fields.map(({ text }) => text),
    fields.map(({ isGood }) => isGood),
  ].map((items) => `unnest([${items.join(', ')}])`)
  return `(select record, ${indexes} as field, ${texts} as text, ${areGood} as is_good
    from (select *, ${before} + row_number() over () - 1 as record from ${from}))`
}

/** Integer types by their bits without the sign. */
const narrowTypes = [
  [7, 'TINYINT'],
  [15, 'SMALLINT'],
  [31, 'INTEGER'],
  [63, 'BIGINT'],
] as const

/**
 * Sorts the good rows, with their hashes, by the declared order, then by their position in the source.
 * Integers are narrowed for the sort, which makes it a fifth cheaper.
 */
export async function sort(work: Work, { files, bits }: Staged): Promise<void> {
  const values = work.fields.map((_, index) => {
    const narrow = narrowTypes.find(([typeBits]) => typeBits >= (bits[index] ?? Infinity))
    return narrow === undefined ? `f${index}` : `f${index}::${narrow[1]} as f${index}`
  })
  const keys = orderTerms(
    work.table,
    (name) => `f${work.fields.findIndex(({ field }) => field.name === name)}`,
  )
  await work.db.rows(`copy (select ${values.join(', ')}, row_hash from ${stagedSql(files)} where is_good
    order by ${[...keys, 'before + file_row_number asc'].join(', ')})
    to ${quotedText(sortedFile(work.scratch))} ${scratchFormat(work)}`)
}

export interface WrittenPart {
  readonly file: string
  readonly firstRow: number
  readonly rows: number
}

/** A part written from the rows sorted here, unlike a reused one. */
export interface DuePart extends WrittenPart {
  /** Position of its first row among the rows sorted here. */
  readonly sortedRow: number
}

/** Writes sorted rows as parts into a folder. */
export async function writeParts(
  work: Work,
  folder: string,
  parts: readonly DuePart[],
  progress: Progress,
): Promise<void> {
  const columns = work.fields.map(({ field }, index) => `f${index} as ${quotedName(field.name)}`)
  const due = parts.reduce((sum, { rows }) => sum + rows, 0)
  // A partition may begin inside a row group of the sorted file: without sorting, DuckDB would write
  // incomplete row groups.
  const inOrder = work.table.partition === null ? '' : 'order by file_row_number'
  let writtenRows = 0
  for (const { file, sortedRow, rows } of parts) {
    await work.db
      .rows(`copy (select ${columns.join(', ')} from ${sortedRowsSql(work, sortedRow, rows)} ${inOrder})
      to ${quotedText(path.join(folder, file))} ${parquetFormat(work, 'zstd', rowGroupRows)}`)
    writtenRows += rows
    progress.advance({ fraction: writtenRows / due, rows: writtenRows })
  }
}
