import type { Answer } from '../../../../core/duckdb/connection.ts'
import { floatSumsIn, floatSumsSql, groupsSql, readGroups } from '../../groups/duckdb-groups.ts'
import { groupsOfNoRows, type Grouping, type Groups } from '../../groups/groups.ts'
import type { Condition } from '../../../query/conditions.ts'
import type { RowFilter } from '../../../query/query.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { TooCostly, TooLarge } from '../../engine/errors.ts'
import type { Pool } from '../../engine/pool.ts'
import { RowSet } from '../row-set.ts'
import { checkScanBudget } from '../scan-budget.ts'
import type { SelectionCache } from '../selection-cache.ts'
import { firstPositions, isInFileOrder, isUnfiltered, type Search, type Selection } from '../selections.ts'
import type { AccessPath } from '../access-path.ts'
import {
  costOf,
  planBits,
  planCounts,
  planOrdered,
  planOver,
  readBits,
  restrictTo,
  rowsOf,
  scanOf,
  type Scan,
  type ScanFilter,
} from './duckdb/statements.ts'
import { leadingSpan, orderBisection, sortedFor, type OrderStep } from './order.ts'
import { WordSearch, type WordsStep } from './words.ts'

export interface SelectionLimits {
  /** Bytes of all cached selections; 0 disables the cache. */
  readonly selectionBytesMax: number
  readonly scanValuesMax: number
}

/** The cheapest steps come first; all of them must find a matching row. */
export interface ScanStep {
  readonly orders: readonly OrderStep[]
  /** Null if a scan finds the words, or there are none. */
  readonly words: WordsStep | null
  /** The rest, for a scan of the columns. */
  readonly remaining: ScanFilter
}

interface Window {
  readonly first: number
  /** Null for all further rows. */
  readonly limit: number | null
}

interface OrderedScan {
  readonly isFew: boolean
  /** False if the scan also finds rows that do not match, which `read` removes. */
  readonly findsMatchesOnly: boolean
  /** Bound of the rows that the scan finds. */
  readonly rowsMax: number
  /** Returns the positions in a window of the scan, and caches them. */
  readonly read: (window: Window) => Promise<Uint32Array>
}

const everyRow: Window = { first: 0, limit: null }
const positionsKind = ({ filter: { ordering: order } }: Search, window: Window) =>
  ({ name: 'positions', order, ...window }) as const

const candidatesMax = 2000
const prefixRows = 5000
/** DuckDB holds all rows before a page in memory if the order is too large to cache. */
const uncachedDepthMax = 1_000_000

/**
 * Reads the needed columns alone, after orders and indexes of words have narrowed the search. Snapshots never
 * change, so cached positions stay valid.
 */
export class DuckDbScan implements AccessPath<ScanStep> {
  readonly #pool: Pool
  readonly #limits: SelectionLimits
  readonly #cache: SelectionCache
  readonly #wordSearch: WordSearch

  constructor(pool: Pool, cache: SelectionCache, limits: SelectionLimits) {
    this.#pool = pool
    this.#limits = limits
    this.#cache = cache
    this.#wordSearch = new WordSearch(pool, limits)
  }

  plan(search: Search): ScanStep {
    const { filter } = search
    const orders: OrderStep[] = []
    const conditions: Condition[] = []
    for (const condition of filter.conditions) {
      const step = orderBisection.plan({ ...search, filter: { ...filter, conditions: [condition] } })
      if (step === null) conditions.push(condition)
      else orders.push(step)
    }
    const words = this.#wordSearch.plan(search)
    return { orders, words, remaining: { conditions, words: words === null ? filter.words : [] } }
  }

