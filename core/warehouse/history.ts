import type { Table } from '../catalog/catalog.ts'
import { readWithdrawn } from './withdrawn.ts'
import { setAsideAt } from './damaged.ts'
import { manifestOf, snapshotsOnDisk } from './on-disk.ts'
import type { Manifest } from './manifest.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** Far more than are ever kept. */
const chainMax = 1000

/**
 * What was published before a snapshot, the latest first, as far as it is kept; a damaged manifest ends it, since what
 * came before that one is not known.
 */
export async function* publishedBefore(
  warehouse: string,
  table: TableName,
  { previous: first }: Pick<Manifest, 'previous'>,
): AsyncGenerator<Manifest> {
  for (let previous = first, steps = 0; previous !== null && steps < chainMax; steps += 1) {
    const manifest = await manifestOf(warehouse, table, previous).catch(() => null)
    if (manifest === null) return
    yield manifest
    previous = manifest.previous
  }
}

/**
 * What lies on disk and was neither rolled back nor found damaged, the newest first: the history where the pointer
 * cannot be read.
 */
export async function* newestOnDisk(warehouse: string, table: TableName): AsyncGenerator<Manifest> {
  const withdrawn = new Set((await readWithdrawn(warehouse, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsOnDisk(warehouse, table)) {
    if (withdrawn.has(id) || (await setAsideAt(warehouse, table, id)) !== null) continue
    const manifest = await manifestOf(warehouse, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}
