import path from 'node:path'
import { blobBytes, type Value } from '../../../../../core/duckdb/vectors.ts'
import type { Part } from '../../../../../core/warehouse/manifest.ts'
import { orderTerm, quotedName, quotedText } from '../../../../../core/sql.ts'
import type { RowFilter } from '../../../../query/query.ts'
import { typeRow } from '../../../../../core/catalog/field-types.ts'
import { Parameters, type Plan } from '../../../engine/plan.ts'
import type { Snapshot } from '../../../../snapshots/snapshot.ts'
import type { PartRows } from '../../row-set.ts'
import { conditionSql, wordSql, type SqlDialect } from '../../where.ts'
import { duckDbDialect } from './dialect.ts'
import { changeColumns, earlierSql, fieldsWithOld } from '../../../../../core/warehouse/changes.ts'
import { baseOf } from '../../../../query/date-parts.ts'
import type { Span } from '../order.ts'
import type { Table } from '../../../../../core/catalog/catalog.ts'
import { operatorRow } from '../../../../query/operators.ts'

/** Parts that can match, and the span of positions to scan. */
export interface Scan {
  readonly parts: readonly Part[]
  readonly span: Span
  /** Row numbers of candidates, looked up in every part; null for all rows. */
  readonly rows: readonly number[] | null
}

export function scanOf({ manifest }: Snapshot, span: Span): Scan {
  const parts = manifest.parts.filter(
    ({ firstRow, rows }) => firstRow < span.to && firstRow + rows > span.from,
  )
  return { parts, span, rows: null }
}

