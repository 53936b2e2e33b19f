import type { Table } from '../../core/catalog/catalog.ts'
import { removeQuarantined, quarantinedAt, publishedBefore } from '../../core/warehouse/history.ts'
import { removeSnapshot, snapshotsIn } from '../../core/warehouse/publish.ts'
import { layout, timeOf, type SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { removableSnapshots, type Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { readRollbacks } from '../../core/warehouse/state-files.ts'

/** Time to finish reading a snapshot that servers have stopped offering. */
const readersMs = 3_600_000

/** Removes expired snapshots, and unpublished ones of killed jobs. Requires the lock of the table. */
export async function removeGarbage(
  store: Store,
  table: Table,
  current: Manifest,
  now: Date,
  { count, graceMs }: Retention,
): Promise<void> {
  const ids: SnapshotId[] = []
  for (const id of await snapshotsIn(store, table)) {
    // Retention ignores damaged snapshots, so that they do not displace intact ones.
    if (id === current.snapshot || (await quarantinedAt(store, table, id)) === null) ids.push(id)
    else await removeQuarantined(store, table, id, now, graceMs + readersMs)
  }
  const withdrawn = new Set((await readRollbacks(store, table)).map(({ snapshot }) => snapshot))
  // After a clock was set back, a published snapshot can have a later id than the current one.
  const published = new Set<SnapshotId>()
  for await (const { snapshot } of publishedBefore(store, table, current)) published.add(snapshot)
  const orphans = ids.filter(
    (id) => timeOf(id) > timeOf(current.snapshot) && !withdrawn.has(id) && !published.has(id),
  )
  // Some stores may have incomplete snapshots of killed jobs, without a manifest.
  for (const id of ids) {
    const mayBeIncomplete = id !== current.snapshot && !orphans.includes(id)
    if (mayBeIncomplete && (await store.stat(layout.manifest(table, id))) === null) orphans.push(id)
  }
  const remainingIds = ids.filter((id) => !orphans.includes(id))
  const expired = removableSnapshots(remainingIds, current, now, { count, graceMs: graceMs + readersMs })
  for (const id of [...orphans, ...expired]) await removeSnapshot(store, table, id)
}
