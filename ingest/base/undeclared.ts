import { allTables, tableId, type Catalog } from '../../core/catalog/catalog.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'

/** Names published tables that the catalog does not declare, such as renamed ones; null for none. */
export async function undeclaredText(store: Store, catalog: Catalog): Promise<string | null> {
  const declared = new Set(allTables(catalog).map(tableId))
  const undeclared: string[] = []
  for (const dataset of await store.list('')) {
    if (dataset.startsWith('.')) continue
    for (const name of await store.list(dataset)) {
      const table = { dataset, name }
      if (!declared.has(tableId(table)) && (await store.stat(layout.pointer(table))) !== null)
        undeclared.push(tableId(table))
    }
  }
  if (undeclared.length === 0) return null
  return `published, but not in the catalog, so that their addresses answer 404: ${undeclared.join(', ')}; declare them again, or remove their folders from ${store.address}`
}
