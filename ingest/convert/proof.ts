import type { FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { quotedText } from '../../core/sql.ts'
import { TableFailure } from '../base/rejects.ts'
import type { Work } from './convert.ts'
import { shorten } from '../../core/text.ts'

/** How a file beside the parts is compared with the rows that it was written from. */

export function readSql(folder: string, file: string): string {
  return `read_parquet(${quotedText(path.join(folder, file))}, file_row_number = true)`
}

/** The number of rows, and the sum of the hashes of some of their values. */
export async function sumOf({ db }: Work, from: string, values: string): Promise<string> {
  const [row = []] = await db.rows(`select count(*), sum(hash(${values}))::varchar from ${from}`)
  return row.join(' ')
}

/** @throws TableFailure if what was read back is not what the source has */
export function requireSame(what: string, source: unknown, read: unknown): void {
  const [due, found] = [String(source), String(read)]
  if (due === found) return
  throw new TableFailure(
    `the proof of the ${what} failed (source ${shorten(due)}, read back ${shorten(found)}); nothing was published`,
  )
}

/** Some bytes of a file that was written. */
export async function bytesAt(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  await handle.read(bytes, 0, length, start)
  return bytes
}
