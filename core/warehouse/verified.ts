import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { layout, type SnapshotId } from './layout.ts'
import { filesOf, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** By file: what the store tells of it that is another whenever its bytes may be others (see `FileState`). */
type Versions = ReadonlyMap<string, string>

/** By snapshot and file. */
const verifiedShape = z.record(z.string(), z.record(z.string(), z.string()))

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
  const there = new Set(await store.list(layout.table(table)))
  const others = Object.entries(await readAll(store, table)).filter(
    ([other]) => other !== id && there.has(other),
  )
  const all = { [id]: Object.fromEntries(versions), ...Object.fromEntries(others) }
  const text = `${JSON.stringify(all, null, 2)}\n`
  const before = await store.get(layout.verified(table))
  if (before?.toString() !== text) await store.put(layout.verified(table), text)
}

/** What was noted of the files of a snapshot; nothing where that cannot be read. */
export async function readVerified(store: Store, table: TableName, id: SnapshotId): Promise<Versions> {
  return new Map(Object.entries((await readAll(store, table))[id] ?? {}))
}

async function readAll(store: Store, table: TableName): Promise<z.infer<typeof verifiedShape>> {
  try {
    return verifiedShape.parse(JSON.parse(String(await store.get(layout.verified(table)))))
  } catch {
    return {}
  }
}
