import type { FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { quotedText } from '../../core/sql.ts'
import { TableFailure } from '../base/rejects.ts'
import type { Work } from './convert.ts'
import { shorten } from '../../core/text.ts'

/** SQL: reads a Parquet file that was written beside the parts, to verify it. */

export function readSql(folder: string, file: string): string {
  return `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
}

/** Returns the number of rows and the sum of the hashes of the given columns, as one text for comparison. */
export async function sumOf({ db }: Work, from: string, values: string): Promise<string> {
  const [row = []] = await db.rows(`select count(*), sum(hash(${values}))::varchar from ${from}`)
  return row.join(' ')
}

/** @throws TableFailure if a file read back differs from the source */
export function requireSame(what: string, source: unknown, read: unknown): void {
  const [due, found] = [String(source), String(read)]
  if (due === found) return
  throw new TableFailure(
    `verification of the ${what} failed (source ${shorten(due)}, read back ${shorten(found)}); nothing was published`,
  )
}

export async function bytesAt(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  await handle.read(bytes, 0, length, start)
  return bytes
}
