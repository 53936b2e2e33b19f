import type { Table } from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { manifestOf, snapshotsOnDisk } from '../../core/warehouse/on-disk.ts'
import { readWithdrawn } from '../../core/warehouse/withdrawn.ts'

/** How far back a whole one is looked for. */
const chainMax = 100

/**
 * What may serve in place of a snapshot that is damaged, best first: what was published before it, by the chain of
 * manifests, or, where the pointer itself cannot be read, the newest on disk that was not rolled back.
 *
 * @param from null where the pointer cannot be read
 */
export async function* olderThan(
  warehouse: string,
  table: Table,
  from: Manifest | null,
): AsyncGenerator<Manifest> {
  if (from !== null) {
    let { previous } = from
    for (let steps = 0; previous !== null && steps < chainMax; steps += 1) {
      const manifest = await manifestOf(warehouse, table, previous)
      if (manifest === null) return
      yield manifest
      previous = manifest.previous
    }
    return
  }
  const withdrawn = new Set((await readWithdrawn(warehouse, table)).map(({ snapshot }) => snapshot))
  for (const id of await snapshotsOnDisk(warehouse, table)) {
    const manifest = withdrawn.has(id) ? null : await manifestOf(warehouse, table, id).catch(() => null)
    if (manifest !== null) yield manifest
  }
}
