import { tableId } from '../../../core/catalog/catalog.ts'
import type { Parameter } from '../../../core/duckdb/connection.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { DamagedTable } from './errors.ts'

/** SQL and parameters of a statement. */
export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  /** Files that the statement reads; null for none. */
  readonly reads: Reads | null
}

interface Reads {
  readonly snapshot: Snapshot
  readonly files: readonly string[]
}

/** Collects values from requests as parameters of a statement; the SQL contains only placeholders such as `$1`. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/**
 * Checks that no file has changed since it was verified.
 * @throws DamagedTable if one has; then all files are verified again
 */
export function requireUnchanged({ snapshot, files }: Reads): void {
  const changed = files.find((file) => !snapshot.isUnchanged(file))
  if (changed === undefined) return
  snapshot.recheck(`${changed} has changed`)
  throw new DamagedTable(tableId(snapshot.table))
}

/**
 * Explains why a statement failed. If its files have changed or cannot be read, all files are verified again.
 * @returns DamagedTable in that case; else the error itself
 */
export function explainQueryError(error: unknown, reads: Reads): unknown {
  const { snapshot, files } = reads
  const isOfFiles = /^(IO|Invalid Input|Invalid) Error/.test(messageOf(error))
  if (!isOfFiles && files.every((file) => snapshot.isUnchanged(file))) return error
  snapshot.recheck(messageOf(error))
  return new DamagedTable(tableId(snapshot.table))
}
