import type { Table } from '../catalog/catalog.ts'
import { readWithdrawn } from './withdrawn.ts'
import { setAsideAt } from './damaged.ts'
import type { Manifest } from './manifest.ts'
import { manifestOf, snapshotsIn } from './published.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** Far more than are ever kept. */
const chainMax = 1000

/**
 * What was published before a snapshot, the latest first, as far as it is kept; a damaged manifest ends it, since what
 * came before that one is not known.
 */
export async function* publishedBefore(
  store: Store,
  table: TableName,
  { previous: first }: Pick<Manifest, 'previous'>,
): AsyncGenerator<Manifest> {
  for (let previous = first, steps = 0; previous !== null && steps < chainMax; steps += 1) {
    const manifest = await manifestOf(store, table, previous).catch(() => null)
    if (manifest === null) return
    yield manifest
    previous = manifest.previous
  }
}

/**
 * What is in the warehouse and was neither rolled back nor found damaged, the newest first: the history where the pointer
 * cannot be read.
 */
export async function* newestIn(store: Store, table: TableName): AsyncGenerator<Manifest> {
  const withdrawn = new Set((await readWithdrawn(store, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsIn(store, table)) {
    if (withdrawn.has(id) || (await setAsideAt(store, table, id)) !== null) continue
    const manifest = await manifestOf(store, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}
