import type { Field } from '../../../core/catalog/catalog.ts'
import type { Requester } from '../engine/requester.ts'
import type { KeptStats } from '../../base/kept.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

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

/** Selections that report what is cached of them. */
export interface KeptSelections extends Selections {
  readonly stats: KeptStats
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
