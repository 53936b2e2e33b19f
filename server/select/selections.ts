import type { Requester } from '../engine/requester.ts'
import type { RowFilter } from '../query/query.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

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
}

/** The chosen rows in their order. */
export interface Selection {
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
