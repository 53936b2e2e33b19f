import path from 'node:path'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/published.ts'
import { replaceSummed } from '../../core/warehouse/summed-files.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { writeViews, type LeftOut, type PublishedTable } from '../../core/warehouse/views.ts'
import { withWarehouse } from './lock.ts'
import { inScratch } from './scratch.ts'

/**
 * Makes `warehouse.duckdb` anew and puts it in the place of the old one: views of all that is published, usable from any
 * folder, without tables whose parts cannot be read. Whoever has the old one open keeps it, and its snapshots stay for
 * their time of grace.
 */
export async function publishViews(store: Store, catalog: Catalog): Promise<LeftOut[]> {
  return withWarehouse(store, () =>
    inScratch(store, async (scratch) => {
      const tables = await publishedTables(store, catalog)
      const draft = path.join(scratch, layout.views)
      const leftOut = await writeViews(draft, tables, {
        warehouse: store.isElsewhere ? null : store.localFolder,
        base: store.address,
        scratch,
      })
      // Of someone who wrote into the old file; it would be taken for ours.
      await store.remove(`${layout.views}.wal`)
      await replaceSummed(store, draft, layout.views)
      return leftOut
    }),
  )
}

/** What is published as the catalog declares it. */
async function publishedTables(store: Store, catalog: Catalog): Promise<PublishedTable[]> {
  const found: PublishedTable[] = []
  for (const dataset of catalog.datasets.values()) {
    for (const table of dataset.tables.values()) {
      // A damaged one is told by the ingest and by verify; here it is only left out.
      const manifest = await publishedOf(store, table).catch(() => null)
      if (manifest !== null && holdsFields(manifest, table)) found.push({ dataset, table, manifest })
    }
  }
  return found
}
