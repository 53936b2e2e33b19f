import { allTables, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import type { IngestOptions } from '../../ingest/ingest.ts'
import { writeSamples } from '../../ingest/sample/write.ts'
import { isQuick } from './runs.ts'
import { workshop, type Workshop } from './workshop.ts'

/** A choice of the tables of catalog.yaml: all, and a fifth of them in `make test`. */
const byLevel = (_table: Table, index: number): boolean => !isQuick || index % 5 === 1

/**
 * Ingests samples of the tables of catalog.yaml.
 *
 * @param scale rows as `make sample` takes it: 1 writes thousands a table
 * @param isChosen tables that the catalog of the workshop has
 */
export async function publishSamples(
  scale: number,
  isChosen: (table: Table, index: number) => boolean = byLevel,
  options: Partial<IngestOptions> = {},
): Promise<Workshop> {
  const loaded = await loadCatalog('catalog.yaml')
  const chosen = allTables(loaded).filter(isChosen)
  const shop = await workshop(withTables(loaded, chosen))
  const samples = writeSamples(shop.sources, chosen, scale)
  while ((await samples.next()).done !== true);
  for (const outcome of await shop.ingest(options))
    if (outcome.status !== 'published') throw new Error(JSON.stringify(outcome))
  return shop
}

/** The catalog without all other tables, and without the datasets that then have none. */
function withTables(catalog: Catalog, tables: readonly Table[]): Catalog {
  const datasets = [...catalog.datasets].flatMap(([slug, dataset]) => {
    const own = [...dataset.tables].filter(([, table]) => tables.includes(table))
    return own.length === 0 ? [] : [[slug, { ...dataset, tables: new Map(own) }] as const]
  })
  return { ...catalog, datasets: new Map(datasets) }
}
