import path from 'node:path'
import { allTables, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { publishedBefore } from '../../core/warehouse/history.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { replaceSummed } from '../../core/warehouse/summed-files.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { writeViews, type OmittedTable, type PublishedTable } from '../../core/warehouse/views.ts'
import { withWarehouseLock } from './lock.ts'
import { inScratch } from './scratch.ts'

/**
 * Replaces `warehouse.duckdb`, whose views work from any folder. Users may still read an old file, so its
 * snapshots stay for a grace time.
 */
export async function publishViews(store: Store, catalog: Catalog): Promise<OmittedTable[]> {
  return withWarehouseLock(store, () =>
    inScratch(store, async (scratch) => {
      const tables = await publishedTables(store, catalog)
      const draft = path.join(scratch, layout.views)
      const omittedTables = await writeViews(draft, tables, {
        warehouse: store.isRemote ? null : store.localFolder,
        base: store.address,
        scratch,
      })
      // If a user of the old file left a write-ahead log, DuckDB would apply it to the new file.
      await store.remove(`${layout.views}.wal`)
      await replaceSummed(store, draft, layout.views)
      // Removes files that former versions of Acervo wrote.
      for (const file of ['acervo.ducklake', layout.checksumOf('acervo.ducklake')]) await store.remove(file)
      return omittedTables
    }),
  )
}

const tablesAtOnce = 16

async function publishedTables(store: Store, catalog: Catalog): Promise<PublishedTable[]> {
  const tables: PublishedTable[] = []
  for await (const published of inOrder(allTables(catalog), tablesAtOnce, (table) =>
    publishedTable(store, catalog, table),
  ))
    if (published !== null) tables.push(published)
  return tables
}

async function publishedTable(store: Store, catalog: Catalog, table: Table): Promise<PublishedTable | null> {
  const dataset = catalog.datasets.get(table.dataset)
  // The ingest and `acervo verify` report a damaged manifest; the views only omit its table.
  const manifest = await publishedOf(store, table).catch(() => null)
  if (dataset === undefined || manifest === null || !holdsFields(manifest, table)) return null
  const earlierManifests: Manifest[] = []
  for await (const earlierTable of publishedBefore(store, table, manifest))
    earlierManifests.push(earlierTable)
  return { dataset, table, manifest, earlier: earlierManifests }
}
