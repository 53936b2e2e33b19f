import path from 'node:path'
import { bytesOf, type Value } from '../../../../core/duckdb/vectors.ts'
import type { Part } from '../../../../core/warehouse/manifest.ts'
import { foldedSql, orderTerm, quotedName, quotedText } from '../../../../core/sql.ts'
import type { RowFilter } from '../../../query/query.ts'
import { typeRow } from '../../../../core/catalog/field-types.ts'
import { Parameters, type Plan } from '../../engine/plan.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import type { Grouping } from '../selections.ts'
import type { PartRows } from '../row-set.ts'
import { conditionSql, wordSql } from '../where.ts'
import { duckDbDialect } from './dialect.ts'
import type { Span } from '../sorted-rows.ts'
import { duckdbVersion } from '../../../../core/duckdb/database.ts'
import type { Table } from '../../../../core/catalog/catalog.ts'
import { operatorRow } from '../../../query/operators.ts'

/** Some parts of a snapshot, read only where they can have a row. */
export interface Scan {
  readonly parts: readonly Part[]
  readonly span: Span
  /** Numbers in their part of the rows that can be right, whichever part that is; null where all can. */
  readonly rows: readonly number[] | null
}

export function scanOf({ manifest }: Snapshot, span: Span): Scan {
  const parts = manifest.parts.filter(
    ({ firstRow, rows }) => firstRow < span.to && firstRow + rows > span.from,
  )
  return { parts, span, rows: null }
}

/** The same, of which only some rows can be right. */
export function narrowed(scan: Scan, positions: Uint32Array): Scan {
  const parts = new Set<Part>()
  const rows = new Set<number>()
  for (const position of positions) {
    const part = scan.parts.findLast(({ firstRow }) => firstRow <= position)
    if (part === undefined || position >= part.firstRow + part.rows) continue
    parts.add(part)
    rows.add(position - part.firstRow)
  }
  return { ...scan, parts: scan.parts.filter((part) => parts.has(part)), rows: [...rows] }
}

/** What must hold of a row. */
export type Wanted = Pick<RowFilter, 'conditions' | 'words'>

/** Which rows of each part are right, as bits: one pass over the columns that the filter names, and no others. */
export function planBits(snapshot: Snapshot, scan: Scan, filter: Wanted): Plan {
  const { from, where, parameters, reads } = filtered(snapshot, scan, filter)
  return {
    sql: `select file_index::integer, count(*)::integer, bitstring_agg(file_row_number, 0, ${bitsOf(scan) - 1})::blob
      from ${from} where ${where} group by file_index order by file_index`,
    parameters,
    reads,
  }
}

/** @param rows the answer to `planBits` */
export function readBits({ parts }: Scan, rows: readonly (readonly Value[])[]): PartRows[] {
  return rows.map(([index, count, bits]) => ({
    firstRow: parts[Number(index)]?.firstRow ?? 0,
    count: Number(count),
    rows: bytesOf(bits),
  }))
}

/** As `planBits`, of the folded texts of the index: which rows hold every word. */
export function planWords(
  snapshot: Snapshot,
  { parts }: Scan,
  files: readonly string[],
  words: readonly string[],
): Plan {
  const parameters = new Parameters()
  const terms = words.map((word) => `contains(words, ${foldedSql(parameters.add(word))})`)
  const list = files.map((file) => quotedText(path.join(snapshot.folder, file)))
  return {
    sql: `select file_index::integer, count(*)::integer, bitstring_agg(file_row_number, 0, ${bitsOf({ parts }) - 1})::blob
      from read_parquet([${list.join(', ')}], file_row_number = true)
      where ${terms.join(' and ')} group by file_index order by file_index`,
    parameters: parameters.values,
    reads: { snapshot, files },
  }
}

