import { filterOf, isParameterName } from '../../query/query.ts'
import type { Total } from '../../query/totals.ts'
import { isUnfiltered, type Search } from '../selection/selections.ts'
import type { RowEngine } from './page.ts'

/**
 * Returns the total if a search selects both its rows and other rows; else null.
 * @throws the errors of `Selections.find`
 */
export async function totalIn(
  total: Total | null,
  search: Search,
  { selections }: Pick<RowEngine, 'selections'>,
): Promise<Total | null> {
  if (total === null || isUnfiltered(search.filter)) return total
  const condition = { field: total.field, operator: 'eq', values: [total.value] } as const
  const { conditions, words } = search.filter
  const filter = filterOf([...conditions, condition], words, isParameterName)
  const everything = await selections.find(search)
  const ofTotal = await selections.find({ ...search, filter })
  return ofTotal.count > 0 && ofTotal.count < everything.count ? total : null
}
