import { allTables, tableId, type Catalog, type Table } from '../core/catalog/catalog.ts'
import { didYouMean } from '../core/nearest.ts'
import { StartError } from '../core/errors.ts'

/**
 * The tables named on the command line, all where none is named.
 *
 * @param ids each `dataset/table`
 * @throws StartError naming the one that the catalog does not have
 */
export function chosenTables(catalog: Catalog, ids: readonly string[]): Table[] {
  const tables = allTables(catalog)
  const known = tables.map(tableId)
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined) {
    throw new StartError(
      `there is no table ${unknown} in the catalog${didYouMean(unknown, known)}; known: ${known.join(', ')}`,
    )
  }
  return ids.length === 0 ? tables : tables.filter((table) => ids.includes(tableId(table)))
}
