import type { Search, Selection } from './selections.ts'

/** An access path: a way of finding rows, such as by codes or with DuckDB. */
export interface AccessPath<Step, Result = Selection> {
  /** Returns how this path finds rows of a search; null if it cannot, or if another one costs less. */
  plan(search: Search): Step | null | Promise<Step | null>
  /**
   * Finds the rows of a step in the order of the search, or at least in the order of the table.
   * @throws the errors of `Selections.find`
   */
  find(search: Search, step: Step): Promise<Result>
}
