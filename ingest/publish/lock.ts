import type { Table } from '../../core/catalog/catalog.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { LockHeld } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { TableFailure } from '../rejects.ts'

/**
 * Works on a table as the only job that does.
 *
 * @throws TableFailure naming the process that works on it already
 */
export async function withTable<T>(store: Store, table: Table, work: () => Promise<T>): Promise<T> {
  let release: () => void
  try {
    release = await store.lock(layout.table(table))
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error
    const who = error.pid === null ? 'another process' : `process ${error.pid}`
    throw new TableFailure(
      `${who} works on ${tableId(table)} already: nothing was done; run it again when that has ended`,
    )
  }
  try {
    return await work()
  } finally {
    release()
  }
}
