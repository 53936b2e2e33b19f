import { setTimeout as wait } from 'node:timers/promises'
import { type Table, tableId } from '../../core/catalog/catalog.ts'
import { LockHeld } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { TableFailure } from '../base/rejects.ts'

/** @throws TableFailure naming the process that holds the lock */
export async function withTableLock<T>(store: Store, table: Table, work: () => Promise<T>): Promise<T> {
  let release: () => Promise<void>
  try {
    release = await store.lock(layout.table(table))
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error
    const lockHolder = error.pid === null ? 'another process' : `process ${error.pid}`
    throw new TableFailure(
      `${lockHolder} is already working on ${tableId(table)}: nothing was done; run this again when it has finished`,
    )
  }
  return releasing(release, work)
}

/** Other jobs hold this lock for about 100 ms, and dozens may wait. */
const lockEveryMs = 50
const lockTriesMax = 6000

/** Waits for the lock of the files that belong to no table, such as `warehouse.duckdb`. */
export async function withWarehouseLock<T>(store: Store, work: () => Promise<T>): Promise<T> {
  return releasing(await patientLock(store), work)
}

async function patientLock(store: Store): Promise<() => Promise<void>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.lock('')
    } catch (error) {
      if (!(error instanceof LockHeld) || tries === lockTriesMax) throw error
      await wait(lockEveryMs)
    }
  }
}

async function releasing<T>(release: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await release()
  }
}
