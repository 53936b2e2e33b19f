import { TooCostly, TooLarge } from '../../engine/errors.ts'
import type { RowFilter } from '../../../query/query.ts'
import type { Condition } from '../../../query/conditions.ts'
import type { Pool } from '../../engine/pool.ts'
import type { Requester } from '../../engine/requester.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { blobBytes } from '../../../../core/duckdb/vectors.ts'
import {
  costOf,
  costOfWords,
  rowsOf,
  wordIndexes,
  restrictTo,
  planBits,
  planCounts,
  planGroups,
  planOrdered,
  planWords,
  readBits,
  scanOf,
  type Scan,
  type ScanFilter,
} from './scan.ts'
import { RowSet } from '../row-set.ts'
import {
  groupsMax,
  type Group,
  type Grouping,
  type Selection,
  type Selections,
  isUnfiltered,
  isInFileOrder,
  filterKey,
  type SelectionCache,
} from '../selections.ts'
import { checkScanBudget } from '../scan-budget.ts'
import { positionsIn, sortedBy, spansOf, type Span } from '../sorted-rows.ts'

export interface SelectionLimits {
  /** Limit of all cached selections together, in bytes; 0 disables the cache. */
  readonly selectionBytesMax: number
  /** Maximum number of values that a query may read. */
  readonly scanValuesMax: number
}

/** Matching rows in the order of the table. */
interface Rows extends Selection {
  /** Null if all rows match, or if they are too many to cache. */
  readonly rowSet: RowSet | null
}

/** Maximum number of candidates that are checked one by one. */
const candidatesMax = 2000
/** Maximum number of positions that one condition may select from an order: sorting them delays other requests. */
const indexedMax = 200_000
/** First rows of an order that are found without sorting all others. */
const prefixRows = 5000
/** Maximum depth of a page in an order that is too large to cache: DuckDB holds all rows before it in memory. */
const unkeptDepthMax = 1_000_000

/**
 * Finds rows with DuckDB, from the needed columns alone, and caches them as positions. A snapshot never
 * changes, so entries are evicted only to make room.
 */
export class DuckDbSelections implements Selections {
  readonly #pool: Pool
  readonly #limits: SelectionLimits
  readonly #found: SelectionCache

  constructor(pool: Pool, found: SelectionCache, limits: SelectionLimits) {
    this.#pool = pool
    this.#limits = limits
    this.#found = found
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    const rows = await this.#rowsOf(snapshot, filter, requester)
    if (isInFileOrder(snapshot, filter)) return rows
    const { count } = rows
    return {
      count,
      slice: (first, some, reading) =>
        this.#orderedSlice(snapshot, filter, rows, { first, rows: Math.min(some, count - first) }, reading),
    }
  }

