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

/** Format that writes each row as a text: in DuckDB by `line`, or from the row store by `stored`. */
export interface LineFormat extends AnyFormat {
  /** SQL: a row as text, from the stored columns of `part`. */
  readonly line: (fields: readonly Field[]) => string
  /** Writes the same bytes as `line` from the JSON of a row. */
  readonly stored: StoredLine
  readonly separator: string
  /** True if each row repeats the names of the fields, which are most of its bytes. */
  readonly repeatsNames: boolean
  /**
   * Returns the text before the rows, as `tail` returns the text after them. A format with an envelope uses
   * neither in pages.
   */
  readonly head: (fields: readonly Field[]) => string
  readonly tail: (rows: number) => string
  /** Packs the lines of all rows into a file of several parts; absent if the lines are the file. */
  readonly pack?: (lines: AsyncIterable<Uint8Array>, workbook: Workbook) => AsyncIterable<Uint8Array>
}

/** Everything of a workbook besides its rows. */
export interface Workbook {
  /** Names of the sheet with the rows, and of the one that describes them. */
  readonly sheetNames: readonly [rows: string, description: string]
  /** Headings of the columns, and their widths in characters. */
  readonly columns: readonly { readonly heading: string; readonly width: number }[]
  readonly rows: number
  /** Lines of the sheet that describes the rows, each a list of cells. */
  readonly aboutRows: readonly (readonly string[])[]
  readonly date: Date
}

/** Describes how a line is written from the values of a row in JSON. */
export interface StoredLine {
  /** True if a line with all fields is the JSON of the row itself. */
  readonly isJson: boolean
  /** Texts around and between the values of a row. */
  readonly around: { readonly before: string; readonly between: string; readonly after: string }
  /** Returns the text before each value of a field. */
  readonly before: (field: Field) => string
  readonly copies: (field: Field) => Copies
  /** Writes another value, from its JSON. */
  readonly value: (json: string, field: Field) => string
  readonly null: string
}

/** Rule for copying values in JSON as they are. */
export interface Copies {
  /**
   * Flag for each byte: 0 if a value with that byte, apart from the quotes around it, is not copied. Null to copy all
   * values.
   */
  readonly isCopied: Uint8Array | null
  /** True if the quotes around a text are copied too. Without them, an empty text is not copied. */
  readonly hasQuotes: boolean
}

/** Rule that copies all values. */
export const copiesAll: Copies = { isCopied: null, hasQuotes: true }

/** Returns a rule that copies values without some bytes, and without quotes around them. */
export function copiesWithout(special: string): Copies {
  // Escapes begin with a backslash.
  const isCopied = Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(byte !== backslash && !special.includes(String.fromCharCode(byte))),
  )
  return { isCopied, hasQuotes: false }
}

const backslash = '\\'.charCodeAt(0)

/** Rule that copies no value. */
export const copiesNothing: Copies = { isCopied: new Uint8Array(256), hasQuotes: false }

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
  readonly finish: () => void
}

/** A format with the fields to write. */
export type Form = LineForm | ColumnForm
export type LineForm = RowForm<LineFormat>
export type ColumnForm = RowForm<ColumnFormat>

interface RowForm<Format> {
  readonly format: Format
  readonly fields: readonly Field[]
  /** Equal for all forms of a table that write the same bytes. */
  readonly key: string
}

export function rowForm(table: Table, format: RowFormat, chosen: ChosenFields): Form {
  const fields = format.hasColumns === true ? chosen.columns : chosen.fields
  const isWhole =
    format.hasColumns === true ? areDeclared(table, fields) : fields.length === table.fields.length
  const fieldNames = isWhole ? '' : ` ${JSON.stringify(fields.map(({ name }) => name))}`
  const key = `${format.name}${fieldNames}`
  return isLineFormat(format) ? { format, fields, key } : { format, fields, key }
}

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
