import { type Field, tableId } from '../../../core/catalog/catalog.ts'
import type { Requester } from '../engine/requester.ts'
import { type CacheStats, Cache } from '../../base/cache.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { orderTerm, quotedName } from '../../../core/sql.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { RowSet } from './row-set.ts'

/**
 * Says which rows of a snapshot a query chooses, and in which order: the seam where another engine than DuckDB is
 * plugged in. What it must hold:
 *
 * - The conditions all hold of each chosen row, and every word is in some search field of it, whatever its case and
 *   accents; an operator compares as `query/operators.ts` says, and a null satisfies `isnull` and `ne` alone.
 * - The rows come by the keys of the order, nulls last, and by position where these tell no difference; without an
 *   order, by position.
 * - A snapshot never changes, so the same query has the same answer in every process, and what was found may be kept.
 * - What it reads of the files of a snapshot may be damaged meanwhile: it says so by the snapshot (`takeOut` where that is
 *   proved, `doubt` where it is not) and throws DamagedTable. Snapshots stay as long as a request uses them, without more.
 * - Many ask at the same time; each call ends soon after the signal of its requester.
 */
export interface Selections {
  /**
   * @throws TooCostly where it would take more than one query may, QueueFull where it could be done later,
   *   QueryTimeout, or DamagedTable
   */
  find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection>
  /**
   * The chosen rows by the values of a field: how many have each, and what a measure comes to in them. Sums are exact.
   *
   * @returns groups by the bytes of their keys, null last
   * @throws as `find` does, and TooCostly where there are more than `groupsMax`
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
  /** So many characters of a value tell its group, such as 7 of a date for its month; null for all. */
  readonly length: number | null
  /** An integer or decimal field; null where rows are only counted. */
  readonly measure: Field | null
}

/** Rows whose value, or the head of it, is the same. */
export interface Group {
  /** As text, as it is rendered; null where there is no value. */
  readonly key: string | null
  readonly rows: number
  /** Of the measure, with all its digits; null where it has no value in any of the rows, or is none. */
  readonly sum: string | null
}

/** More of them are no chart any more. */
export const groupsMax = 2000

/** A text of a query that no row has, and the value of its field that is nearest to it. */
export interface Hint {
  readonly field: Field
  readonly missing: string
  readonly nearest: string
  /** Whether the two differ only in case, accents and blanks at the ends. */
  readonly isSameInAnyCase: boolean
}

/** The chosen rows in their order. */
export interface Selection {
  /** Explains why the selection may be empty. */
  readonly hints?: readonly Hint[]
  /** How many there are, exactly. */
  readonly count: number
  /**
   * Where some of them lie.
   *
   * @param first index in the selection, from 0
   * @param rows how many; past the end there are none
   * @returns positions in the snapshot, from 0, in the order of the selection
   * @throws as `find` does
   */
  readonly slice: (first: number, rows: number, requester: Requester) => Promise<Uint32Array>
}

/** Whether a filter leaves all rows. */
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

/** What a selection keeps: the rows as they lie, or numbers. */
type Kinds = { readonly rows: RowSet; readonly numbers: Uint32Array }

/** Alike for filters that choose the same rows of a snapshot. */
export function filterKey({ table, manifest }: Snapshot, { key }: RowFilter): string {
  return `${tableId(table)}/${manifest.snapshot} ${key}`
}

/** What was found for selections, of all kinds of them: once for all who want it at the same time, and kept. */
export class Found {
  readonly #kept: Cache<RowSet | Uint32Array>
  readonly #flights = new SingleFlight<RowSet | Uint32Array>()

  /** @param bytesMax of all together; 0 keeps nothing */
  constructor(bytesMax: number) {
    this.#kept = new Cache(bytesMax, (found) =>
      Math.max(1, found instanceof RowSet ? found.bytes : found.byteLength),
    )
  }

  get stats(): CacheStats {
    return this.#kept.stats
  }

  /** Numbers that are at hand, without counting that they were not. */
  numbersAtHand(key: string): Uint32Array | undefined {
    const kept = this.#kept.getAgain(key)
    return kept instanceof Uint32Array ? kept : undefined
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
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    return this.#flights.join(key, requester.signal(), async (signal) => {
      const made = await work(signal)
      this.#kept.set(key, made)
      return made
    })
  }
}

type Work<Kind extends keyof Kinds> = (signal: AbortSignal) => Promise<Kinds[Kind]>
