import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { allTables, tableId, type Table } from '../../core/catalog/catalog.ts'
import { parseCatalog } from '../../core/catalog/load.ts'
import type { IngestOptions } from '../../ingest/run/options.ts'
import { copySamples } from '../../ingest/sample/copy.ts'
import { isQuick } from './runs.ts'
import { workshop, type Workshop } from './workshop.ts'

/** A choice of the tables of catalog.yaml: all, and a tenth of them in `make test`. */
const byLevel = (_table: Table, index: number): boolean => !isQuick || index % 10 === 1

/**
 * Ingests samples of the tables of catalog.yaml.
 * @param isChosen tables that the catalog of the workshop has
 */
export async function publishSamples(
  isChosen: (table: Table, index: number) => boolean = byLevel,
  options: Partial<IngestOptions> = {},
): Promise<Workshop> {
  const text = await readFile('catalog.yaml', 'utf8')
  const chosen = allTables(parseCatalog(text, 'catalog.yaml')).filter(isChosen)
  const shop = await workshop(parseCatalog(withTables(text, chosen.map(tableId)), 'catalog.yaml'))
  await copySamples(shop.sources, chosen)
  for (const outcome of await shop.ingest(options))
    if (outcome.status !== 'published') throw new Error(JSON.stringify(outcome))
  return shop
}

/** The text of a catalog without all other tables, and without the datasets that then have none. */
function withTables(text: string, ids: readonly string[]): string {
  const catalog = parse(text) as { datasets: { slug: string; tables?: { name: string }[] }[] }
  const datasets = catalog.datasets.flatMap(({ slug, tables = [], ...dataset }) => {
    const own = tables.filter(({ name }) => ids.includes(`${slug}/${name}`))
    return own.length === 0 ? [] : [{ slug, ...dataset, tables: own }]
  })
  return JSON.stringify({ ...catalog, datasets })
}
