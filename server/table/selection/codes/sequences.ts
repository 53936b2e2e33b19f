import { orderTerm } from '../../../../core/sql.ts'
import type { CodesFile, Order } from '../../../../core/warehouse/manifest.ts'
import type { RowFilter } from '../../../query/query.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { isInFileOrder, settledBy } from '../whole.ts'

/** The rows of a snapshot in an order in which it keeps codes of them. */
export interface Sequence {
  /** Null for the order in which they lie. */
  readonly order: Order | null
  readonly codes: CodesFile | undefined
  /** Whether it is the order that is asked for; or else they are to be sorted. */
  readonly isInOrder: boolean
}

/** The sequence in which rows are looked for: in the order that is asked for, if there is one. */
export function sequenceFor(snapshot: Snapshot, filter: RowFilter): Sequence {
  const { codes, orders = [] } = snapshot.manifest
  if (isInFileOrder(snapshot, filter)) return { order: null, codes, isInOrder: true }
  const settled = settledBy(filter)
  const left = (keys: Order['keys'] | RowFilter['ordering']): string =>
    keys
      .filter(({ field }) => !settled.has(field))
      .map((key) => orderTerm(key))
      .join()
  const order = orders.find(({ keys }) => left(keys) === left(filter.ordering))
  if (order === undefined) return { order: null, codes, isInOrder: false }
  return { order, codes: order.codes, isInOrder: true }
}

/** Whether all that is looked at of a sequence has codes. */
export function areCoded(
  { codes, isInOrder }: Sequence,
  { table }: Snapshot,
  { conditions, words, ordering }: RowFilter,
): boolean {
  const asked = [
    ...conditions.map(({ field }) => field.name),
    ...(words.length > 0 ? table.search : []),
    ...(isInOrder ? [] : ordering.map(({ field }) => field)),
  ]
  return asked.every((name) => codes?.fields.includes(name) === true)
}
