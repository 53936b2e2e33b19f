import path from 'node:path'
import type { OrderKey } from '../../core/catalog/order-key.ts'
import { quotedText } from '../../core/sql.ts'
import { shorten } from '../../core/text.ts'
import { TableFailure } from '../base/rejects.ts'
import { type Conversion, numberOf } from './conversion.ts'

export function readSql(folder: string, file: string): string {
  return `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
}

/** Number of rows and sum of the hashes of columns, as one text. */
export async function sumOf({ db }: Conversion, from: string, values: string): Promise<string> {
  const [row = []] = await db.rows(`select count(*), sum(hash(${values}))::varchar from ${from}`)
  return row.join(' ')
}

/** @throws TableFailure if a file read back differs from the source */
export function requireSame(subject: string, source: unknown, read: unknown): void {
  const [expected, actual] = [String(source), String(read)]
  if (expected === actual) return
  throw new TableFailure(
    `verification of the ${subject} failed (source ${shorten(expected)}, read back ${shorten(actual)}); nothing was published`,
  )
}

/**
 * Counts rows that belong before their predecessor.
 * @param from SQL of rows with a file_row_number
 */
export async function countMisplaced(
  { db }: Conversion,
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
