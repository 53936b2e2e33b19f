import { orderTerm, quotedName } from '../../../core/sql.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** What needs no selection, since the rows lie as they are asked for. */

export function isAll({ conditions, words }: Pick<RowFilter, 'conditions' | 'words'>): boolean {
  return conditions.length === 0 && words.length === 0
}

/** Whether a query is for all rows as they lie, so that nothing has to be selected. */
export function isWhole(snapshot: Snapshot, filter: RowFilter): boolean {
  return isAll(filter) && isInFileOrder(snapshot, filter)
}

/** The fields of which a filter leaves one value, so that they order nothing. */
export function settledBy({ conditions }: Pick<RowFilter, 'conditions'>): Set<string> {
  return new Set(
    conditions.flatMap(({ field, operator, values }) =>
      operator === 'eq' || (operator === 'isnull' && values[0] === 'true') ? [field.name] : [],
    ),
  )
}

/** Whether the rows come in the asked order as they lie: a field of which one value is left orders nothing. */
export function isInFileOrder({ manifest }: Snapshot, { ordering, conditions }: RowFilter): boolean {
  const settled = settledBy({ conditions })
  const isSettled = (term: string): boolean =>
    [...settled].some((name) => term.startsWith(`${quotedName(name)} `))
  const lying = manifest.order.filter((term) => !isSettled(term))
  return ordering
    .filter(({ field }) => !settled.has(field))
    .every(({ field, direction }, index) => lying[index] === orderTerm({ field, direction }))
}