/** How many rows of each part are right, for those parts that have some. */
export function planCounts(snapshot: Snapshot, scan: Scan, filter: RowFilter): Plan {
  const { from, where, parameters, reads } = filtered(snapshot, scan, filter)
  return {
    sql: `select file_index::integer, count(*)::integer from ${from} where ${where} group by file_index order by file_index`,
    parameters,
    reads,
  }
}

/** The positions of the right rows in another order than theirs; ties by position. */
export function planOrdered(
  snapshot: Snapshot,
  scan: Scan,
  filter: RowFilter,
  slice: { readonly first: number; readonly rows: number } | null,
): Plan {
  const { from, where, parameters, reads } = filtered(snapshot, scan, filter)
  const starts = scan.parts.map(({ firstRow }) => firstRow).join(', ')
  const limit = slice === null ? '' : ` limit ${slice.rows} offset ${slice.first}`
  return {
    sql: `select ([${starts}][file_index::integer + 1] + file_row_number)::uinteger as acervo_position from ${from}
      where ${where} order by ${[...filter.ordering.map((key) => orderTerm(key)), 'acervo_position asc'].join(', ')}${limit}`,
    parameters,
    reads,
  }
}

/** @param max so many groups at most, and one more where there are more */
export function planGroups(
  snapshot: Snapshot,
  scan: Scan,
  filter: RowFilter,
  { by, length, measure }: Grouping,
  max: number,
): Plan {
  const { from, where, parameters, reads } = filtered(snapshot, scan, filter)
  const whole = typeRow(by.type).rendered(quotedName(by.name))
  const key = length === null ? whole : `left(${whole}, ${length})`
  const sum = measure === null ? 'null' : `sum(${quotedName(measure.name)})`
  // Bytes come through as they are.
  return {
    sql: `select encode(key), rows, total from (select ${key} as key, count(*)::double as rows, (${sum})::varchar as total from ${from}
      where ${where} group by 1) order by key nulls last limit ${max + 1}`,
    parameters,
    reads,
  }
}

/** A byte holds eight rows, and every part has as many bytes, so that none has bits before its first row. */
function bitsOf({ parts }: Pick<Scan, 'parts'>): number {
  return 8 * Math.ceil(Math.max(...parts.map(({ rows }) => rows)) / 8)
}

function filtered(
  snapshot: Snapshot,
  { parts, span, rows }: Scan,
  { conditions, words }: Wanted,
): { from: string; where: string } & Pick<Plan, 'parameters' | 'reads'> {
  const { table, folder } = snapshot
  const parameters = new Parameters()
  const dialect = duckDbDialect(parameters)
  const searched = table.fields.filter(({ name }) => table.search.includes(name))
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const terms = [
    ...conditions.map((condition) => conditionSql(condition, dialect)),
    ...words.map((word) => wordSql(searched, word, dialect)),
  ]
  if (rows !== null) terms.push(`file_row_number in (${rows.join(', ')})`)
  const [part, other] = parts
  // Several parts are told apart by their own statistics.
  if (part !== undefined && other === undefined) {
    terms.push(`file_row_number between ${span.from - part.firstRow} and ${span.to - part.firstRow - 1}`)
  }
  return {
    from: `read_parquet([${files.join(', ')}], file_row_number = true)`,
    where: terms.join(' and ') || 'true',
    parameters: parameters.values,
    reads: { snapshot, files: parts.map(({ file }) => file) },
  }
}

/**
 * The files that hold the words of the parts of a scan; null where not all do, others are searched by now, or another
 * version of DuckDB folded them, which may fold some character in another way than the one that folds the query.
 */
export function wordIndexes({ manifest, table }: Snapshot, { parts }: Scan): string[] | null {
  if (manifest.tools['duckdb'] !== duckdbVersion) return null
  const files = parts.flatMap((part) => {
    const number = manifest.parts.indexOf(part)
    const index = manifest.indexes?.find((one) => one.part === number)
    return index?.fields.join('\n') === table.search.join('\n') ? [index.file] : []
  })
  return files.length === parts.length && files.length > 0 ? files : null
}

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
