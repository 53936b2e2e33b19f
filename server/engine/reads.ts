import path from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { damageIn, type FileReading } from '../../core/warehouse/file-checks.ts'
import { DamagedFile } from '../../core/warehouse/whole.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { DamagedTable } from './errors.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** What a plan reads of the files of a snapshot; all of it is looked at again before what came of it is used. */
export interface Reads {
  readonly snapshot: Snapshot
  readonly files: readonly FileReading[]
}

type Rows = FileReading['isRead']

/** @param isRead whether some rows of a file, from `first` up to `end`, are wanted */
export function readsOf(
  snapshot: Snapshot,
  files: readonly { readonly file: string; readonly isRead: Rows }[],
  columns: readonly string[],
  isFiltered: boolean,
): Reads {
  return {
    snapshot,
    files: files.map(({ file, isRead }) => ({
      file: path.join(snapshot.folder, file),
      isRead,
      columns,
      isFiltered,
    })),
  }
}

export const everyRow: Rows = () => true

export const noRow: Rows = () => false

/** @param from number of the first row in the file, and `to` that after the last */
export function rowsBetween(from: number, to: number): Rows {
  return (first, end) => first < to && end > from
}

/** @param rows numbers in the file, ascending */
export function rowsAmong(rows: Uint32Array): Rows {
  return (first, end) => {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((rows[middle] ?? 0) < first) low = middle + 1
      else high = middle
    }
    const next = rows[low]
    return next !== undefined && next < end
  }
}

/** @throws DamagedTable where a file is not as it was when it was taken; its snapshot is taken out then */
export async function requireWhole({ snapshot, files }: Reads): Promise<void> {
  for (const reading of files) {
    const damage = await damageOf(snapshot, reading)
    if (damage === null) continue
    if (damage instanceof DamagedFile) snapshot.takeOut(damage)
    else snapshot.doubt(messageOf(damage))
    throw new DamagedTable(tableId(snapshot.table))
  }
}

/** What is wrong with what was read, or what keeps that from being known; null where all is well. */
async function damageOf(snapshot: Snapshot, reading: FileReading): Promise<unknown> {
  const name = path.basename(reading.file)
  try {
    const damage = await damageIn(reading, await snapshot.checksOf(name))
    return damage === null ? null : new DamagedFile(`${name} is not as it was written: ${damage}`)
  } catch (error) {
    return error
  }
}

/** What an error of a statement is: that of the files, where these are not whole, or cannot be read. */
export async function blamed(error: unknown, reads: Reads): Promise<unknown> {
  try {
    await requireWhole(reads)
  } catch (damaged) {
    return damaged
  }
  if (!/^(IO|Invalid Input|Invalid) Error/.test(messageOf(error)) && areUnchanged(reads)) return error
  // Something else of the files may be wrong, or their disk; or they were being written when they were read.
  reads.snapshot.doubt(messageOf(error))
  return new DamagedTable(tableId(reads.snapshot.table))
}

function areUnchanged({ snapshot, files }: Reads): boolean {
  return files.every(({ file }) => snapshot.isUnchanged(path.basename(file)))
}
