import path from 'node:path'

import { quotedName, quotedText } from '../../../core/sql.ts'
import { countMisplaced, requireSame } from '../proof.ts'
import {
  type DuePart,
  type Staged,
  type Conversion,
  sortedFileSql,
  sortedSql,
  stagedSql,
} from '../conversion.ts'

/**
 * Reads the parts back, and compares sums of row hashes (with and without positions) to the sums of the cast
 * values, which matched the source. Checks the declared order too.
 * @throws TableFailure naming the field; nothing is published then
 */
export async function reconcilePublished(
  conversion: Conversion,
  folder: string,
  parts: readonly DuePart[],
  staged: Staged,
): Promise<void> {
  // Row hashes that were computed before the sort, and moved with the rows.
  const sortedHashes = await hashes(conversion, sortedFileSql(conversion), 'row_hash', 0)
  const names = conversion.fields.map(({ field }) => quotedName(field.name))
  let [rows, rowHash, positioned] = [0n, 0n, 0n]
  for (const { file, sortedRow } of parts) {
    const part = `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
    const readHashes = await hashes(conversion, part, `hash(${names.join(', ')})`, sortedRow)
    rows += readHashes.rows
    rowHash += readHashes.whole
    positioned += readHashes.positioned
  }
  requireSame('rows', staged.goodRows, rows)
  if (rowHash !== staged.rowHash) await requireSameFields(conversion, folder, parts, staged)
  requireSame('whole rows', staged.rowHash, rowHash)
  requireSame('row positions', sortedHashes.positioned, positioned)
  requireSame('number of rows out of the declared order', 0, await misplaced(conversion))
}

/**
 * Number of rows that belong before their predecessor. Compares neighbours, so that a fault of the sort is
 * found.
 */
async function misplaced(conversion: Conversion): Promise<number> {
  const terms = conversion.table.order.map(({ field, direction }) => ({
    column: `f${conversion.fields.findIndex((matchedField) => matchedField.field.name === field)}`,
    direction,
  }))
  return countMisplaced(conversion, sortedSql(conversion), terms)
}

/**
 * Number of rows, and sums of their hashes, without and with positions; sums of parts can be added.
 * @param hash SQL of the hash of a row
 * @param firstRow position of the first row
 */
async function hashes(conversion: Conversion, from: string, hash: string, firstRow: number) {
  const [row = []] = await conversion.db.rows(`select count(*), ${sumOf('whole')},
    ${hashSum([`position + ${firstRow}`, 'whole'])}
    from (select ${hash} as whole, file_row_number as position from ${from})`)
  const [rows = 0n, sum = 0n, positioned = 0n] = row.map((value) => BigInt(String(value)))
  return { rows, whole: sum, positioned }
}

/** @throws TableFailure naming the first field whose published values differ from the staged ones */
async function requireSameFields(
  conversion: Conversion,
  folder: string,
  parts: readonly DuePart[],
  staged: Staged,
): Promise<void> {
  const cast = conversion.fields.map((_, index) => `f${index}`)
  const source = await sums(conversion, `${stagedSql(staged.files)} where is_good`, cast)
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const names = conversion.fields.map(({ field }) => quotedName(field.name))
  const published = await sums(conversion, `read_parquet([${files.join(', ')}])`, names)
  for (const [index, { field }] of conversion.fields.entries()) {
    requireSame(`values of "${field.name}"`, source[index], published[index])
  }
}

async function sums(conversion: Conversion, from: string, columns: readonly string[]): Promise<string[]> {
  const [row = []] = await conversion.db.rows(
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
