import type { Search, Selection } from './selections.ts'

/** A way of finding rows, such as by codes or with DuckDB. */
export interface AccessPath<Step, Result = Selection> {
  /** Null if this path cannot find the rows, or another one costs less. */
  plan(search: Search): Step | null | Promise<Step | null>
  /**
   * Finds rows in the order of the search, or at least of the table.
   * @throws the errors of `Selections.find`
   */
  find(search: Search, step: Step): Promise<Result>
}
