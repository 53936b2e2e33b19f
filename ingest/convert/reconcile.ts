import { typeRow } from '../../core/catalog/field-types.ts'
import path from 'node:path'
import type { OrderKey } from '../../core/catalog/catalog.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { TableFailure } from '../base/rejects.ts'
import { requireSame } from './proof.ts'
import type { Batch } from '../source/batches.ts'
import {
  numberOf,
  plainSql,
  expectedCount,
  sortedFileSql,
  sortedSql,
  stagedSql,
  type Staged,
  type Work,
  type DuePart,
} from './convert.ts'

/**
 * Compares what our scanner and DuckDB's reader found in a batch: the number of rows and, in each column, of
 * values and bytes. Totals do not show values that moved within a column.
 * @throws TableFailure naming the column that differs
 */
export async function reconcileStaged(work: Work, batch: Batch, file: string): Promise<Staged> {
  const ends = work.fields.map(({ field }, index) =>
    typeRow(field.type).isNarrowed ? `min(f${index}), max(f${index})` : 'null, null',
  )
  const [row = []] = await work.db.rows(`select count(*), coalesce(sum(seen), 0)::varchar,
    count_if(is_good), coalesce(sum(case when is_good then row_hash end), 0)::varchar, ${ends.join(', ')}
    from ${stagedSql([file])}`)
  await requireAgreement(work, batch, row[0], row[1])
  const goodRows = numberOf(row[2])
  return {
    files: [file],
    goodRows,
    badRows: batch.records - goodRows,
    rowHash: BigInt(String(row[3])),
    bits: work.fields.map(({ field }, index) =>
      typeRow(field.type).isNarrowed
        ? Math.max(...row.slice(4 + 2 * index, 6 + 2 * index).map(bitsOf))
        : null,
    ),
  }
}

/** Returns the number of bits that an integer takes in two's complement, without the sign bit. */
function bitsOf(value: unknown): number {
  const number = typeof value === 'bigint' ? value : BigInt(Number(value))
  return (number < 0n ? -1n - number : number).toString(2).length
}

/**
 * @param rows number of rows that DuckDB's reader saw
 * @param weightedCount weighted count of their values and bytes
 * @throws TableFailure naming the column on which the readers disagree
 */
export async function requireAgreement(
  work: Work,
  batch: Batch,
  rows: unknown,
  weightedCount: unknown,
): Promise<void> {
  requireSame('rows', batch.records, rows)
  if (String(expectedCount(batch, work.weights)) !== weightedCount) await nameColumn(work, batch)
}

/** @throws TableFailure naming the column on which the readers disagree */
async function nameColumn(work: Work, batch: Batch): Promise<never> {
  const { header, columns } = batch
  const read = [...new Set(work.weights.map(({ column }) => column))]
  const facts = read.map((column) => `count(c${column}), coalesce(sum(strlen(c${column})), 0)`)
  const found =
    (await work.db.rows(`select ${facts.join(', ')} from ${plainSql(work, batch)}`))[0]?.map(numberOf) ?? []
  for (const [place, column] of read.entries()) {
    requireSame(`values of "${header[column] ?? ''}"`, columns[column]?.filled, found[2 * place])
    requireSame(`bytes of "${header[column] ?? ''}"`, columns[column]?.bytes, found[2 * place + 1])
  }
  throw new TableFailure('verification failed: two readers of the source disagree; nothing was published')
}

/**
 * Reads the written parts back and compares sums of row hashes, with and without positions, with those of the
 * cast values. Checks also that the rows are in the declared order. The cast values matched the text of the
 * source, so a match here links the parts to the source.
 * @throws TableFailure naming the field; nothing is published then
 */
