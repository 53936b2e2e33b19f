import { type TableName, layout, type SnapshotId } from './layout.ts'
import { readRollbacks } from './state-files.ts'
import type { Manifest } from './manifest.ts'
import { manifestOf, snapshotsIn, removeSnapshot } from './publish.ts'
import type { Store } from './stores/store.ts'
import { codeOf } from '../errors.ts'
import { filesInStore, verifyFiles } from './verify-files.ts'

/** Maximum number of predecessors to follow, far more than are ever retained; ends a cycle. */
const chainMax = 1000

/** Yields the retained predecessors, latest first. Ends at a missing or damaged manifest. */
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
 * Yields the retained predecessors, then older snapshots behind a gap, newest first.
 * @param manifest null if the pointer is unreadable: all snapshots
 */
export async function* earlierSnapshots(
  store: Store,
  table: TableName,
  manifest: Manifest | null,
): AsyncGenerator<Manifest, undefined> {
  const yielded = new Set<SnapshotId>()
  if (manifest !== null) {
    for await (const earlier of publishedBefore(store, table, manifest)) {
      yielded.add(earlier.snapshot)
      yield earlier
    }
  }
  for await (const earlier of newestIn(store, table))
    if (!yielded.has(earlier.snapshot) && (manifest === null || earlier.snapshot < manifest.snapshot))
      yield earlier
}

async function* newestIn(store: Store, table: TableName): AsyncGenerator<Manifest> {
  const withdrawn = new Set((await readRollbacks(store, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsIn(store, table)) {
    if (withdrawn.has(id) || (await quarantinedAt(store, table, id)) !== null) continue
    const manifest = await manifestOf(store, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}

export async function damagedIn(store: Store, table: TableName): Promise<SnapshotId[]> {
  const ids: SnapshotId[] = []
  for (const id of await snapshotsIn(store, table)) {
    // A file that cannot be read now may be intact.
    if (await isDamaged(store, table, id).catch(() => false)) ids.push(id)
  }
  return ids
}

/**
 * Returns whether a snapshot is damaged.
 * @throws the error of the system if a file cannot be read: such a failure may be temporary, and proves no
 *   damage
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

/** Time at which a job quarantined a snapshot; null if none did. */
export async function quarantinedAt(store: Store, table: TableName, id: SnapshotId): Promise<Date | null> {
  const bytes = await store.get(layout.quarantine(table, id))
  return bytes === null ? null : new Date(bytes.toString())
}

/**
 * Excludes damaged snapshots from fallbacks and, once replaced, from `acervo verify`. They stay for their
 * retention time, for clients that read intact parts. Requires the lock of the table.
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
 * Removes a damaged snapshot after its quarantine; releases an intact one, since a disk fault may be
 * temporary.
 */
export async function removeQuarantined(
  store: Store,
  table: TableName,
  id: SnapshotId,
  now: Date,
  graceMs: number,
): Promise<void> {
  const quarantineStart = await quarantinedAt(store, table, id)
  if (quarantineStart === null || quarantineStart.getTime() + graceMs > now.getTime()) return
  if (await isDamaged(store, table, id)) await removeSnapshot(store, table, id)
  else await store.remove(layout.quarantine(table, id))
}
