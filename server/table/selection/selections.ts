import { type Field, tableId } from '../../../core/catalog/catalog.ts'
import type { Requester } from '../engine/requester.ts'
import { type CacheStats, Cache } from '../../base/cache.ts'
import type { Condition } from '../../query/conditions.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { orderTerm, quotedName } from '../../../core/sql.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { RowSet } from './row-set.ts'

/**
 * Finds which rows of a snapshot match a query, and in which order. Every engine, such as DuckDB or
 * ClickHouse, implements this. Rules:
 *
 * - Every condition holds in each matching row, and some search field contains each word, ignoring case and
 *   accents. Operators compare as `query/operators.ts` defines; null satisfies only `isnull` and `ne`.
 * - Rows are sorted by the keys of the order, nulls last, ties by position; without an order, by position.
 * - A snapshot never changes, so a query has the same result in every process, and results may be cached.
 * - Files of a snapshot may become damaged during a call. An engine then calls `withdraw` if the damage is
 *   certain, or else `recheck`, and throws DamagedTable. Files are not removed while a request uses their
 *   snapshot.
 * - Calls run concurrently; each ends soon after the signal of its requester fires.
 */
export interface Selections {
  /**
   * @throws TooCostly if it would exceed the limits of a query, QueueFull if it may succeed later,
   *   QueryTimeout, or DamagedTable
   */
  find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection>
  /**
   * Groups matching rows by the values of a field: returns the number of rows, and the exact sum of a
   * measure.
   * @returns groups sorted by the bytes of their keys, null last
   * @throws the errors of `find`, and TooCostly for more than `groupsMax`
   */
  groups(
    snapshot: Snapshot,
    filter: RowFilter,
    grouping: Grouping,
    requester: Requester,
  ): Promise<readonly Group[]>
}

export interface Grouping {
  readonly by: Field
  /** Leading characters of a value that form the group, such as 7 of a date for its month; null for all. */
  readonly length: number | null
  /** An integer or decimal field; null to count rows only. */
  readonly measure: Field | null
}

/** Rows with the same value, or the same start of it. */
export interface Group {
  /** Key as text; null for null. */
  readonly key: string | null
  readonly rows: number
  /** Exact sum of the measure; null without a measure or without any value. */
  readonly sum: string | null
}

/** Maximum number of groups that a chart can show. */
export const groupsMax = 2000

/** An operand that is none of the values of its field. */
export interface Hint {
  readonly condition: Condition
  readonly missing: string
  /** Nearest value of the field; null if none is near. */
  readonly nearest: string | null
  /** True if the two differ only in case, accents and blanks at the ends. */
  readonly isSameInAnyCase: boolean
}

/** Matching rows in their order. */
export interface Selection {
  /** Operands that no row has. */
  readonly hints?: readonly Hint[]
  /** Exact number of rows. */
  readonly count: number
  /**
   * Returns positions of some rows.
   * @param first index in the selection, from 0
   * @param rows maximum number of rows; fewer are returned at the end of the selection
   * @returns positions in the snapshot, from 0, in the order of the selection
   * @throws the errors of `find`
   */
  readonly slice: (first: number, rows: number, requester: Requester) => Promise<Uint32Array>
}

/** Returns whether a filter matches all rows. */
export function isUnfiltered({ conditions, words }: Pick<RowFilter, 'conditions' | 'words'>): boolean {
  return conditions.length === 0 && words.length === 0
}

/** Returns whether a query matches all rows in the order of the table, so that no selection is necessary. */
export function isWholeTable(snapshot: Snapshot, filter: RowFilter): boolean {
  return isUnfiltered(filter) && isInFileOrder(snapshot, filter)
}

/** Returns the fields that a filter restricts to one value, so that sorting by them has no effect. */
export function fixedFields({ conditions }: Pick<RowFilter, 'conditions'>): Set<string> {
  return new Set(
    conditions.flatMap(({ field, operator, values }) =>
      operator === 'eq' || (operator === 'isnull' && values[0] === 'true') ? [field.name] : [],
    ),
  )
}

/**
 * Returns whether the order of the table is also the requested order. Fields that the filter restricts to one
 * value are ignored in both.
 */
export function isInFileOrder({ manifest }: Snapshot, { ordering, conditions }: RowFilter): boolean {
  const settled = fixedFields({ conditions })
  const isSettled = (term: string): boolean =>
    [...settled].some((name) => term.startsWith(`${quotedName(name)} `))
  const lying = manifest.order.filter((term) => !isSettled(term))
  return ordering
    .filter(({ field }) => !settled.has(field))
    .every(({ field, direction }, index) => lying[index] === orderTerm({ field, direction }))
}

/** Cached results: rows in the order of the table, or numbers such as sorted positions. */
type Kinds = { readonly rows: RowSet; readonly numbers: Uint32Array }

/** Cache key: equal for filters that match the same rows of a snapshot. */
export function filterKey({ table, manifest }: Snapshot, { key }: RowFilter): string {
  return `${tableId(table)}/${manifest.snapshot} ${key}`
}

/** Caches results of selections of all kinds, and computes each once for concurrent requests. */
export class SelectionCache {
  readonly #cache: Cache<RowSet | Uint32Array>
  readonly #flights = new SingleFlight<RowSet | Uint32Array>()

  /** @param bytesMax limit for all together; 0 disables the cache */
  constructor(bytesMax: number) {
    this.#cache = new Cache(bytesMax, (found) =>
      Math.max(1, found instanceof RowSet ? found.bytes : found.byteLength),
    )
  }

  get stats(): CacheStats {
    return this.#cache.stats
  }

  /** Returns cached numbers without counting a miss. */
  numbersAtHand(key: string): Uint32Array | undefined {
    const cached = this.#cache.getAgain(key)
    return cached instanceof Uint32Array ? cached : undefined
  }

  async rows(key: string, requester: Requester, work: Work<'rows'>): Promise<RowSet> {
    const found = await this.#once(key, requester, work)
    if (!(found instanceof RowSet)) throw new TypeError('expected a row set')
    return found
  }

  async numbers(key: string, requester: Requester, work: Work<'numbers'>): Promise<Uint32Array> {
    const found = await this.#once(key, requester, work)
    if (!(found instanceof Uint32Array)) throw new TypeError('expected numbers')
    return found
  }

  async #once(key: string, requester: Requester, work: Work<keyof Kinds>): Promise<Kinds[keyof Kinds]> {
    const cached = this.#cache.get(key)
    if (cached !== undefined) return cached
    return this.#flights.join(key, requester.signal, async (signal) => {
      const result = await work(signal)
      this.#cache.set(key, result)
      return result
    })
  }
}

type Work<Kind extends keyof Kinds> = (signal: () => AbortSignal) => Promise<Kinds[Kind]>