export async function reconcilePublished(
  work: Work,
  folder: string,
  parts: readonly DuePart[],
  staged: Staged,
): Promise<void> {
  // Row hashes that were computed before the sort, and moved with the rows.
  const sorted = await hashes(work, sortedFileSql(work), 'row_hash', 0)
  const names = work.fields.map(({ field }) => quotedName(field.name))
  let [rows, rowHash, positioned] = [0n, 0n, 0n]
  for (const { file, sortedRow } of parts) {
    const part = `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
    const found = await hashes(work, part, `hash(${names.join(', ')})`, sortedRow)
    rows += found.rows
    rowHash += found.whole
    positioned += found.positioned
  }
  requireSame('rows', staged.goodRows, rows)
  if (rowHash !== staged.rowHash) await nameField(work, folder, parts, staged)
  requireSame('whole rows', staged.rowHash, rowHash)
  requireSame('row positions', sorted.positioned, positioned)
  requireSame('number of rows out of the declared order', 0, await misplaced(work))
}

/**
 * Returns the number of sorted rows that belong before their predecessor. Compares values one by one instead
 * of sorting again, as an independent check of the sort.
 */
async function misplaced(work: Work): Promise<number> {
  const terms = work.table.order.map(({ field, direction }) => ({
    column: `f${work.fields.findIndex((matched) => matched.field.name === field)}`,
    direction,
  }))
  return countMisplaced(work, sortedSql(work), terms)
}

/**
 * Returns the number of rows that belong before their predecessor.
 * @param from SQL of rows with a file_row_number
 */
export async function countMisplaced(
  { db }: Work,
  from: string,
  terms: readonly { readonly column: string; readonly direction: OrderKey['direction'] }[],
): Promise<number> {
  if (terms.length === 0) return 0
  // Nulls come last in either direction.
  const isWrong = terms.reduceRight((later, { column, direction }) => {
    const sign = direction === 'asc' ? '>' : '<'
    return `coalesce(last_${column} ${sign} ${column}, last_${column} is null and ${column} is not null)
      or (last_${column} is not distinct from ${column} and (${later}))`
  }, 'false')
  const columns = terms.flatMap(({ column }) => [column, `lag(${column}) over () as last_${column}`])
  const [row] = await db.rows(`select count(*) filter (where row > 0 and (${isWrong}))
    from (select file_row_number as row, ${columns.join(', ')} from ${from})`)
  return numberOf(row?.[0])
}

/**
 * Returns the number of rows, the sum of their hashes, and a sum that includes their positions. Sums of
 * several parts can be added.
 * @param hash SQL of the hash of a row
 * @param firstRow position of the first row
 */
async function hashes(work: Work, from: string, hash: string, firstRow: number) {
  const [row = []] = await work.db.rows(`select count(*), ${sumOf('whole')},
    ${hashSum([`position + ${firstRow}`, 'whole'])}
    from (select ${hash} as whole, file_row_number as position from ${from})`)
  const [rows = 0n, whole = 0n, positioned = 0n] = row.map((value) => BigInt(String(value)))
  return { rows, whole, positioned }
}

/** @throws TableFailure naming the field whose written values differ from the cast ones */
async function nameField(
  work: Work,
  folder: string,
  parts: readonly DuePart[],
  staged: Staged,
): Promise<void> {
  const cast = work.fields.map((_, index) => `f${index}`)
  const source = await sums(work, `${stagedSql(staged.files)} where is_good`, cast)
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const names = work.fields.map(({ field }) => quotedName(field.name))
  const published = await sums(work, `read_parquet([${files.join(', ')}])`, names)
  for (const [index, { field }] of work.fields.entries()) {
    requireSame(`values of "${field.name}"`, source[index], published[index])
  }
}

async function sums(work: Work, from: string, columns: readonly string[]): Promise<string[]> {
  const [row = []] = await work.db.rows(
    `select ${columns.map((column) => hashSum([column])).join(', ')} from ${from}`,
  )
  return row.map(String)
}

function hashSum(values: readonly string[]): string {
  return sumOf(`hash(${values.join(', ')})`)
}

function sumOf(number: string): string {
  return `coalesce(sum(${number}), 0)::varchar`
}