export function restrictTo(scan: Scan, positions: Uint32Array): Scan {
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

/** A row satisfies all conditions and words. */
export type ScanFilter = Pick<RowFilter, 'conditions' | 'words'>

/** Matching rows of each part as bits, in one pass over the columns. */
export function planBits(snapshot: Snapshot, scan: Scan, filter: ScanFilter): Plan {
  const { from, where, parameters, reads } = filterSql(snapshot, scan, filter)
  return {
    sql: `select file_index::integer, count(*)::integer, bitstring_agg(file_row_number, 0, ${bitsOf(scan) - 1})::blob
      from ${from} where ${where} group by file_index order by file_index`,
    parameters,
    reads,
  }
}

export function readBits({ parts }: Scan, rows: readonly (readonly Value[])[]): PartRows[] {
  return rows.map(([index, count, bits]) => ({
    firstRow: parts[Number(index)]?.firstRow ?? 0,
    count: Number(count),
    rows: blobBytes(bits),
  }))
}

/** Rows that have every word, as bits, from the index of folded texts. */
export function planWords(
  snapshot: Snapshot,
  { parts }: Scan,
  files: readonly string[],
  words: readonly string[],
): Plan {
  const parameters = new Parameters()
  const dialect = duckDbDialect(parameters)
  const terms = words.map((word) => wordSql(['words'], word, dialect))
  const list = files.map((file) => quotedText(path.join(snapshot.folder, file)))
  return {
    sql: `select file_index::integer, count(*)::integer, bitstring_agg(file_row_number, 0, ${bitsOf({ parts }) - 1})::blob
      from read_parquet([${list.join(', ')}], file_row_number = true)
      where ${terms.join(' and ')} group by file_index order by file_index`,
    parameters: parameters.values,
    reads: { snapshot, files },
  }
}

/** Number of matching rows in each part. */
export function planCounts(snapshot: Snapshot, scan: Scan, filter: RowFilter): Plan {
  const { from, where, parameters, reads } = filterSql(snapshot, scan, filter)
  return {
    sql: `select file_index::integer, count(*)::integer from ${from} where ${where} group by file_index order by file_index`,
    parameters,
    reads,
  }
}

export function planOrdered(
  snapshot: Snapshot,
  scan: Scan,
  filter: RowFilter,
  { first, limit }: { readonly first: number; readonly limit: number | null },
): Plan {
  const { from, where, parameters, reads } = filterSql(snapshot, scan, filter)
  const starts = scan.parts.map(({ firstRow }) => firstRow).join(', ')
  const window = limit === null ? '' : ` limit ${limit} offset ${first}`
  return {
    sql: `select ([${starts}][file_index::integer + 1] + file_row_number)::uinteger as acervo_position from ${from}
      where ${where} order by ${[...filter.ordering.map((key) => orderTerm(key)), 'acervo_position asc'].join(', ')}${window}`,
    parameters,
    reads,
  }
}

export function planOver(
  snapshot: Snapshot,
  scan: Scan,
  filter: ScanFilter,
  sql: (rows: { readonly from: string; readonly where: string }) => string,
): Plan {
  const { parameters, reads, ...rows } = filterSql(snapshot, scan, filter)
  return { sql: sql(rows), parameters, reads }
}

/** Whole bytes, equal for all parts: otherwise DuckDB puts unused bits before the first row. */
function bitsOf({ parts }: Pick<Scan, 'parts'>): number {
  return 8 * Math.ceil(Math.max(...parts.map(({ rows }) => rows)) / 8)
}

function filterSql(
  snapshot: Snapshot,
  { parts, span, rows }: Scan,
  { conditions, words }: ScanFilter,
): { from: string; where: string } & Pick<Plan, 'parameters' | 'reads'> {
  const { table, folder, changes } = snapshot
  const parameters = new Parameters()
  const searchedFields = table.fields.filter(({ name }) => table.search.includes(name))
  const termsIn = (dialect: SqlDialect): string[] => [
    ...conditions.map((condition) => conditionSql(condition, dialect)),
    ...words.map((word) => wordSql(searchedFields.map(dialect.foldedSql), word, dialect)),
  ]
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const testedFields = [
    ...conditions.map(({ field }) => baseOf(field)),
    ...(words.length > 0 ? searchedFields : []),
  ]
  const terms = termsIn(duckDbDialect(parameters))
  if (changes !== undefined && testedFields.some(({ name }) => fieldsWithOld(changes).includes(name))) {
    // A changed row also matches by its earlier values.
    const isChanged = `${quotedName(changeColumns(changes.fields).kindColumn)} = 'changed'`
    const earlierTerms = termsIn(duckDbDialect(parameters, (name) => earlierSql(name, changes)))
    const laterTerms = terms.splice(0)
    terms.push(`(${laterTerms.join(' and ')} or ${[isChanged, ...earlierTerms].join(' and ')})`)
  }
  if (rows !== null) terms.push(`file_row_number in (${rows.join(', ')})`)
  const [part, second] = parts
  // Row numbers restart in each part, so they can limit only one part; for several parts, statistics skip row
  // groups.
  if (part !== undefined && second === undefined) {
    terms.push(`file_row_number between ${span.from - part.firstRow} and ${span.to - part.firstRow - 1}`)
  }
  return {
    from: `read_parquet([${files.join(', ')}], file_row_number = true)`,
    where: terms.join(' and ') || 'true',
    parameters: parameters.values,
    reads: { snapshot, files: parts.map(({ file }) => file) },
  }
}

/** Cost relative to an unfolded value, measured on names. */
const foldedWeight = 6
/** Texts take longer to sort than other values. */
const sortedTextWeight = 30
const sortedWeight = 10
/** Cost per row of the index of folded texts. */
const indexedTextWeight = 5

export function costOf(
  { table }: Snapshot,
  scan: Scan,
  { conditions, words }: ScanFilter,
  ordering: RowFilter['ordering'] = [],
): number {
  const comparisonCost = conditions.reduce(
    (sum, { operator }) => sum + (operatorRow(operator).operandKind === 'part' ? foldedWeight : 1),
    0,
  )
  const sortCost = ordering.reduce(
    (sum, { field }) => sum + (isText(table, field) ? sortedTextWeight : sortedWeight),
    0,
  )
  return (comparisonCost + words.length * table.search.length * foldedWeight + sortCost) * rowsOf(scan)
}

function isText({ fields }: Table, name: string): boolean {
  const field = fields.find((item) => item.name === name)
  return field !== undefined && typeRow(field.type).isText
}

export function rowsOf({ parts, span, rows }: Scan): number {
  const rowsRead = parts.reduce(
    (sum, part) => sum + Math.min(span.to, part.firstRow + part.rows) - Math.max(span.from, part.firstRow),
    0,
  )
  return rows === null ? rowsRead : Math.min(rowsRead, rows.length * parts.length)
}

export function costOfWords({ parts }: Scan, words: readonly string[]): number {
  return words.length * indexedTextWeight * parts.reduce((sum, { rows }) => sum + rows, 0)
}
