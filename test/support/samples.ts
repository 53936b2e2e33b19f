import { parse } from 'yaml'
import { allTables, tableId, type Table } from '../../core/catalog/catalog.ts'
import { readCatalogFiles, type CatalogFile } from '../../core/catalog/catalog-files.ts'
import { parseCatalog, parseCatalogFiles } from '../../core/catalog/load.ts'
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
  const files = await readCatalogFiles('catalog.yaml')
  const chosen = allTables(parseCatalogFiles(files)).filter(isChosen)
  const shop = await workshop(parseCatalog(withTables(files, chosen.map(tableId)), 'catalog.yaml'))
  await copySamples(shop.sources, chosen)
  for (const outcome of await shop.ingest(options))
    if (outcome.status !== 'published') throw new Error(JSON.stringify(outcome))
  return shop
}

/** Returns the text of a catalog with these tables only, and without the datasets that then have none. */
function withTables([main, ...included]: readonly CatalogFile[], ids: readonly string[]): string {
  const { include: _, ...catalog } = parse(main?.text ?? '') as Record<string, unknown>
  const definitions = included.map(({ text }) => parse(text) as { slug: string; tables?: { name: string }[] })
  const datasets = definitions.flatMap(({ slug, tables = [], ...dataset }) => {
    const chosen = tables.filter(({ name }) => ids.includes(`${slug}/${name}`))
    return chosen.length === 0 ? [] : [{ slug, ...dataset, tables: chosen }]
  })
  return JSON.stringify({ ...catalog, datasets })
}
