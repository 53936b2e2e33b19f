import { MemoryGate } from '../../base/queue.ts'
import type { ClickHouse } from '../../../core/clickhouse/link.ts'
import { impliedBy } from '../../query/conditions.ts'
import { baseOf, partsBetween, type Term } from '../../query/date-parts.ts'
import { rowsMeasure } from '../../query/measures.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { TooCostly } from '../engine/errors.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { valueBytesOf, withoutSmallGroups, type Grouping, type Groups } from '../groups/groups.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import { ListedOperands } from './listed-operands.ts'
import { describePlan, planOf, type SelectionPlan, type AccessPaths } from './plan.ts'
import type { SelectionCache } from './selection-cache.ts'
import { firstPositions, isUnfiltered, type Search, type Selection, type Selections } from './selections.ts'
import { ClickHouseScan, NotInClickHouse, type ClickHouseLimits } from './access/clickhouse.ts'
import { CodeScan, type CodedLimits } from './access/codes.ts'
import { valuesOfTerm } from './access/codes/clauses.ts'
import { DuckDbScan, orTooCostly, type SelectionLimits } from './access/duckdb.ts'

interface GroupLimits {
  /** Bytes of groups in one query, and in all running queries. */
  readonly groupBytesMax: number
  readonly queueTimeoutMs: number
}

/** Estimates of distinct values may be too small by this factor. */
const hyperLogLogError = 1.15

export class PlannedSelections implements Selections {
  readonly #paths: AccessPaths
  readonly #operands: ListedOperands
  readonly #cache: SelectionCache
  readonly #dictionaries: Dictionaries
  readonly #groupBytesMax: number
  readonly #gate: MemoryGate

  constructor(
    pool: Pool,
    dictionaries: Dictionaries,
    cache: SelectionCache,
    limits: SelectionLimits & CodedLimits & ClickHouseLimits & GroupLimits,
    clickHouse: ClickHouse | null = null,
  ) {
    this.#paths = {
      clickHouse: clickHouse === null ? null : new ClickHouseScan(clickHouse, pool, cache, limits),
      codes: new CodeScan(pool, dictionaries, cache, limits),
      duckDb: new DuckDbScan(pool, cache, limits),
    }
    this.#operands = new ListedOperands(dictionaries, pool)
    this.#cache = cache
    this.#dictionaries = dictionaries
    this.#groupBytesMax = limits.groupBytesMax
    this.#gate = new MemoryGate({ ...limits, makingBytesMax: limits.groupBytesMax })
  }

  async find(search: Search): Promise<Selection> {
    await this.#operands.requireSeparateValues(search)
    const selection = await this.#find(withImpliedConditions(search), this.#paths)
    // Hints are optional: an error must not fail the response.
    const hints = await this.#operands.hints(search, selection.count === 0).catch(() => [])
    return hints.length === 0 ? selection : { ...selection, hints }
  }

  async groups(search: Search, grouping: Grouping): Promise<Groups> {
    await this.#operands.requireSeparateValues(search)
    const { table } = search.snapshot
    const hidesSmallGroups = table.minGroupSize > 1
    const { terms, measures } = grouping
    const groupingWithCounts = hidesSmallGroups
      ? { terms, measures: [...measures, rowsMeasure(table)] }
      : grouping
    const key = { name: 'groups', terms: namesOf(terms), measures: namesOf(measures) } as const
    let estimate: number | null = null
    try {
      return await this.#cache.groups(search, key, async (signal) => {
        const { client } = search.requester
        const abortableSearch = { ...search, requester: { ...search.requester, signal } }
        const valueBytes = valueBytesOf(search.snapshot, groupingWithCounts)
        estimate = await this.#groupsMax(abortableSearch, terms, this.#groupBytesMax / valueBytes)
        if (estimate * valueBytes > this.#groupBytesMax)
          throw new TooCostly(
            `There may be ${estimate.toLocaleString('en')} groups, which need more memory than a query may use: add a condition, or group by fewer or coarser terms.`,
          )
        const groups = await this.#gate.during(estimate * valueBytes, client, signal, () =>
          this.#groups(withImpliedConditions(abortableSearch), groupingWithCounts),
        )
        return hidesSmallGroups ? withoutSmallGroups(groups, table.minGroupSize) : groups
      })
    } catch (error) {
      if (error instanceof TooCostly) error.groups ??= estimate
      throw error
    }
  }

  async #groups(search: Search, grouping: Grouping): Promise<Groups> {
    return (
      (await this.#paths.codes.groups(search, grouping)) ??
      (await orTooCostly(() => this.#paths.duckDb.groups(search, grouping)))
    )
  }

  /**
   * Estimated maximum of groups.
   * @param enough number of groups up to which a rough estimate suffices
   */
  async #groupsMax(search: Search, terms: Grouping['terms'], enough: number): Promise<number> {
    const { snapshot, filter, requester } = search
    let groupsMax = 1
    for (const term of terms) groupsMax *= await this.#valuesMax(snapshot, term, requester)
    groupsMax = Math.min(groupsMax, snapshot.manifest.rows)
    if (groupsMax <= enough || isUnfiltered(filter)) return groupsMax
    // Each group has at least one row.
    const { count } = await this.find({ ...search, filter: { ...filter, ordering: [] } })
    return Math.min(groupsMax, count)
  }

  async #valuesMax(snapshot: Snapshot, term: Term, requester: Requester): Promise<number> {
    const base = baseOf(term)
    const dictionary = await this.#dictionaries.values(snapshot, base, requester)
    if (dictionary !== null)
      return (
        1 +
        (term.part === undefined ? dictionary.values.length : new Set(valuesOfTerm(term, dictionary)).size)
      )
    const statistics = snapshot.report?.fields.find(({ name }) => name === base.name)
    const values =
      statistics?.distinct ??
      Math.ceil((statistics?.distinct_estimate ?? snapshot.manifest.rows) * hyperLogLogError)
    return Math.min(values, partsBetween(term, statistics?.min ?? null, statistics?.max ?? null)) + 1
  }

  async #find(search: Search, paths: AccessPaths): Promise<Selection> {
    const plan = await planOf(search, paths)
    const selection = await this.#run(search, plan)
    const { count } = selection
    return {
      plan: selection.plan ?? describePlan(search, plan),
      count,
      slice: (...range) => selection.slice(...range),
    }
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

  async #inClickHouse(
    search: Search,
    { scan, step }: Extract<SelectionPlan, { by: 'clickhouse' }>,
  ): Promise<Selection> {
    const withLocalFallback = async <T>(
      work: () => Promise<T>,
      useLocalSelection: (local: Selection) => T | Promise<T>,
    ) => {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof NotInClickHouse)) throw error
        return useLocalSelection(await this.#find(search, { ...this.#paths, clickHouse: null }))
      }
    }
    const find = async (): Promise<Selection> => {
      const selection = await scan.find(search, step)
      return {
        count: selection.count,
        slice: (...range) =>
          withLocalFallback(
            async () => selection.slice(...range),
            (localSelection) => localSelection.slice(...range),
          ),
      }
    }
    return withLocalFallback(find, (localSelection) => localSelection)
  }
}

/** Adds conditions on fields to those on their parts, since only fields have indexes. */
function withImpliedConditions(search: Search): Search {
  const { filter } = search
  const implied = filter.conditions.flatMap((condition) => impliedBy(condition))
  if (implied.length === 0) return search
  return { ...search, filter: { ...filter, conditions: [...filter.conditions, ...implied] } }
}

const namesOf = (items: readonly { readonly name: string }[]): string[] => items.map(({ name }) => name)
