import type { Field, Table } from '../../core/catalog/catalog.ts'
import { areDeclared } from '../query/parameters.ts'
import type { Answer, Parameter } from '../../core/duckdb/connection.ts'

/** What rows can be written as. A new format is a file that implements one of the two kinds, and a line of the registry. */
export type RowFormat = LineFormat | ColumnFormat

interface AnyFormat {
  /** As in `format=`. */
  readonly name: string
  /** As in `Accept`, without parameters; the first is its own, others lead to it. */
  readonly mediaTypes: readonly [string, ...string[]]
  readonly contentType: string
  /** Of the name of a file of it, without a dot. */
  readonly ending: string
  /** Columns come in the order in which a query lists them, or as declared; without it, in alphabetical order. */
  readonly hasColumns?: true
  /** How a page of it is to be shown or saved, as a file of a name; null where that is nobody's wish. */
  readonly savedAs: 'inline' | 'attachment' | null
}

/** Writes each row as a text of its own: the engine writes them, one statement for all. */
export interface LineFormat extends AnyFormat {
  /** SQL: a row as text, from the stored columns of `part`. */
  readonly line: (fields: readonly Field[]) => string
  /** As `line` writes it, of values that are texts already; not there where DuckDB alone writes it. */
  readonly written?: WrittenLine
  /** Stands between two rows. */
  readonly separator: string
  /** Whether each row has the names of the fields, which are most of it then. */
  readonly repeatsNames: boolean
  /** What comes before and after the rows, where no envelope does. */
  readonly head: (fields: readonly Field[]) => string
  readonly tail: (rows: number) => string
}

export interface WrittenLine {
  /** Alike for formats that write the same. */
  readonly key: string
  /** What it is given of a value: as JSON has it, or that without quotes and escapes, or as `rendered` writes it. */
  readonly takes: 'json' | 'plain' | 'rendered'
  /** What stands before each value of a field. */
  readonly before: (field: Field) => string
  readonly value: (text: string, field: Field) => string
  /** Which texts of a field are written byte by byte as they are, in quotes or not. Empty ones never are. */
  readonly copies: (field: Field) => Copies
  readonly null: string
  /** What stands around the values of a row. */
  readonly around: { readonly before: string; readonly between: string; readonly after: string }
}

/** How texts without special bytes are written. */
export interface Copies {
  /** By byte: 0 if a text that has it is not copied. */
  readonly isCopied: Uint8Array
  readonly quote: string
}

/** Returns the bytes of a text that is copied: all but some. */
export function allBytesBut(isSpecial: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isSpecial(byte) ? 0 : 1))
}

/** No text is copied. */
export const copiesNothing: Copies = { isCopied: allBytesBut(() => true), quote: '' }

/** Writes rows column by column, each value of its own type. */
export interface ColumnFormat extends AnyFormat {
  /**
   * SQL: aggregates that bring the values of all rows, in the order of the rows, from the stored columns of `part`: lists
   * (`list(...)`) or BLOBs, texts as `encode(...)`, since others lose bytes on their way.
   *
   * @param parameter makes a value a parameter of the statement, and tells how the SQL names it
   */
  readonly aggregates: (
    columns: readonly Column[],
    parameter: (value: Parameter) => string,
  ) => readonly string[]
  /** Begins to write, from the first byte on. */
  readonly writer: (columns: readonly Column[]) => Promise<ColumnWriter>
}

/** A field, and all its values where they are few and known, so that a number can stand for each. */
export interface Column {
  readonly field: Field
  readonly choices: readonly string[] | null
}

/**
 * Writes batches of rows, for whoever takes the bytes at their own pace. What is not given out batch by batch is held in
 * memory, for an export up to a million rows of it.
 */
export interface ColumnWriter {
  /**
   * @param answer to the aggregates, in their order
   * @param rows how many there are, 1 at least
   */
  readonly write: (answer: readonly Answer[], rows: number) => void
  /** What was written since it was last asked. */
  readonly taken: () => readonly Uint8Array[]
  /** No batch follows; what ends the bytes is written. */
  readonly finish: () => void
}

/** How rows are written: in which format, and which fields of them. */
export type Form = LineForm | ColumnForm
export type LineForm = Written<LineFormat>
export type ColumnForm = Written<ColumnFormat>

interface Written<Format> {
  readonly format: Format
  /** In the order in which they are written. */
  readonly fields: readonly Field[]
  /** Equal for all forms of a table that write the same. */
  readonly key: string
}

/** The form of the rows of a query in a format. */
export function formOf(table: Table, format: RowFormat, chosen: ChosenFields): Form {
  const fields = format.hasColumns === true ? chosen.columns : chosen.fields
  const isWhole =
    format.hasColumns === true ? areDeclared(table, fields) : fields.length === table.fields.length
  const named = isWhole ? '' : ` ${JSON.stringify(fields.map(({ name }) => name))}`
  const key = `${format.name}${named}`
  return isLineFormat(format) ? { format, fields, key } : { format, fields, key }
}

/** The fields that a query chooses. */
interface ChosenFields {
  /** In alphabetical order. */
  readonly fields: readonly Field[]
  /** In the order in which the query lists them, or as declared. */
  readonly columns: readonly Field[]
}

export function isLineForm(form: Form): form is LineForm {
  return isLineFormat(form.format)
}

function isLineFormat(format: RowFormat): format is LineFormat {
  return 'line' in format
}
