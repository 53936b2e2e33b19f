import path from 'node:path'
import { typeRow } from '../core/catalog/field-types.ts'
import type { Connection } from '../core/warehouse/duckdb.ts'
import { quotedName, quotedText } from '../core/warehouse/sql.ts'
import type { MatchedField } from './check.ts'
import { numberOf, type WrittenPart } from './convert.ts'
import type { Progress } from './progress.ts'
import { TableFailure } from './rejects.ts'
import type { CsvScanner } from './scan.ts'

/** What the proof found in one field, for the report. */
export interface ProvedField {
  readonly name: string
  readonly nulls: number
}

/**
 * Two readers must agree on the source: our scanner and DuckDB's, on the number of rows and, in each column,
 * of values and their bytes.
 *
 * @throws TableFailure naming the column
 */
export async function proveStaged(db: Connection, scanner: CsvScanner): Promise<void> {
  const facts = scanner.columns.map((_, index) => `count(c${index}), coalesce(sum(strlen(c${index})), 0)`)
  const found = (await db.rows(`select count(*), ${facts.join(', ')} from staged`))[0]?.map(numberOf) ?? []
  requireSame('rows', scanner.records, found[0])
  for (const [index, column] of scanner.columns.entries()) {
    const name = scanner.header?.[index] ?? ''
    requireSame(`values of "${name}"`, column.filled, found[1 + 2 * index])
    requireSame(`bytes of "${name}"`, column.bytes, found[2 + 2 * index])
  }
}

/**
 * Re-reads the written Parquet and compares it with the source: per field the number of values and the sum of
 * their hashes, each written out as text; per row the hash of all its values together; and each row's position
 * against the sorted table.
 *
 * @throws TableFailure naming the field; nothing is published then
 */
export async function provePublished(
  db: Connection,
  fields: readonly MatchedField[],
  folder: string,
  parts: readonly WrittenPart[],
  rows: number,
  progress: Progress,
): Promise<ProvedField[]> {
  const fromSource = fields.map(({ field, column }) => ({
    column: `c${column}`,
    text: typeRow(field.type).canonical(`c${column}`, field),
  }))
  const source = await sums(db, 'staged', fromSource)
  const sorted = await sums(db, 'sorted', [], ['rowid', ...fields.map((_, index) => `f${index}`)])

  const names = fields.map(({ field }) => quotedName(field.name))
  const fromParquet = fields.map(({ field }, index) => {
    const column = names[index] ?? ''
    return { column, text: typeRow(field.type).rendered(column) }
  })
  let published = source.map(() => 0n)
  for (const { file, firstRow } of parts) {
    const part = `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
    const found = await sums(db, part, fromParquet, [`file_row_number + ${firstRow}`, ...names])
    published = published.map((sum, index) => sum + (found[index] ?? 0n))
    progress.advance({ fraction: (firstRow + rows / parts.length) / rows })
  }

  requireSame('rows', BigInt(rows), published[0])
  // Fields first, so that a difference in one is told by its name.
  for (const [index, { field }] of fields.entries()) {
    const [count, values] = [3 + 2 * index, 4 + 2 * index]
    requireSame(`number of values of "${field.name}"`, source[count], published[count])
    requireSame(`values of "${field.name}"`, source[values], published[values])
  }
  requireSame('rows as wholes', source[2], published[2])
  requireSame('positions of the rows', sorted[1], published[1])
  return fields.map(({ field }, index) => ({
    name: field.name,
    nulls: rows - Number(published[3 + 2 * index]),
  }))
}

/**
 * Rows; hash of rows with their positions; hash of rows; then per column its values and the hash of their
 * texts. A sum of hashes does not depend on the order of the rows, and adds up over parts.
 */
async function sums(
  db: Connection,
  from: string,
  columns: readonly { column: string; text: string }[],
  positioned: readonly string[] = [],
): Promise<bigint[]> {
  const terms = [
    'count(*)',
    hashSum(positioned),
    hashSum(columns.map(({ text }) => text)),
    ...columns.flatMap(({ column, text }) => [`count(${column})`, hashSum([text])]),
  ]
  const row = (await db.rows(`select ${terms.join(', ')} from ${from}`))[0] ?? []
  return row.map((value) => BigInt(String(value)))
}

function hashSum(values: readonly string[]): string {
  return values.length === 0 ? `'0'` : `coalesce(sum(hash(${values.join(', ')})), 0)::varchar`
}

function requireSame(what: string, source: unknown, read: unknown): void {
  if (String(source) === String(read)) return
  throw new TableFailure(
    `the proof failed: the ${what} differ (source ${String(source)}, read back ${String(read)}); nothing was published`,
  )
}
