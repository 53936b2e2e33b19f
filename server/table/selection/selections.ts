import { orderTerm, quotedName } from '../../../core/sql.ts'
import { fieldsWithOld } from '../../../core/warehouse/changes.ts'
import type { Condition } from '../../query/conditions.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Requester } from '../engine/requester.ts'
import type { Grouping, Groups } from '../groups/groups.ts'

/** A query, with the client that waits for it. */
export interface Search {
  readonly snapshot: Snapshot
  readonly filter: RowFilter
  readonly requester: Requester
}

/**
 * Finds matching rows and their order. Rules for every access path:
 * - Every condition holds in each matching row, and some search field contains each word, ignoring case and
 * accents. Operators compare as `query/operators.ts` defines; null satisfies only `isnull` and `ne`.
 * - Rows are sorted by the order, nulls last, ties by position.
 * - A snapshot never changes, so results may be cached.
 * - On proven damage, a path calls `withdraw`, on suspected damage `recheck`, and throws DamagedTable. Files
 * stay while a request uses their snapshot.
 * - Calls run concurrently; each ends soon after the signal of its requester fires.
 */
export interface Selections {
  /**
   * @throws TooCostly if it would exceed the limits of a query, QueueFull if it may succeed later,
   * QueryTimeout, or DamagedTable
   */
  find(search: Search): Promise<Selection>
  /**
   * Ignores the order of the search.
   * @throws the errors of `find`, and TooCostly with the number of groups if they may need too much memory
   */
  groups(search: Search, grouping: Grouping): Promise<Groups>
}

export interface Hint {
  readonly condition: Condition
  readonly missing: string
  readonly nearest: string | null
  /** Differs only in case, accents and blanks at the ends. */
  readonly isSameInAnyCase: boolean
}

export interface Selection {
  readonly hints?: readonly Hint[]
  /** Text like `codes`; see `describePlan`. */
  readonly plan?: string
  readonly count: number
  /**
   * @param first index in the selection, from 0
   * @param rows fewer are returned at the end of the selection
   * @returns positions in the snapshot, from 0, in the order of the selection
   * @throws the errors of `find`
   */
  slice(first: number, rows: number, requester: Requester): Uint32Array | Promise<Uint32Array>
}

/** The first positions, ascending. */
export function firstPositions(count: number): Selection {
  return { count, slice: (first, rows) => consecutive(first, Math.min(rows, count - first)) }
}

/** None if `rows` is negative. */
export function consecutive(first: number, rows: number): Uint32Array {
  const numbers = new Uint32Array(Math.max(0, rows))
  for (let row = 0; row < numbers.length; row += 1) numbers[row] = first + row
  return numbers
}

export function isUnfiltered({ conditions, words }: Pick<RowFilter, 'conditions' | 'words'>): boolean {
  return conditions.length === 0 && words.length === 0
}

/** All rows in order need no selection. */
export function isWholeTable(snapshot: Snapshot, filter: RowFilter): boolean {
  return isUnfiltered(filter) && isInFileOrder(snapshot, filter)
}

/** Fields with one value, by which sorting has no effect. */
export function fixedFields({ conditions }: Pick<RowFilter, 'conditions'>): Set<string> {
  return new Set(
    conditions.flatMap(({ field, operator, values }) =>
      operator === 'eq' || (operator === 'isnull' && values[0] === 'true') ? [field.name] : [],
    ),
  )
}

/** In both orders, ignores fields that have one value. */
export function isInFileOrder({ manifest, changes }: Snapshot, { ordering, conditions }: RowFilter): boolean {
  // The earlier state of a row may satisfy a condition, and the later one not.
  const open = changes === undefined ? [] : fieldsWithOld(changes)
  const fixed = fixedFields({ conditions: conditions.filter(({ field }) => !open.includes(field.name)) })
  const isFixed = (term: string): boolean =>
    [...fixed].some((name) => term.startsWith(`${quotedName(name)} `))
  const terms = manifest.order.filter((term) => !isFixed(term))
  return ordering
    .filter(({ field }) => !fixed.has(field))
    .every(({ field, direction }, index) => terms[index] === orderTerm({ field, direction }))
}
