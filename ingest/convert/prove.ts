import path from 'node:path'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../core/warehouse/sql.ts'
import { TableFailure } from '../rejects.ts'
import type { ColumnFacts } from '../source/scan.ts'
import { numberOf, plainSql, seenIn, sortedSql, stagedSql, type Work, type WrittenPart } from './convert.ts'
import { valueSql } from './values.ts'

/** What our scanner counted, without DuckDB. */
export interface Witness {
  readonly header: readonly string[]
  readonly columns: readonly ColumnFacts[]
  readonly records: number
}

/** What the staged rows say of themselves. */
export interface Staged {
  readonly goodRows: number
  readonly badRows: number
  /** Sum of the hashes of the good rows, taken before anything was written. */
  readonly rowHash: bigint
}

/**
 * Two readers must agree on the source: our scanner and DuckDB's, on the number of rows and, in each column that is
 * read, of values and their bytes.
 *
 * @throws TableFailure naming the column
 */
export async function proveStaged(work: Work, witness: Witness): Promise<Staged> {
  const [row = []] = await work.db.rows(`select count(*), coalesce(sum(seen), 0)::varchar,
    count(*) filter (where is_good), coalesce(sum(row_hash) filter (where is_good), 0)::varchar from ${stagedSql(work)}`)
  const seen = work.fields.map(({ column }, index) => {
    const facts = column === null ? undefined : witness.columns[column]
    return facts === undefined ? 0n : seenIn(index, facts.filled, facts.bytes)
  })
  requireSame('rows', witness.records, row[0])
  if (String(seen.reduce((sum, one) => sum + one, 0n)) !== row[1]) await nameColumn(work, witness)
  const goodRows = numberOf(row[2])
  return { goodRows, badRows: witness.records - goodRows, rowHash: BigInt(String(row[3])) }
}

/** @throws TableFailure naming the column that the two readers see differently */
async function nameColumn(work: Work, { header, columns }: Witness): Promise<never> {
  const facts = columns.map((_, index) => `count(c${index}), coalesce(sum(strlen(c${index})), 0)`)
  const found =
    (await work.db.rows(`select ${facts.join(', ')} from ${plainSql(work)}`))[0]?.map(numberOf) ?? []
  for (const [index, column] of columns.entries()) {
    requireSame(`values of "${header[index] ?? ''}"`, column.filled, found[2 * index])
    requireSame(`bytes of "${header[index] ?? ''}"`, column.bytes, found[2 * index + 1])
  }
  throw new TableFailure('the proof failed: two readers of the source do not agree; nothing was published')
}

/**
 * Re-reads the written parts and compares them with what was cast: the rows as wholes by the sum of their hashes, and
 * each row's position. A hash was taken of values whose rendering had been compared with the text of the source.
 *
 * @throws TableFailure naming the field; nothing is published then
 */
export async function provePublished(
  work: Work,
  folder: string,
  parts: readonly WrittenPart[],
  staged: Staged,
): Promise<void> {
  const sorted = await hashes(
    work,
    sortedSql(work),
    work.fields.map((_, index) => `f${index}`),
    0,
  )
  const names = work.fields.map(({ field }) => quotedName(field.name))
  let [rows, whole, positioned] = [0n, 0n, 0n]
  for (const { file, firstRow } of parts) {
    const part = `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
    const found = await hashes(work, part, names, firstRow)
    rows += found.rows
    whole += found.whole
    positioned += found.positioned
  }
  requireSame('rows', staged.goodRows, rows)
  if (whole !== staged.rowHash) await nameField(work, folder, parts)
  requireSame('rows as wholes', staged.rowHash, whole)
  requireSame('positions of the rows', sorted.positioned, positioned)
}

/** Sums of hashes, which do not depend on the order of the rows and add up over parts. */
async function hashes(work: Work, from: string, columns: readonly string[], firstRow: number) {
  const [row = []] = await work.db.rows(`select count(*), ${sumOf('whole')},
    ${hashSum([`position + ${firstRow}`, 'whole'])}
    from (select hash(${columns.join(', ')}) as whole, file_row_number as position from ${from})`)
  const [rows = 0n, whole = 0n, positioned = 0n] = row.map((value) => BigInt(String(value)))
  return { rows, whole, positioned }
}

/** @throws TableFailure naming the field whose values, written out as text, are not those of the source */
async function nameField(work: Work, folder: string, parts: readonly WrittenPart[]): Promise<void> {
  const sql = work.fields.map((matched) => valueSql(matched, work.table.source))
  const isGood = sql.map((value) => value.isGood).join(' and ')
  const rendered = work.fields.map(({ field }, index) =>
    typeRow(field.type).rendered(sql[index]?.value ?? 'null'),
  )
  const source = await sums(work, `${plainSql(work)} where ${isGood}`, rendered)
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const published = await sums(
    work,
    `read_parquet([${files.join(', ')}])`,
    work.fields.map(({ field }) => typeRow(field.type).rendered(quotedName(field.name))),
  )
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

function requireSame(what: string, source: unknown, read: unknown): void {
  if (String(source) === String(read)) return
  throw new TableFailure(
    `the proof failed: the ${what} differ (source ${String(source)}, read back ${String(read)}); nothing was published`,
  )
}
