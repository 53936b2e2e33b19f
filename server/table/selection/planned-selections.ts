import type { ClickHouse } from '../../../core/clickhouse/link.ts'
import { impliedBy } from '../../query/conditions.ts'
import type { Pool } from '../engine/pool.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import { ListedOperands } from './listed-operands.ts'
import { describePlan, planOf, type SelectionPlan, type AccessPaths } from './plan.ts'
import type { SelectionCache } from './selection-cache.ts'
import {
  firstPositions,
  type Group,
  type Grouping,
  type Search,
  type Selection,
  type Selections,
} from './selections.ts'
import { ClickHouseScan, NotInClickHouse, type ClickHouseLimits } from './access/clickhouse.ts'
import { CodeScan, type CodedLimits } from './access/codes.ts'
import { DuckDbScan, type SelectionLimits } from './access/duckdb.ts'

/** Finds rows by the plan of each query. */
export class PlannedSelections implements Selections {
  readonly #paths: AccessPaths
  readonly #operands: ListedOperands

  constructor(
    pool: Pool,
    dictionaries: Dictionaries,
    cache: SelectionCache,
    limits: SelectionLimits & CodedLimits & ClickHouseLimits,
    clickHouse: ClickHouse | null = null,
  ) {
    this.#paths = {
      clickHouse: clickHouse === null ? null : new ClickHouseScan(clickHouse, pool, cache, limits),
      codes: new CodeScan(pool, dictionaries, cache, limits),
      duckDb: new DuckDbScan(pool, cache, limits),
    }
    this.#operands = new ListedOperands(dictionaries, pool)
  }

  async find(search: Search): Promise<Selection> {
    await this.#operands.requireSeparateValues(search)
    const selection = await this.#find(withImplied(search), this.#paths)
    // Hints are optional: an error must not fail the response.
    const hints = await this.#operands.hints(search, selection.count === 0).catch(() => [])
    return hints.length === 0 ? selection : { ...selection, hints }
  }

  async groups(search: Search, grouping: Grouping): Promise<readonly Group[]> {
    await this.#operands.requireSeparateValues(search)
    return this.#paths.duckDb.groups(withImplied(search), grouping)
  }

  async #find(search: Search, paths: AccessPaths): Promise<Selection> {
    const plan = await planOf(search, paths)
    const found = await this.#run(search, plan)
    const { count } = found
    return { plan: found.plan ?? describePlan(search, plan), count, slice: (...some) => found.slice(...some) }
  }

  #run(search: Search, plan: SelectionPlan): Selection | Promise<Selection> {
    switch (plan.by) {
      case 'table':
        return firstPositions(search.snapshot.manifest.rows)
      case 'clickhouse':
        return this.#inClickHouse(search, plan)
      case 'codes':
        return this.#paths.codes.find(search, plan.step)
      case 'duckdb':
        return this.#paths.duckDb.find(search, plan.step)
    }
  }

  /** Finds rows with ClickHouse, or another way if it lacks the table. */
  async #inClickHouse(
    search: Search,
    { scan, step }: Extract<SelectionPlan, { by: 'clickhouse' }>,
  ): Promise<Selection> {
    const orElsewhere = async <T>(work: () => Promise<T>, other: (local: Selection) => T | Promise<T>) => {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof NotInClickHouse)) throw error
        return other(await this.#find(search, { ...this.#paths, clickHouse: null }))
      }
    }
    const find = async (): Promise<Selection> => {
      const found = await scan.find(search, step)
      return {
        count: found.count,
        slice: (...some) =>
          orElsewhere(
            async () => found.slice(...some),
            (local) => local.slice(...some),
          ),
      }
    }
    return orElsewhere(find, (local) => local)
  }
}

/** Adds conditions on fields that follow from conditions on their parts, since indexes have fields. */
function withImplied(search: Search): Search {
  const { filter } = search
  const implied = filter.conditions.flatMap((condition) => impliedBy(condition))
  if (implied.length === 0) return search
  return { ...search, filter: { ...filter, conditions: [...filter.conditions, ...implied] } }
}
