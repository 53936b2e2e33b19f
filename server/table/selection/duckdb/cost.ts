import type { Table } from '../../../../core/catalog/catalog.ts'
import { typeRow } from '../../../../core/catalog/field-types.ts'
import type { RowFilter } from '../../../query/query.ts'
import { operatorRow } from '../../../query/operators.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import type { Scan, Wanted } from './scan.ts'

/** Of a value that is folded before it is compared, against one that is compared as it is; measured on names. */
const foldedWeight = 6
/** Of a value by which rows are ordered: of a text, and of anything else. */
const sortedTextWeight = 30
const sortedWeight = 10
/** Of a row of an index of folded texts, in which a word is looked for. */
const indexedTextWeight = 5

/** About how many values a scan reads, weighed by what they cost. */
export function costOf(
  { table }: Snapshot,
  scan: Scan,
  { conditions, words }: Wanted,
  ordering: RowFilter['ordering'] = [],
): number {
  const compared = conditions.reduce(
    (sum, { operator }) => sum + (operatorRow(operator).takes === 'part' ? foldedWeight : 1),
    0,
  )
  const sorted = ordering.reduce(
    (sum, { field }) => sum + (isText(table, field) ? sortedTextWeight : sortedWeight),
    0,
  )
  return (compared + words.length * table.search.length * foldedWeight + sorted) * rowsOf(scan)
}

function isText({ fields }: Table, name: string): boolean {
  const field = fields.find((one) => one.name === name)
  return field !== undefined && typeRow(field.type).isText
}

/** How many rows a scan reads. */
export function rowsOf({ parts, span, rows }: Scan): number {
  const read = parts.reduce(
    (sum, part) => sum + Math.min(span.to, part.firstRow + part.rows) - Math.max(span.from, part.firstRow),
    0,
  )
  return rows === null ? read : Math.min(read, rows.length * parts.length)
}

/** The same, of the folded texts of an index. */
export function costOfWords({ parts }: Scan, words: readonly string[]): number {
  return words.length * indexedTextWeight * parts.reduce((sum, { rows }) => sum + rows, 0)
}
