import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { didYouMean } from '../../core/text.ts'
import { StartError } from '../../core/errors.ts'

/**
 * Tables named on the command line; without names, all.
 * @param names `dataset/table`, or `dataset` for all its tables
 * @throws StartError with the first unknown name
 */
export function chosenTables(catalog: Catalog, names: readonly string[]): Table[] {
  const tables = allTables(catalog)
  const targets = [...catalog.datasets.keys(), ...tables.map(tableId)]
  const unknown = names.find((name) => !targets.includes(name))
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, targets) || `; known: ${targets.join(', ')}`
    throw new StartError(`there is no table or dataset ${unknown} in the catalog${hint}`)
  }
  if (names.length === 0) return tables
  return tables.filter((table) => names.includes(tableId(table)) || names.includes(table.dataset))
}
