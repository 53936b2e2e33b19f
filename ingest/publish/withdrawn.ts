import { readFile, rm } from 'node:fs/promises'
import { z } from 'zod'
import type { Table } from '../../core/catalog/catalog.ts'
import { codeOf } from '../../core/errors.ts'
import { isSnapshotId, layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { replaceDurably } from './durable.ts'

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

export async function readWithdrawn(warehouse: string, table: Table): Promise<Withdrawn | null> {
  try {
    return withdrawnShape.parse(JSON.parse(await readFile(layout.withdrawn(warehouse, table), 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`${layout.withdrawn(warehouse, table)} is damaged: remove it to publish the table anew`, {
      cause: error,
    })
  }
}

export async function writeWithdrawn(
  warehouse: string,
  table: Table,
  { snapshot, sources, definition }: Manifest,
  at: Date,
): Promise<void> {
  const withdrawn: Withdrawn = {
    snapshot,
    at: at.toISOString(),
    sources: sources.map(({ sha256 }) => sha256),
    definition,
  }
  await replaceDurably(layout.withdrawn(warehouse, table), `${JSON.stringify(withdrawn, null, 2)}\n`)
}

/** What is published anew is not held back any more. */
export async function clearWithdrawn(warehouse: string, table: Table): Promise<void> {
  await rm(layout.withdrawn(warehouse, table), { force: true })
}
