import { type TableName, layout, type SnapshotId } from './layout.ts'
import { readRollbacks } from './state-files.ts'
import type { Manifest } from './manifest.ts'
import { manifestOf, snapshotsIn, removeSnapshot } from './publish.ts'
import type { Store } from './stores/store.ts'
import { codeOf } from '../errors.ts'
import { filesInStore, verifyFiles } from './verify-files.ts'

/** Far more than are ever retained. */
const chainMax = 1000

/**
 * Yields retained snapshots published before one, the latest first; ends at a damaged manifest, since its
 * predecessor is unknown.
 */
export async function* publishedBefore(
  store: Store,
  table: TableName,
  { previous: first }: Pick<Manifest, 'previous'>,
): AsyncGenerator<Manifest> {
  for (let previous = first, steps = 0; previous !== null && steps < chainMax; steps += 1) {
    const manifest = await manifestOf(store, table, previous).catch(() => null)
    if (manifest === null) return
    yield manifest
    previous = manifest.previous
  }
}

/**
 * Yields snapshots that were neither rolled back nor found damaged, the newest first: the history for an
 * unreadable pointer.
 */
export async function* newestIn(store: Store, table: TableName): AsyncGenerator<Manifest> {
  const withdrawn = new Set((await readRollbacks(store, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsIn(store, table)) {
    if (withdrawn.has(id) || (await quarantinedAt(store, table, id)) !== null) continue
    const manifest = await manifestOf(store, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}

/** Returns the damaged snapshots of a table. */
export async function damagedIn(store: Store, table: TableName): Promise<SnapshotId[]> {
  const found: SnapshotId[] = []
  for (const id of await snapshotsIn(store, table)) {
    // A file that cannot be read now may be intact.
    if (await isDamaged(store, table, id).catch(() => false)) found.push(id)
  }
  return found
}

/**
 * Returns whether a snapshot is damaged.
 * @throws the error of the system if its files cannot be read, which may pass and says nothing about them
 */
async function isDamaged(store: Store, table: TableName, id: SnapshotId): Promise<boolean> {
  try {
    const manifest = await manifestOf(store, table, id)
    if (manifest === null) return true
    await verifyFiles(filesInStore(store, layout.snapshot(table, id)), manifest)
    return false
  } catch (error) {
    if (codeOf(error) !== undefined) throw error
    return true
  }
}

/** Returns when a job found a snapshot damaged and started to replace it; null if none did. */
export async function quarantinedAt(store: Store, table: TableName, id: SnapshotId): Promise<Date | null> {
  const bytes = await store.get(layout.quarantine(table, id))
  return bytes === null ? null : new Date(bytes.toString())
}

/**
 * Quarantines damaged snapshots: no fallback leads to them, and they are no fault of the warehouse once they
 * are replaced. They stay for their retention time, since clients may be reading intact parts of them. Call
 * it only under the lock of the table.
 */
export async function quarantine(
  store: Store,
  table: TableName,
  ids: readonly SnapshotId[],
  now: Date,
): Promise<void> {
  for (const id of ids) await store.put(layout.quarantine(table, id), now.toISOString())
}

/**
 * Removes snapshots that were quarantined long enough ago, if they are still damaged: an intact one is never
 * lost by a temporary fault of a disk.
 */
export async function removeQuarantined(
  store: Store,
  table: TableName,
  id: SnapshotId,
  now: Date,
  graceMs: number,
): Promise<void> {
  const since = await quarantinedAt(store, table, id)
  if (since === null || since.getTime() + graceMs > now.getTime()) return
  if (await isDamaged(store, table, id)) await removeSnapshot(store, table, id)
  else await store.remove(layout.quarantine(table, id))
}
