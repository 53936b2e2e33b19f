import path from 'node:path'
import type { Field, Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { quotedName, quotedText } from '../../core/sql.ts'

/**
 * Rows during a conversion, in five steps:
 * - `cast/` turns texts of the source into typed rows, batch by batch, and proves that both readers of the
 * source agree: `Staged`.
 * - `parts/` sorts these rows into one file, and writes the parts: `sortedSql` reads the rows in order.
 * - `expectations.ts` tests the sorted rows against the rules of the catalog.
 * - `profile/` counts their values, for the report.
 * - `indexes/` writes the files beside the parts: words, dictionary, codes, orders and row stores.
 * Each step writes a file for the next, so memory is bounded. Columns have numbers (c0, c1 for texts, f0, f1
 * for values), so that no name of a source collides with ours.
 */

/**
 * Raise it when the same source would be converted differently, so that unchanged sources are converted
 * again.
 */
export const converterVersion = 8

/**
 * A query reads the footer of each part: see docs/explanation/performance.md. A multiple of 1,000, so that
 * pages begin with chunks of the row store.
 */
export const partRowsDefault = 250_000

export interface MatchedField {
  readonly field: Field
  /** Null for a constant, or a missing column. */
  readonly column: number | null
}

/** Weights per value and per byte. */
export interface ColumnWeights {
  readonly column: number
  readonly filled: number
  readonly bytes: number
}

export interface Conversion {
  readonly db: Connection
  readonly table: Table
  readonly fields: readonly MatchedField[]
  readonly columnCount: number
  readonly weights: readonly ColumnWeights[]
  readonly scratch: string
  /** Indexes of the fields in a file of another order; undefined for all fields. */
  readonly fieldIndexes?: ReadonlySet<number>
  /** Parts with all rows, if some were reused instead of sorted; else null. */
  readonly parts: readonly RowsOfPart[] | null
}

interface RowsOfPart {
  readonly path: string
  readonly firstRow: number
  readonly rows: number
}

/** Cast batches, and facts about their rows. */
export interface Staged {
  readonly files: readonly string[]
  readonly goodRows: number
  readonly badRows: number
  /** Sum of the hashes of good rows, before anything was written. */
  readonly rowHash: bigint
  /** Bits of each field's integers without the sign; null for other types. */
  readonly bits: readonly (number | null)[]
}

export const nothingStaged: Staged = { files: [], goodRows: 0, badRows: 0, rowHash: 0n, bits: [] }

export function addStaged(first: Staged, second: Staged): Staged {
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

export const numberOf = (value: unknown): number => Number(value)

export const sortedFile = (scratch: string): string => path.join(scratch, 'sorted.parquet')

export const sortedFileSql = ({ scratch }: Conversion): string =>
  `read_parquet(${quotedText(sortedFile(scratch))}, file_row_number = true)`

/** SQL: all rows in order, with their position as file_row_number. */
export function sortedSql(conversion: Conversion): string {
  const { fields, fieldIndexes, parts } = conversion
  if (parts !== null) return partsSql(conversion, parts)
  const values = fields.flatMap(({ field }, index) => {
    if (fieldIndexes !== undefined && !fieldIndexes.has(index)) return []
    return typeRow(field.type).isNarrowed
      ? `f${index}::${typeRow(field.type).stored(field)} as f${index}`
      : `f${index}`
  })
  const columns = ['file_row_number', ...(fieldIndexes === undefined ? [] : ['position']), ...values]
  return `(select ${columns.join(', ')} from ${sortedFileSql(conversion)})`
}

export function sortedRowsSql(conversion: Conversion, first: number, rows: number): string {
  const { parts } = conversion
  const from =
    parts === null
      ? sortedSql(conversion)
      : partsSql(
          conversion,
          parts.filter((part) => part.firstRow < first + rows && part.firstRow + part.rows > first),
        )
  return `${from} where file_row_number between ${first} and ${first + rows - 1}`
}

function partsSql({ fields }: Conversion, parts: readonly RowsOfPart[]): string {
  const values = fields.map(({ field }, index) => `${quotedName(field.name)} as f${index}`)
  const starts = parts.map(({ firstRow }) => firstRow)
  const place = `([${starts.join(', ')}][file_index::integer + 1] + file_row_number)::bigint`
  const files = parts.map((part) => quotedText(part.path))
  return `(select ${[`${place} as file_row_number`, ...values].join(', ')}
    from read_parquet([${files.join(', ')}], file_row_number = true))`
}

/** Limits memory: a statement holds a few thousand rows as texts and as values. */
export const fieldsAtOnce = 500

export interface WrittenPart {
  readonly file: string
  readonly firstRow: number
  readonly rows: number
}

export interface DuePart extends WrittenPart {
  readonly sortedRow: number
}
