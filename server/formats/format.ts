import type { Field, Table } from '../../core/catalog/catalog.ts'
import { areDefaultColumns } from '../query/parameters.ts'
import type { Answer, Parameter } from '../../core/duckdb/connection.ts'

/** A new format is a file that implements one of the two kinds, and a line in the registry. */
export type RowFormat = LineFormat | ColumnFormat

interface AnyFormat {
  /** Value of `format=`. */
  readonly name: string
  /** Canonical one first, without parameters, then aliases. */
  readonly mediaTypes: readonly [string, ...string[]]
  readonly contentType: string
  readonly ending: string
  /** True keeps columns in the order of the query or the declaration; otherwise they are alphabetical. */
  readonly keepsColumnOrder?: true
  readonly savedAs: 'inline' | 'attachment' | null
}

/** Writes rows as texts: by `line` in DuckDB, or `stored` from the row store. */
export interface LineFormat extends AnyFormat {
  /** SQL that writes a row from the stored columns of `part`. */
  readonly line: (fields: readonly Field[]) => string
  /** Writes the bytes of `line` from the JSON of a row. */
  readonly stored: StoredLine
  readonly separator: string
  /** Field names make up most bytes of a row. */
  readonly repeatsNames: boolean
  /** Text before the rows; `tail` is the text after them. Pages in formats with an envelope use neither. */
  readonly head: (fields: readonly Field[]) => string
  readonly tail: (rows: number) => string
  /** Packs lines into a file of several parts; absent if the lines are the file. */
  readonly pack?: (lines: AsyncIterable<Uint8Array>, workbook: Workbook) => AsyncIterable<Uint8Array>
}

export interface Workbook {
  readonly sheetNames: readonly [rows: string, description: string]
  readonly columns: readonly { readonly heading: string; readonly width: number }[]
  readonly rows: number
  readonly aboutRows: readonly (readonly string[])[]
  readonly date: Date
}

export interface StoredLine {
  /** The line of all fields equals the stored JSON of the row. */
  readonly isJson: boolean
  /** Texts around and between the values of a row. */
  readonly around: { readonly before: string; readonly between: string; readonly after: string }
  readonly before: (field: Field) => string
  readonly copies: (field: Field) => Copies
  readonly value: (json: string, field: Field) => string
  readonly null: string
}

export interface Copies {
  /**
   * A flag per byte: 0 forbids copying values that contain it, apart from their quotes. Null copies all
   * values.
   */
  readonly isCopied: Uint8Array | null
  /** Quotes around texts are copied too. Without them, an empty text is not copied. */
  readonly hasQuotes: boolean
}

export const copiesAll: Copies = { isCopied: null, hasQuotes: true }

/** Copies values that contain none of these bytes, without their quotes. */
export function copiesWithout(special: string): Copies {
  // Escapes begin with a backslash.
  const isCopied = Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(byte !== backslash && !special.includes(String.fromCharCode(byte))),
  )
  return { isCopied, hasQuotes: false }
}

const backslash = '\\'.charCodeAt(0)

export const copiesNothing: Copies = { isCopied: new Uint8Array(256), hasQuotes: false }

export interface ColumnFormat extends AnyFormat {
  /**
   * SQL aggregates over `part`; each returns all values in order, as a list (`list(...)`) or BLOB. Texts use
   * `encode(...)`, since other ways lose bytes.
   */
  readonly aggregates: (
    columns: readonly OutputColumn[],
    parameter: (value: Parameter) => string,
  ) => readonly string[]
  readonly writer: (columns: readonly OutputColumn[]) => Promise<ColumnWriter>
}

/** A field, and all its values if few and known: the writer then sends indexes. */
export interface OutputColumn {
  readonly field: Field
  readonly choices: readonly string[] | null
}

/**
 * Writes batches of rows; their bytes stay in memory until `takeBytes`, for an export up to a million rows.
 */
export interface ColumnWriter {
  /**
   * @param answer results of the aggregates in order
   * @param rows at least 1
   */
  readonly write: (answer: readonly Answer[], rows: number) => void
  readonly takeBytes: () => readonly Uint8Array[]
  readonly finish: () => void
}

export type Form = LineForm | ColumnForm
export type LineForm = RowForm<LineFormat>
export type ColumnForm = RowForm<ColumnFormat>

interface RowForm<Format> {
  readonly format: Format
  readonly fields: readonly Field[]
  /** Equal for forms that write the same bytes. */
  readonly key: string
}

export function rowForm(table: Table, format: RowFormat, chosenFields: ChosenFields): Form {
  const fields = format.keepsColumnOrder === true ? chosenFields.columns : chosenFields.fields
  const isWhole =
    format.keepsColumnOrder === true
      ? areDefaultColumns(table, fields)
      : fields.length === table.fields.length
  const fieldNames = isWhole ? '' : ` ${JSON.stringify(fields.map(({ name }) => name))}`
  const key = `${format.name}${fieldNames}`
  return isLineFormat(format) ? { format, fields, key } : { format, fields, key }
}

interface ChosenFields {
  readonly fields: readonly Field[]
  /** Order of the query, or as declared. */
  readonly columns: readonly Field[]
}

export function isLineForm(form: Form): form is LineForm {
  return isLineFormat(form.format)
}

function isLineFormat(format: RowFormat): format is LineFormat {
  return 'line' in format
}
