import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { layout, type SnapshotId } from './layout.ts'
import { filesOf, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** By file: what the store tells of it that is another whenever its bytes may be others (see `FileState`). */
export type Versions = ReadonlyMap<string, string>

const verifiedShape = z.object({ versions: z.record(z.string(), z.string()) })

/** What the files of a snapshot are like now; asked before they are read, so that no later change can pass for what was read. */
export async function versionsIn(store: Store, table: TableName, manifest: Manifest): Promise<Versions> {
  const versions = new Map<string, string>()
  for (const { file } of filesOf(manifest)) {
    const found = await store.stat(`${layout.snapshot(table, manifest.snapshot)}/${file}`)
    if (found !== null) versions.set(file, found.version)
  }
  return versions
}

/**
 * Notes what the files of a snapshot were like when a job found them whole, so that nobody has to read those again that
 * are still like that. Only under the lock of the table.
 */
export async function noteVerified(
  store: Store,
  table: TableName,
  id: SnapshotId,
  versions: Versions,
): Promise<void> {
  const text = `${JSON.stringify({ versions: Object.fromEntries(versions) }, null, 2)}\n`
  const before = await store.get(layout.verified(table, id))
  if (before?.toString() !== text) await store.put(layout.verified(table, id), text)
}

/** What was noted of the files of a snapshot; nothing where that cannot be read. */
export async function readVerified(store: Store, table: TableName, id: SnapshotId): Promise<Versions> {
  try {
    const { versions } = verifiedShape.parse(JSON.parse(String(await store.get(layout.verified(table, id)))))
    return new Map(Object.entries(versions))
  } catch {
    return new Map()
  }
}
