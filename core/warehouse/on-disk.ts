import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../catalog/catalog.ts'
import { codeOf } from '../errors.ts'
import { isSnapshotId, layout, type SnapshotId } from './layout.ts'
import { readManifest, type Manifest } from './manifest.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** The snapshots of a table that have a folder, newest first. */
export async function snapshotsOnDisk(warehouse: string, table: TableName): Promise<SnapshotId[]> {
  try {
    const names: string[] = await readdir(layout.table(warehouse, table))
    return names.filter(isSnapshotId).toSorted().toReversed()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/**
 * The manifest in the folder of a snapshot; null where there is none.
 *
 * @throws Error naming the file where it is damaged
 */
export async function manifestOf(warehouse: string, table: TableName, id: SnapshotId): Promise<Manifest | null> {
  return readManifest(path.join(layout.snapshot(warehouse, table, id), layout.manifest))
}

export async function removeSnapshot(warehouse: string, table: TableName, id: SnapshotId): Promise<void> {
  const folder = layout.snapshot(warehouse, table, id)
  // First, so that a removal that is cut short leaves nothing that looks whole.
  await rm(path.join(folder, layout.manifest), { force: true })
  await rm(folder, { recursive: true, force: true })
}
