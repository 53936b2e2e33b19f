import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** When an ingest last looked at the source of a table, and what came of it, where that was not a snapshot. */
export interface Looked {
  /** UTC. */
  readonly at: string
  /** `held`: it is the source of a snapshot that was rolled back. */
  readonly outcome: 'unchanged' | 'held' | 'failed'
}

const unchangedShape = z.object({ at: z.iso.datetime(), outcome: z.enum(['unchanged', 'held']) })
const failureShape = z.object({ at: z.iso.datetime() })

/** Notes that a source was looked at and gave no new snapshot. Only under the lock of the table. */
export async function noteLooked(
  store: Store,
  table: TableName,
  outcome: 'unchanged' | 'held',
  at: Date,
): Promise<void> {
  await store.put(layout.looked(table), `${JSON.stringify({ at: at.toISOString(), outcome }, null, 2)}\n`)
}

/** The last look that gave no snapshot; null where each has given one, as far as it can be read. */
export async function readLooked(store: Store, table: TableName): Promise<Looked | null> {
  return (await readLooks(store, table))[0] ?? null
}

/** The last that found nothing new, and the last that failed: the later one first. */
export async function readLooks(store: Store, table: TableName): Promise<Looked[]> {
  const unchanged = unchangedShape.safeParse(await read(store, layout.looked(table))).data
  const failure = failureShape.safeParse(await read(store, layout.failure(table))).data
  const looks: Looked[] = []
  if (unchanged !== undefined) looks.push(unchanged)
  if (failure !== undefined) looks.push({ ...failure, outcome: 'failed' })
  return looks.toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

async function read(store: Store, key: string): Promise<unknown> {
  try {
    return JSON.parse(String(await store.get(key))) as unknown
  } catch {
    return null
  }
}
