import path from 'node:path'
import type { Field, Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { quotedName, quotedText } from '../../core/sql.ts'

/**
 * Rows during a conversion, in five steps, each with a folder or a file of its own:
 *
 * - `cast/` turns texts of the source into typed rows, batch by batch, and proves that both readers of the source saw
 *   the same: `Staged`.
 * - `parts/` sorts these rows into one file, and writes the parts from it: `sortedSql` reads the rows in their order.
 * - `expectations.ts` tests the sorted rows against the rules of the catalog.
 * - `profile/` counts their values, for the report.
 * - `indexes/` writes the files beside the parts: words, dictionary, codes, orders and row stores.
 *
 * Each step writes a file that the next one reads, so memory is bounded for any size. Columns are named by number
 * (c0, c1 for texts, f0, f1 for values), so that no name of a source collides with ours.
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

/** A field and its column in the source. */
export interface MatchedField {
  readonly field: Field
  /** Index in the header; null for a constant, or a missing column. */
  readonly column: number | null
}

/** Weights of a column in the weighted count of a batch: `filled` per value, `bytes` per byte. */
export interface ColumnWeights {
  /** Index in the header. */
  readonly column: number
  readonly filled: number
  readonly bytes: number
}

/** A table during conversion: where its rows are, and how its columns are named. All steps share it. */
export interface Work {
  readonly db: Connection
  readonly table: Table
  readonly fields: readonly MatchedField[]
  readonly columns: number
  /** Weights of the columns that are read. */
  readonly weights: readonly ColumnWeights[]
  readonly scratch: string
  /**
   * Indexes of the fields in a file that is sorted in another order, besides `position`; undefined if it has
   * all fields.
   */
  readonly fieldIndexes?: ReadonlySet<number>
  /** Parts from which all rows are read, if not all of them were sorted here; else null. */
  readonly parts: readonly RowsOfPart[] | null
}

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

export function together(first: Staged, second: Staged): Staged {
  return {
    files: [...first.files, ...second.files],
    goodRows: first.goodRows + second.goodRows,
    badRows: first.badRows + second.badRows,
    rowHash: first.rowHash + second.rowHash,
    bits: second.bits.map((bits, index) => (bits === null ? null : Math.max(bits, first.bits[index] ?? 0))),
  }
}

export const stagedSql = (files: readonly string[]): string =>
  `read_parquet([${files.map(quotedText).join(', ')}], file_row_number = true)`

/** DuckDB returns `count` as a bigint. */
export const numberOf = (value: unknown): number => Number(value)

export const sortedFile = (scratch: string): string => path.join(scratch, 'sorted.parquet')

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
  const columns = ['file_row_number', ...(fieldIndexes === undefined ? [] : ['position']), ...values]
  return `(select ${columns.join(', ')} from ${sortedFileSql(work)})`
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

/** Maximum number of fields that one statement casts: some thousand rows are in memory, as texts and as values. */
export const fieldsAtOnce = 500

/** A part of a snapshot. */
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
