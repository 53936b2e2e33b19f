import { type TableName, fileNames, isSnapshotId, layout, type SnapshotId } from './layout.ts'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { manifestText, parseManifest, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'
import { recordVerified, versionsIn } from './state-files.ts'

/**
 * Null if nothing is published.
 * @throws DamagedManifest
 */
export async function publishedOf(store: Store, table: TableName): Promise<Manifest | null> {
  return manifestAt(store, layout.pointer(table))
}

/**
 * Manifest beside the parts of a snapshot; null if there is none.
 * @throws DamagedManifest
 */
export async function manifestOf(store: Store, table: TableName, id: SnapshotId): Promise<Manifest | null> {
  return manifestAt(store, layout.manifest(table, id))
}

async function manifestAt(store: Store, key: string): Promise<Manifest | null> {
  const bytes = await store.get(key)
  return bytes === null ? null : parseManifest(bytes.toString(), key)
}

export async function snapshotsIn(store: Store, table: TableName): Promise<SnapshotId[]> {
  const names = await store.list(layout.table(table))
  return names.filter(isSnapshotId).toSorted().toReversed()
}

/**
 * Moves a finished local folder into the warehouse, then replaces the pointer, which is the old or the new
 * one after a crash. Requires the lock of the table.
 * @param existingKeys files of the folder that the warehouse already has, with their keys there
 */
export async function publish(
  store: Store,
  table: TableName,
  folder: string,
  manifest: Manifest,
  existingKeys: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  await writeFile(path.join(folder, fileNames.manifest), manifestText(manifest))
  await store.moveIn(folder, layout.snapshot(table, manifest.snapshot), existingKeys)
  // New files were hashed by this job, reused ones in their previous snapshot.
  await recordVerified(store, table, manifest.snapshot, await versionsIn(store, table, manifest))
  await pointTo(store, table, manifest.snapshot)
}

/** Makes an intact snapshot the current one. Requires the lock of the table. */
export async function pointTo(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  await copy(store, layout.manifest(table, id), layout.pointer(table))
}

/** Restores the manifest beside the parts from the pointer. */
export async function mendManifest(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  const [manifestFile, pointer] = [
    await store.get(layout.manifest(table, id)),
    await store.get(layout.pointer(table)),
  ]
  if (manifestFile === null || pointer?.equals(manifestFile) === false)
    await copy(store, layout.pointer(table), layout.manifest(table, id))
}

/** Copies the text, which may contain keys unknown to this version. */
async function copy(store: Store, from: string, to: string): Promise<void> {
  const bytes = await store.get(from)
  if (bytes === null) throw new Error(`${from} is missing`)
  await store.put(to, bytes.toString())
}

export async function removeSnapshot(store: Store, table: TableName, id: SnapshotId): Promise<void> {
  // The manifest goes first, so an interrupted removal leaves no folder that looks complete.
  await store.remove(layout.manifest(table, id))
  await store.remove(layout.snapshot(table, id))
}
