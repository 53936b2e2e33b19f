import type { Field, Table } from '../../core/catalog/catalog.ts'
import { arrowStream } from './arrow.ts'
import { csvLines, jsonLines, ndjsonLines, type LineFormat } from './lines.ts'

/** What rows can be had as; the first is the specification's. */
export const rowFormats = [jsonLines, csvLines, ndjsonLines, arrowStream] as const
export type RowFormat = LineFormat | typeof arrowStream

/** How rows are written: in which format, and which fields of them. */
export interface Written<Format> {
  readonly format: Format
  /** In alphabetical order. */
  readonly fields: readonly Field[]
  /** Alike for all that write the same; of a table. */
  readonly key: string
}

/** Of a format that writes each row as a text. */
export type RowForm = Written<LineFormat>

export function writtenAs<Format extends RowFormat>(
  table: Table,
  format: Format,
  fields: readonly Field[],
): Written<Format> {
  const isWhole = fields.length === table.fields.length
  const named = isWhole ? '' : ` ${JSON.stringify(fields.map(({ name }) => name))}`
  return { format, fields, key: `${format.name}${named}` }
}

export function isLines(form: Written<RowFormat>): form is RowForm {
  return 'line' in form.format
}
