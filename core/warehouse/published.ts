import type { TableName } from './layout.ts'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileNames, isSnapshotId, layout, type SnapshotId } from './layout.ts'
import { manifestText, parseManifest, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'
import { noteVerified, versionsIn } from './state-files.ts'

/**
 * The manifest of what is published of a table; null where nothing is.
 *
 * @throws DamagedManifest
 */
export async function publishedOf(store: Store, table: TableName): Promise<Manifest | null> {
  return manifestAt(store, layout.pointer(table))
}

/**
 * The manifest beside the parts of a snapshot; null where there is none.
 *
 * @throws DamagedManifest
 */
export async function manifestOf(store: Store, table: TableName, id: SnapshotId): Promise<Manifest | null> {
  return manifestAt(store, layout.manifest(table, id))
}

async function manifestAt(store: Store, key: string): Promise<Manifest | null> {
  const bytes = await store.get(key)
  return bytes === null ? null : parseManifest(bytes.toString(), key)
}

/** The snapshots of a table that are in the warehouse, published or not, newest first. */
export async function snapshotsIn(store: Store, table: TableName): Promise<SnapshotId[]> {
  const names = await store.list(layout.table(table))
  return names.filter(isSnapshotId).toSorted().toReversed()
}

/**
 * Moves a finished folder of this machine into the warehouse and points to it. Until then the old snapshot is served;
 * after it, the new one; a crash leaves one or the other. Only under the lock of the table.
 *
 * @param folder absolute path
 * @param same files of the folder that are in the warehouse already, with their keys there
 */
export async function publish(
  store: Store,
  table: TableName,
  folder: string,
  manifest: Manifest,
  same: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  await writeFile(path.join(folder, fileNames.manifest), manifestText(manifest))
  await store.take(folder, layout.snapshot(table, manifest.snapshot), same)
  // Each was read as it was hashed, here or where it was copied from.
  await noteVerified(store, table, manifest.snapshot, await versionsIn(store, table, manifest))
  await pointTo(store, table, manifest.snapshot)
}

/** Makes a snapshot that lies whole in the warehouse the current one. Only under the lock of the table. */
export async function pointTo(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  await copy(store, layout.manifest(table, id), layout.pointer(table))
}

/** The manifest beside the parts says what the pointer says, so that one that is lost can be written again. */
export async function mendManifest(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  const [own, pointer] = [await store.get(layout.manifest(table, id)), await store.get(layout.pointer(table))]
  if (own === null || pointer?.equals(own) === false)
    await copy(store, layout.pointer(table), layout.manifest(table, id))
}

/** As it stands, since a manifest may hold more than this version knows of. */
async function copy(store: Store, from: string, to: string): Promise<void> {
  const bytes = await store.get(from)
  if (bytes === null) throw new Error(`${from} is gone`)
  await store.put(to, bytes.toString())
}

export async function removeSnapshot(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  // First, so that a removal that is cut short leaves nothing that looks whole.
  await store.remove(layout.manifest(table, id))
  await store.remove(layout.snapshot(table, id))
}
