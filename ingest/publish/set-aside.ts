import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { isDamaged, setAsideAt } from '../../core/warehouse/damaged.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { removeSnapshot, snapshotsOnDisk } from '../../core/warehouse/on-disk.ts'
import { writeDurably } from './durable.ts'

/** Those of the snapshots of a table that are not as they were written. */
export async function damagedOnDisk(warehouse: string, table: Table): Promise<SnapshotId[]> {
  const found: SnapshotId[] = []
  for (const id of await snapshotsOnDisk(warehouse, table)) {
    // What cannot be read now may be whole.
    if (await isDamaged(warehouse, table, id).catch(() => false)) found.push(id)
  }
  return found
}

/**
 * Marks damaged snapshots: no fallback leads to them, and they are no fault of the warehouse once another has taken
 * their place. They stay where they are for their time, since readers may be walking through what of them is whole.
 * Only under the lock of the table.
 */
export async function setAside(
  warehouse: string,
  table: Table,
  ids: readonly SnapshotId[],
  now: Date,
): Promise<void> {
  for (const id of ids) {
    await writeDurably(path.join(layout.snapshot(warehouse, table, id), layout.setAside), now.toISOString())
  }
}

/** Removes what was set aside so long ago, if it is damaged still: nothing that is whole is ever lost by a disk's mood. */
export async function removeSetAside(
  warehouse: string,
  table: Table,
  id: SnapshotId,
  now: Date,
  graceMs: number,
): Promise<void> {
  const since = await setAsideAt(warehouse, table, id)
  if (since === null || since.getTime() + graceMs > now.getTime()) return
  if (await isDamaged(warehouse, table, id)) await removeSnapshot(warehouse, table, id)
  else await rm(path.join(layout.snapshot(warehouse, table, id), layout.setAside))
}
