import type { Field, Table } from '../../core/catalog/catalog.ts'
import { areDeclared } from '../query/parameters.ts'
import type { Answer, Parameter } from '../../core/duckdb/connection.ts'

/** A format of rows. A new format is a file that implements one of the two kinds, and a line in the registry. */
export type RowFormat = LineFormat | ColumnFormat

interface AnyFormat {
  /** Value of `format=`. */
  readonly name: string
  /** Media types for `Accept`, without parameters: the canonical one first, then aliases. */
  readonly mediaTypes: readonly [string, ...string[]]
  readonly contentType: string
  /** File extension, without a dot. */
  readonly ending: string
  /**
   * True if columns come in the order of the query, or else as declared. Without this, fields come in
   * alphabetical order.
   */
  readonly hasColumns?: true
  /** Content-Disposition of a page; null for none. */
  readonly savedAs: 'inline' | 'attachment' | null
}

/** Format that writes each row as a text: in DuckDB by `line`, or from the row store by `written`. */
export interface LineFormat extends AnyFormat {
  /** SQL: a row as text, from the stored columns of `part`. */
  readonly line: (fields: readonly Field[]) => string
  /**
   * Writes the same bytes as `line` without DuckDB, from values that are already texts; absent if only DuckDB
   * writes the format.
   */
  readonly written?: WrittenLine
  readonly separator: string
  /** True if each row repeats the names of the fields, which are most of its bytes. */
  readonly repeatsNames: boolean
  /**
   * Returns the text before the rows, as `tail` returns the text after them. A format with an envelope uses
   * neither in pages.
   */
  readonly head: (fields: readonly Field[]) => string
  readonly tail: (rows: number) => string
}

export interface WrittenLine {
  /** Equal for formats that write the same bytes. */
  readonly key: string
  /**
   * Form of the values that `value` takes: JSON, the same without quotes and escapes, or the output of
   * `rendered`.
   */
  readonly valueForm: 'json' | 'plain' | 'rendered'
  /** Returns the text before each value of a field. */
  readonly before: (field: Field) => string
  readonly value: (text: string, field: Field) => string
  /**
   * Returns the rule for copying texts of a field unchanged, with or without quotes. Empty texts are never
   * copied.
   */
  readonly copies: (field: Field) => Copies
  readonly null: string
  /** Texts around and between the values of a row. */
  readonly around: { readonly before: string; readonly between: string; readonly after: string }
}

/** Rule for copying texts without special bytes. */
export interface Copies {
  /** Flag for each byte value: 0 if a text with that byte is not copied. */
  readonly isCopied: Uint8Array
  readonly quote: string
}

/** Returns `Copies.isCopied` for a rule that copies all texts without special bytes. */
export function allBytesBut(isSpecial: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isSpecial(byte) ? 0 : 1))
}

/** Rule that copies no text. */
export const copiesNothing: Copies = { isCopied: allBytesBut(() => true), quote: '' }

/** Format that writes rows column by column, with typed values. */
export interface ColumnFormat extends AnyFormat {
  /**
   * SQL: aggregates over the stored columns of `part`, with the values of all rows in their order. Each
   * returns a list (`list(...)`) or a BLOB. Texts use `encode(...)`, since other ways lose bytes.
   * @param parameter adds a parameter to the statement and returns its name in the SQL
   */
  readonly aggregates: (
    columns: readonly OutputColumn[],
    parameter: (value: Parameter) => string,
  ) => readonly string[]
  /** Starts a stream of bytes. */
  readonly writer: (columns: readonly OutputColumn[]) => Promise<ColumnWriter>
}

/** A field, with all its values if they are few and known, so that values can be written as indexes. */
export interface OutputColumn {
  readonly field: Field
  readonly choices: readonly string[] | null
}

/**
 * Writes batches of rows; callers take the bytes at their own pace. Bytes of a batch stay in memory until
 * taken, up to a million rows for an export.
 */
export interface ColumnWriter {
  /**
   * @param answer results of the aggregates, in their order
   * @param rows number of rows in the answer, at least 1
   */
  readonly write: (answer: readonly Answer[], rows: number) => void
  /** Returns the bytes written since the last call. */
  readonly takeBytes: () => readonly Uint8Array[]
  /** Writes the end of the stream. */
  readonly finish: () => void
}

/** A format with the fields to write. */
export type Form = LineForm | ColumnForm
export type LineForm = RowForm<LineFormat>
export type ColumnForm = RowForm<ColumnFormat>

interface RowForm<Format> {
  readonly format: Format
  /** Fields in the order in which they are written. */
  readonly fields: readonly Field[]
  /** Equal for all forms of a table that write the same bytes. */
  readonly key: string
}

export function rowForm(table: Table, format: RowFormat, chosen: ChosenFields): Form {
  const fields = format.hasColumns === true ? chosen.columns : chosen.fields
  const isWhole =
    format.hasColumns === true ? areDeclared(table, fields) : fields.length === table.fields.length
  const named = isWhole ? '' : ` ${JSON.stringify(fields.map(({ name }) => name))}`
  const key = `${format.name}${named}`
  return isLineFormat(format) ? { format, fields, key } : { format, fields, key }
}

/** Fields of a query. */
interface ChosenFields {
  /** Fields in alphabetical order. */
  readonly fields: readonly Field[]
  /** Fields in the order of the query, or as declared. */
  readonly columns: readonly Field[]
}

export function isLineForm(form: Form): form is LineForm {
  return isLineFormat(form.format)
}

function isLineFormat(format: RowFormat): format is LineFormat {
  return 'line' in format
}