  async find(search: Search, step: ScanStep): Promise<Selection> {
    const { snapshot, filter } = search
    const { rows } = snapshot.manifest
    const isLarge = rows / 8 > this.#limits.selectionBytesMax
    const find = (): Promise<Selection> | Selection => {
      if (isUnfiltered(filter)) return firstPositions(rows)
      if (isLarge && !isSelective(snapshot, filter)) return this.#counted(search)
      return orTooCostly(() =>
        this.#cache.rows(search, null, (signal) =>
          this.#rowSet({ ...search, requester: { ...search.requester, signal } }, step),
        ),
      )
    }
    const selection = await find()
    if (isInFileOrder(snapshot, filter)) return selection
    const { count } = selection
    return {
      count,
      slice: async (first, limit, requester) => {
        const slice = { first, rows: Math.min(limit, count - first) }
        return this.#orderedSlice({ ...search, requester }, selection, slice)
      },
    }
  }

  async groups(search: Search, grouping: Grouping): Promise<Groups> {
    const { snapshot, filter, requester } = search
    const scan = scanOf(snapshot, await leadingSpan(search))
    if (scan.parts.length === 0) return groupsOfNoRows(grouping)
    const fields = grouping.terms.length + grouping.measures.length
    await this.#checkBudget(costOf(snapshot, scan, filter) + fields * rowsOf(scan), search)
    const run = async (sql: Parameters<typeof planOver>[3]): Promise<readonly Answer[]> => {
      const plan = planOver(snapshot, scan, filter, sql)
      const { columns } = await this.#pool.columns(plan, requester.client, requester.signal())
      return columns
    }
    const answer = await run((rows) => groupsSql(grouping, rows))
    const sums = new Map<string, readonly Answer[]>()
    for (const name of floatSumsIn(grouping))
      sums.set(name, await run((rows) => floatSumsSql(grouping, name, rows)))
    return readGroups(grouping, answer, sums)
  }

  /**
   * Rows that all steps find. Few candidates are scanned directly; otherwise the index of words comes first.
   */
  async #rowSet(search: Search, { orders, words, remaining }: ScanStep): Promise<RowSet> {
    const sets: RowSet[] = []
    const conditions = [...remaining.conditions]
    for (const step of orders) {
      const rows = await orderBisection.find(search, step)
      // Scanning the parts is faster than reading very many rows of an order.
      if (rows === null) conditions.push(step.condition)
      else sets.push(rows)
    }
    const candidates = intersectionOf(sets)
    const isFew = candidates !== null && candidates.count <= candidatesMax
    if (words !== null && !isFew) sets.push(await this.#wordSearch.find(search, words))
    const scanned = { conditions, words: words !== null && isFew ? words.words : remaining.words }
    if (!isUnfiltered(scanned)) sets.push(await this.#scan(search, scanned, isFew ? candidates : null))
    return intersectionOf(sets) ?? new RowSet([])
  }

  async #scan(search: Search, filter: ScanFilter, candidates: RowSet | null): Promise<RowSet> {
    const { snapshot, requester } = search
    const everything = scanOf(snapshot, await leadingSpan(search))
    const scan =
      candidates === null ? everything : restrictTo(everything, candidates.slice(0, candidates.count))
    await this.#checkBudget(costOf(snapshot, scan, filter), search)
    if (scan.parts.length === 0) return new RowSet([])
    const plan = planBits(snapshot, scan, filter)
    const { rows } = await this.#pool.rows(plan, requester.client, requester.signal())
    return new RowSet(readBits(scan, rows))
  }

  /**
   * Caches only the number of matching rows per part, for tables too large for positions; a slice scans the parts that
   * contain it.
   */
  async #counted(search: Search): Promise<Selection> {
    const { snapshot, filter } = search
    const scan = scanOf(snapshot, await leadingSpan(search))
    if (scan.parts.length === 0) return firstPositions(0)
    const counts = await this.#numbers(search, { name: 'part counts' }, async (signal) => {
      await this.#checkBudget(costOf(snapshot, scan, filter), search)
      const plan = planCounts(snapshot, scan, filter)
      const { rows } = await this.#pool.rows(plan, search.requester.client, signal())
      const partCounts = new Uint32Array(scan.parts.length)
      for (const [index, count] of rows) partCounts[Number(index)] = Number(count)
      return partCounts
    })
    return {
      count: counts.reduce((sum, count) => sum + count, 0),
      slice: async (first, rows, requester) => {
        if (rows <= 0) return new Uint32Array()
        const { parts, rowsBefore } = partsOf(scan, counts, first, rows)
        const subscan = { ...scan, parts }
        await this.#checkBudget(costOf(snapshot, subscan, filter), { snapshot, requester })
        const plan = planBits(snapshot, subscan, filter)
        const answer = await orTooCostly(() => this.#pool.rows(plan, requester.client, requester.signal()))
        return new RowSet(readBits(subscan, answer.rows)).slice(first - rowsBefore, rows)
      },
    }
  }

  /**
   * Positions of a slice in the order of the search, from the cheapest source: a cached order, the first
   * rows, all rows, or the slice.
   */
  async #orderedSlice(
    search: Search,
    selection: Selection,
    slice: { readonly first: number; readonly rows: number },
  ): Promise<Uint32Array> {
    if (slice.rows <= 0) return new Uint32Array()
    const end = slice.first + slice.rows
    const cut = (positions: Uint32Array): Uint32Array => positions.subarray(slice.first, end)
    const cachedPositions = this.#cache.cachedNumbers(search, positionsKind(search, everyRow))
    if (cachedPositions !== undefined) return cut(cachedPositions)
    const { isFew, findsMatchesOnly, rowsMax, read } = await this.#orderedScan(search, selection)
    // A window of the scan is a window of the matches only if the scan finds no other rows.
    if (findsMatchesOnly && end <= prefixRows) return cut(await read({ first: 0, limit: prefixRows }))
    const isCacheable = rowsMax * Uint32Array.BYTES_PER_ELEMENT <= this.#limits.selectionBytesMax
    if (isFew || isCacheable) return cut(await read(everyRow))
    if (findsMatchesOnly && end <= uncachedDepthMax) return read({ first: slice.first, limit: slice.rows })
    throw new TooCostly(
      `In this order, rows past the first ${uncachedDepthMax.toLocaleString('en')} of ${selection.count.toLocaleString('en')} cannot be read: ` +
        'add a condition, or use the order of the table.',
    )
  }

  /** Scans few matches alone, or all parts that may have matches. */
  async #orderedScan(search: Search, selection: Selection): Promise<OrderedScan> {
    const { snapshot, filter, requester } = search
    const matches = selection instanceof RowSet ? selection : null
    const isFew = matches !== null && matches.count <= candidatesMax
    const wholeScan = scanOf(snapshot, await leadingSpan(search))
    const scan = isFew ? restrictTo(wholeScan, matches.slice(0, matches.count)) : wholeScan
    // `matches` has only rows with the words, so DuckDB need not test them.
    const remainingFilter = matches === null ? filter : { ...filter, words: [] }
    const cost = costOf(snapshot, scan, remainingFilter, filter.ordering)
    // A restricted scan also finds rows that have the same number in another part.
    const findsMatchesOnly = matches === null || (filter.words.length === 0 && !isFew)
    return {
      isFew,
      findsMatchesOnly,
      rowsMax: findsMatchesOnly ? selection.count : rowsOf(scan),
      read: (window) =>
        this.#numbers(search, positionsKind(search, window), async (signal) => {
          await this.#checkBudget(cost, search)
          const plan = planOrdered(snapshot, scan, remainingFilter, window)
          const { numbers } = await this.#pool.numbers(plan, requester.client, signal())
          return findsMatchesOnly ? numbers : numbers.filter((position) => matches.has(position))
        }),
    }
  }

  async #checkBudget(values: number, { snapshot, requester }: Omit<Search, 'filter'>): Promise<void> {
    return checkScanBudget(values, this.#limits.scanValuesMax, snapshot, requester)
  }

  #numbers: SelectionCache['numbers'] = (...args) => orTooCostly(() => this.#cache.numbers(...args))
}

function intersectionOf(sets: readonly RowSet[]): RowSet | null {
  return sets.length === 0 ? null : sets.reduce((a, b) => a.and(b))
}

/** Turns TooLarge into TooCostly, since a smaller page would not save memory. */
export async function orTooCostly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    throw new TooCostly('The query needs more memory than it may use: add a condition.')
  }
}

/** True for an equality on a sorted field, which matches few rows. */
function isSelective(snapshot: Snapshot, { conditions }: Pick<RowFilter, 'conditions'>): boolean {
  return conditions.some(
    (condition) => ['eq', 'in'].includes(condition.operator) && sortedFor(snapshot, condition) !== null,
  )
}

function partsOf(
  { parts }: Scan,
  counts: Uint32Array,
  first: number,
  rows: number,
): { parts: Scan['parts']; rowsBefore: number } {
  let [begin, sum] = [0, 0]
  while (begin < parts.length && sum + (counts[begin] ?? 0) <= first) {
    sum += counts[begin] ?? 0
    begin += 1
  }
  let [end, reached] = [begin, sum]
  while (end < parts.length && reached < first + rows) {
    reached += counts[end] ?? 0
    end += 1
  }
  return { parts: parts.slice(begin, end), rowsBefore: sum }
}
