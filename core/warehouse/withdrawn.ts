import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { codeOf } from '../errors.ts'
import { isSnapshotId, layout, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'

const withdrawnShape = z.strictObject({
  snapshot: z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id)),
  /** UTC. */
  at: z.iso.datetime(),
  /** SHA-256 of its sources, and how they were read: as long as both are the same it is not published again. */
  sources: z.array(z.string()),
  definition: z.string(),
})

/** A snapshot that a rollback took back. */
export type Withdrawn = z.infer<typeof withdrawnShape>

/**
 * The snapshots of a table that were taken back since one was last published.
 *
 * @throws Error naming the file where it is damaged
 */
export async function readWithdrawn(warehouse: string, table: Pick<Table, 'dataset' | 'name'>): Promise<Withdrawn[]> {
  const file = layout.withdrawn(warehouse, table)
  try {
    return z.array(withdrawnShape).parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw new Error(`${file} is damaged: remove it, and what was rolled back may be published again`, { cause: error })
  }
}

export function withdrawnText(withdrawn: readonly Withdrawn[]): string {
  return `${JSON.stringify(withdrawn, null, 2)}\n`
}

export function withdrawnOf({ snapshot, sources, definition }: Manifest, at: Date): Withdrawn {
  return { snapshot, at: at.toISOString(), sources: sources.map(({ sha256 }) => sha256), definition }
}
