import { tableId } from '../../../core/catalog/catalog.ts'
import type { Parameter } from '../../../core/duckdb/connection.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { DamagedTable } from './errors.ts'

export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  readonly reads: Reads | null
}

interface Reads {
  readonly snapshot: Snapshot
  readonly files: readonly string[]
}

/** Values from requests; the SQL has only placeholders such as `$1`. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** @throws DamagedTable if a file has changed since it was verified; then all are verified again */
export function requireUnchanged({ snapshot, files }: Reads): void {
  const changedFile = files.find((file) => !snapshot.isUnchanged(file))
  if (changedFile === undefined) return
  snapshot.recheck(`${changedFile} has changed`)
  throw new DamagedTable(tableId(snapshot.table))
}

/**
 * Verifies all files again if some have changed or cannot be read.
 * @returns DamagedTable in that case; else the error itself
 */
export function explainQueryError(error: unknown, reads: Reads): unknown {
  const { snapshot, files } = reads
  const isOfFiles = /^(IO|Invalid Input|Invalid) Error/.test(messageOf(error))
  if (!isOfFiles && files.every((file) => snapshot.isUnchanged(file))) return error
  snapshot.recheck(messageOf(error))
  return new DamagedTable(tableId(snapshot.table))
}