  async groups(
    snapshot: Snapshot,
    filter: RowFilter,
    grouping: Grouping,
    requester: Requester,
  ): Promise<readonly Group[]> {
    const scan = await this.#scan(snapshot, filter, requester)
    if (scan.parts.length === 0) return []
    const { by, measure } = grouping
    const read = [by, ...(measure === null ? [] : [measure])]
    await this.#checkBudget(costOf(snapshot, scan, filter) + read.length * rowsOf(scan), snapshot, requester)
    const plan = planGroups(snapshot, scan, { ...filter, ordering: [] }, grouping, groupsMax)
    const { rows } = await orTooCostly(() => this.#pool.rows(plan, requester.client, requester.signal()))
    if (rows.length > groupsMax) {
      throw new TooCostly(
        `There are more than ${groupsMax.toLocaleString('en')} different values of "${by.name}": add a condition.`,
      )
    }
    return rows.map(([key, count, sum]) => ({
      key: key === null || key === undefined ? null : Buffer.from(blobBytes(key)).toString(),
      rows: Number(count),
      sum: typeof sum === 'string' ? sum : null,
    }))
  }

  /** Returns the matching rows in the order of the table. */
  async #rowsOf(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Rows> {
    const { rows } = snapshot.manifest
    if (isUnfiltered(filter)) {
      return {
        count: rows,
        rowSet: null,
        slice: async (first, count) => consecutive(first, Math.min(count, rows - first)),
      }
    }
    const scan = await this.#scan(snapshot, filter, requester)
    const isLarge = rows / 8 > this.#limits.selectionBytesMax
    if (isLarge && !isSelective(snapshot, filter)) return this.#counted(snapshot, scan, filter, requester)
    const found = await this.#rows(`${filterKey(snapshot, filter)} rows`, requester, (signal) =>
      this.#rowSet(snapshot, scan, filter, requester, signal),
    )
    return {
      count: found.count,
      rowSet: found,
      slice: async (first, count) => found.slice(first, count),
    }
  }

  /** Applies indexes first, which is least work, then the remaining conditions. */
  async #rowSet(
    snapshot: Snapshot,
    scan: Scan,
    { conditions, words }: ScanFilter,
    requester: Requester,
    signal: () => AbortSignal,
  ): Promise<RowSet> {
    const { client } = requester
    const { parts } = snapshot.manifest
    const found: RowSet[] = []
    const intersect = (): RowSet | undefined =>
      found.length === 0 ? undefined : found.reduce((one, other) => one.and(other))
    const remaining: Condition[] = []
    for (const condition of conditions) {
      const positions = await this.#sortedPositions(snapshot, condition, requester)
      // Without a usable order, or with very many rows, scanning the parts is faster.
      if (positions === null) remaining.push(condition)
      else found.push(RowSet.fromPositions(positions, parts))
    }
    const candidates = found.length === 0 ? undefined : intersect()
    const isFew = candidates !== undefined && candidates.count <= candidatesMax
    let wordsLeft = words
    const files = isFew || words.length === 0 ? null : wordIndexes(snapshot, scan)
    if (files !== null) {
      await this.#checkBudget(costOfWords(scan, words), snapshot, requester)
      const { rows } = await this.#pool.rows(planWords(snapshot, scan, files, words), client, signal())
      found.push(new RowSet(readBits(scan, rows)))
      wordsLeft = []
    }
    const rest = { conditions: remaining, words: wordsLeft }
    if (!isUnfiltered(rest)) {
      const narrowedScan = isFew ? restrictTo(scan, candidates.slice(0, candidates.count)) : scan
      await this.#checkBudget(costOf(snapshot, narrowedScan, rest), snapshot, requester)
      const { rows } =
        narrowedScan.parts.length === 0
          ? { rows: [] }
          : await this.#pool.rows(planBits(snapshot, narrowedScan, rest), client, signal())
      found.push(new RowSet(readBits(narrowedScan, rows)))
    }
    return intersect() ?? nothing
  }

  /**
   * Returns the positions of rows that satisfy a condition, from an order sorted by its field. Null if there
   * is no such order, or too many rows.
   */
  async #sortedPositions(
    snapshot: Snapshot,
    condition: Condition,
    requester: Requester,
  ): Promise<Uint32Array | null> {
    const sorted = sortedBy(snapshot, condition.field.name)
    if (sorted?.order === null || sorted === null) return null
    const spans = await spansOf(snapshot, sorted, condition, requester)
    const rows = spans?.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0) ?? Infinity
    return spans === null || rows > indexedMax ? null : positionsIn(snapshot, sorted, spans)
  }

  /**
   * Selects from a table with too many rows to cache their positions. Caches the number of matching rows per
   * part; a slice scans the parts that contain it.
   */
  async #counted(snapshot: Snapshot, scan: Scan, filter: RowFilter, requester: Requester): Promise<Rows> {
    if (scan.parts.length === 0) return { count: 0, rowSet: null, slice: async () => new Uint32Array() }
    const cost = costOf(snapshot, scan, filter)
    const counts = await this.#numbers(`${filterKey(snapshot, filter)} counts`, requester, async (signal) => {
      await this.#checkBudget(cost, snapshot, requester)
      const { rows } = await this.#pool.rows(planCounts(snapshot, scan, filter), requester.client, signal())
      const found = new Uint32Array(scan.parts.length)
      for (const [index, count] of rows) found[Number(index)] = Number(count)
      return found
    })
    return {
      count: counts.reduce((sum, count) => sum + count, 0),
      rowSet: null,
      slice: async (first, rows, reading) => {
        if (rows <= 0) return new Uint32Array()
        const { parts, before } = partsOf(scan, counts, first, rows)
        await this.#checkBudget(costOf(snapshot, { ...scan, parts }, filter), snapshot, reading)
        const plan = planBits(snapshot, { ...scan, parts }, filter)
        const answer = await orTooCostly(() => this.#pool.rows(plan, reading.client, reading.signal()))
        return new RowSet(readBits({ ...scan, parts }, answer.rows)).slice(first - before, rows)
      },
    }
  }

  async #orderedSlice(
    snapshot: Snapshot,
    filter: RowFilter,
    { count, rowSet }: Rows,
    slice: { readonly first: number; readonly rows: number },
    requester: Requester,
  ): Promise<Uint32Array> {
    if (slice.rows <= 0) return new Uint32Array()
    const key = `${filterKey(snapshot, filter)} by ${JSON.stringify(filter.ordering)}`
    const cut = (found: Uint32Array, from: number): Uint32Array => found.subarray(from, from + slice.rows)
    const allPositions = this.#found.numbersAtHand(`${key} all`)
    if (allPositions !== undefined) return cut(allPositions, slice.first)
    const everything = await this.#scan(snapshot, filter, requester)
    const isFew = rowSet !== null && rowSet.count <= candidatesMax
    const scan = isFew ? restrictTo(everything, rowSet.slice(0, count)) : everything
    // `rowSet` has only rows with these words, so DuckDB need not test words.
    const remainingFilter = rowSet === null ? filter : { ...filter, words: [] }
    const cost = costOf(snapshot, scan, remainingFilter, filter.ordering)
    const isAsFound = rowSet === null || (filter.words.length === 0 && !isFew)
    // When `rowSet` filters the result, all rows that are read must be sorted first.
    const readMax = isAsFound || isFew ? count : rowsOf(scan)
    const read = (name: string, limit: { first: number; rows: number } | null): Promise<Uint32Array> =>
      this.#numbers(`${key} ${name}`, requester, async (signal) => {
        await this.#checkBudget(cost, snapshot, requester)
        const plan = planOrdered(snapshot, scan, remainingFilter, limit)
        const { numbers } = await this.#pool.numbers(plan, requester.client, signal())
        return isAsFound ? numbers : numbers.filter((position) => rowSet.has(position))
      })
    const end = slice.first + slice.rows
    if (isAsFound && end <= prefixRows)
      return cut(await read('first', { first: 0, rows: prefixRows }), slice.first)
    if (isFew || readMax * 4 <= this.#limits.selectionBytesMax)
      return cut(await read('all', null), slice.first)
    if (isAsFound && end <= unkeptDepthMax) return cut(await read(`${slice.first} ${slice.rows}`, slice), 0)
    throw new TooCostly(
      `In this order, rows past the first ${unkeptDepthMax.toLocaleString('en')} of ${count.toLocaleString('en')} cannot be read: ` +
        'add a condition, or use the order of the table.',
    )
  }

  /** Returns the parts that can have matching values of the leading field. */
  async #scan(snapshot: Snapshot, { conditions }: RowFilter, requester: Requester): Promise<Scan> {
    let span: Span = { from: 0, to: snapshot.manifest.rows }
    for (const condition of conditions) {
      const sorted = sortedBy(snapshot, condition.field.name)
      if (sorted === null || sorted.order !== null) continue
      const spans = await spansOf(snapshot, sorted, condition, requester)
      if (spans === null) continue
      const some = spans.filter(({ from, to }) => from < to)
      span = {
        from: Math.max(span.from, Math.min(...some.map(({ from }) => from))),
        to: Math.min(span.to, Math.max(0, ...some.map(({ to }) => to))),
      }
    }
    return scanOf(snapshot, span)
  }

  async #checkBudget(values: number, snapshot: Snapshot, requester: Requester): Promise<void> {
    return checkScanBudget(values, this.#limits.scanValuesMax, snapshot, requester)
  }

  #rows: SelectionCache['rows'] = (...args) => orTooCostly(() => this.#found.rows(...args))

  #numbers: SelectionCache['numbers'] = (...args) => orTooCostly(() => this.#found.numbers(...args))
}

/** Replaces TooLarge by TooCostly: a selection needs the same memory for any page size. */
async function orTooCostly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    throw new TooCostly('The query needs more memory than it may use: add a condition.')
  }
}

/** Returns whether an equality condition is on a field that rows are sorted by, so that few match. */
function isSelective(snapshot: Snapshot, { conditions }: ScanFilter): boolean {
  return conditions.some(
    ({ field, operator }) =>
      (operator === 'eq' || operator === 'in') && sortedBy(snapshot, field.name)?.order !== undefined,
  )
}

const nothing = new RowSet([])

function consecutive(first: number, rows: number): Uint32Array {
  return Uint32Array.from({ length: Math.max(0, rows) }, (_, index) => first + index)
}

/** Returns the parts that contain a slice of the selection, and the number of its rows before them. */
function partsOf(
  { parts }: Scan,
  counts: Uint32Array,
  first: number,
  rows: number,
): { parts: Scan['parts']; before: number } {
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
  return { parts: parts.slice(begin, end), before: sum }
}
