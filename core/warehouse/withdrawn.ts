import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { isSnapshotId, layout, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

const withdrawnShape = z.strictObject({
  snapshot: z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id)),
  /** UTC. */
  at: z.iso.datetime(),
  /** SHA-256 of its sources, and how they were read: as long as both are the same it is not published again. */
  sources: z.array(z.string()),
  definition: z.string(),
})

/** A snapshot that a rollback took back. */
type Withdrawn = z.infer<typeof withdrawnShape>

/**
 * The snapshots of a table that were taken back since one was last published.
 *
 * @throws Error naming the file where it is damaged
 */
export async function readWithdrawn(store: Store, table: TableName): Promise<Withdrawn[]> {
  const key = layout.withdrawn(table)
  const bytes = await store.get(key)
  if (bytes === null) return []
  try {
    return z.array(withdrawnShape).parse(JSON.parse(bytes.toString()))
  } catch (cause) {
    throw new Error(`${key} is damaged: remove it, and what was rolled back may be published again`, {
      cause,
    })
  }
}

/** Holds a snapshot back, with those that were taken back before it. Only under the lock of the table. */
export async function withdraw(store: Store, table: TableName, manifest: Manifest, at: Date): Promise<void> {
  const before = await readWithdrawn(store, table)
  const all = [...before.filter(({ snapshot }) => snapshot !== manifest.snapshot), withdrawnOf(manifest, at)]
  await store.put(layout.withdrawn(table), `${JSON.stringify(all, null, 2)}\n`)
}

/** Holds nothing back any more. Only under the lock of the table. */
export async function forgetWithdrawn(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.withdrawn(table))
}

function withdrawnOf({ snapshot, sources, definition }: Manifest, at: Date): Withdrawn {
  return { snapshot, at: at.toISOString(), sources: sources.map(({ sha256 }) => sha256), definition }
}
