import { type TableName, layout, type SnapshotId } from './layout.ts'
import { readWithdrawn } from './state-files.ts'
import type { Manifest } from './manifest.ts'
import { manifestOf, snapshotsIn, removeSnapshot } from './published.ts'
import type { Store } from './stores/store.ts'
import { codeOf } from '../errors.ts'
import { filesInStore, requireFiles } from './whole.ts'

/** Far more than are ever kept. */
const chainMax = 1000

/**
 * What was published before a snapshot, the latest first, as far as it is kept; a damaged manifest ends it, since what
 * came before that one is not known.
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
 * What is in the warehouse and was neither rolled back nor found damaged, the newest first: the history where the pointer
 * cannot be read.
 */
export async function* newestIn(store: Store, table: TableName): AsyncGenerator<Manifest> {
  const withdrawn = new Set((await readWithdrawn(store, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsIn(store, table)) {
    if (withdrawn.has(id) || (await setAsideAt(store, table, id)) !== null) continue
    const manifest = await manifestOf(store, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}

/** Those of the snapshots of a table that are not as they were written. */
export async function damagedIn(store: Store, table: TableName): Promise<SnapshotId[]> {
  const found: SnapshotId[] = []
  for (const id of await snapshotsIn(store, table)) {
    // What cannot be read now may be whole.
    if (await isDamaged(store, table, id).catch(() => false)) found.push(id)
  }
  return found
}

/**
 * Whether a snapshot is not as it was written.
 *
 * @throws Error of the system where its files cannot be read, which may pass and says nothing of them
 */
async function isDamaged(store: Store, table: TableName, id: SnapshotId): Promise<boolean> {
  try {
    const manifest = await manifestOf(store, table, id)
    if (manifest === null) return true
    await requireFiles(filesInStore(store, layout.snapshot(table, id)), manifest)
    return false
  } catch (error) {
    if (codeOf(error) !== undefined) throw error
    return true
  }
}

/** When a job last found a snapshot damaged and set out to put another in its place; null where none did. */
export async function setAsideAt(store: Store, table: TableName, id: SnapshotId): Promise<Date | null> {
  const bytes = await store.get(layout.setAside(table, id))
  return bytes === null ? null : new Date(bytes.toString())
}

/**
 * Marks damaged snapshots: no fallback leads to them, and they are no fault of the warehouse once another has taken
 * their place. They stay where they are for their time, since readers may be walking through what of them is whole.
 * Only under the lock of the table.
 */
export async function setAside(
  store: Store,
  table: TableName,
  ids: readonly SnapshotId[],
  now: Date,
): Promise<void> {
  for (const id of ids) await store.put(layout.setAside(table, id), now.toISOString())
}

/** Removes what was set aside so long ago, if it is damaged still: nothing that is whole is ever lost by a disk's mood. */
export async function removeSetAside(
  store: Store,
  table: TableName,
  id: SnapshotId,
  now: Date,
  graceMs: number,
): Promise<void> {
  const since = await setAsideAt(store, table, id)
  if (since === null || since.getTime() + graceMs > now.getTime()) return
  if (await isDamaged(store, table, id)) await removeSnapshot(store, table, id)
  else await store.remove(layout.setAside(table, id))
}
