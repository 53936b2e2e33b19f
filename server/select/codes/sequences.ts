import { orderTerm } from '../../../core/sql.ts'
import type { CodesFile, Order } from '../../../core/warehouse/manifest.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
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

/**
 * The order in which the rows that a condition on one field chooses lie together, in the order that is asked for, and
 * are kept themselves; undefined where there is none.
 */
export function orderTogether(snapshot: Snapshot, filter: RowFilter): Order | undefined {
  const { orders = [], order: lying } = snapshot.manifest
  const settled = settledBy(filter)
  const isOne = filter.conditions.length === 1 && settled.size === 1 && filter.words.length === 0
  if (!isOne || !isInFileOrder(snapshot, filter)) return undefined
  const terms = lying.filter((term) => ![...settled].some((field) => isOf(term, field)))
  return orders.find(
    ({ keys: [first, ...others], packs }) =>
      packs !== undefined &&
      first !== undefined &&
      first.direction === 'asc' &&
      settled.has(first.field) &&
      others.every((key, index) => orderTerm(key) === terms[index]),
  )
}

function isOf(term: string, field: string): boolean {
  return (['asc', 'desc'] as const).some((direction) => orderTerm({ field, direction }) === term)
}
