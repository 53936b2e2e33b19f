import { QueryTimeout } from '../../../../core/duckdb/errors.ts'
import {
  ClickHouseUnreachable,
  ClickHouseError,
  type ClickHouse,
  type NamedValues,
} from '../../../../core/clickhouse/link.ts'
import {
  clickHouseColumns,
  clickHouseName,
  quotedTable,
  rowColumn,
} from '../../../../core/clickhouse/tables.ts'
import { orderTerm } from '../../../../core/sql.ts'
import { QueueFull } from '../../../base/queue.ts'
import { TooCostly } from '../../engine/errors.ts'
import type { Pool } from '../../engine/pool.ts'
import type { Requester } from '../../engine/requester.ts'
import { operatorRow } from '../../../query/operators.ts'
import type { RowFilter } from '../../../query/query.ts'
import { searchTerm } from '../../../query/search-terms.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { checkScanBudget } from '../scan-budget.ts'
import { foldedText } from '../folding.ts'
import {
  filterKey,
  type SelectionCache,
  type Group,
  type Grouping,
  type Selection,
  type Selections,
  isUnfiltered,
  isInFileOrder,
  isWholeTable,
  fixedFields,
} from '../selections.ts'
import { conditionSql, wordSql } from '../where.ts'
import { clickHouseDialect, NamedParameters } from './dialect.ts'

export interface ClickHouseLimits {
  readonly queryTimeoutMs: number
  /** Maximum number of values that a query may read. */
  readonly scanValuesMax: number
}

/** Cost of a value relative to DuckDB: low, since another machine does the work. */
const valueWeight = 1 / 16

/** Positions per request to ClickHouse: more than a page, since the next pages are likely to follow. */
const windowRows = 65_536
/**
 * Positions of the first request: fewer, since most clients go no further, and the first rows of an order are
 * found sooner.
 */
const firstRows = 4096

/** Returns the window of a selection that contains the row with an index. */
function windowOf(position: number): { readonly start: number; readonly rows: number } {
  if (position < firstRows) return { start: 0, rows: firstRows }
  const start = Math.max(firstRows, position - (position % windowRows))
  return { start, rows: windowRows - (start % windowRows) }
}

/**
 * ClickHouse error codes: temporarily unavailable, a timeout, or a query that exceeds a limit of rows, bytes
 * or memory.
 */
const notNow = new Set([198, 202, 203, 209, 210, 279])
const timeIsOver = new Set([159, 160])
const tooCostly = new Set([158, 307, 396, 241, 191])
/** The table does not exist, for instance because the ClickHouse was replaced. */
const noTable = new Set([60, 81])
/** A column does not exist, for instance one of a field that became filterable after the snapshot was loaded. */
const noColumn = new Set([10, 16, 47])

/** A query of a snapshot in the SQL of ClickHouse. */
interface ClickHouseQuery {
  readonly from: string
  readonly values: NamedValues
  readonly order: string
}

/**
 * Finds rows with ClickHouse, in tables that the catalog assigns to it. Leaves other tables, and conditions
 * that it does not support, such as items of lists, to the next selections.
 */
export class ClickHouseSelections implements Selections {
  readonly #next: Selections
  readonly #link: ClickHouse
  readonly #pool: Pool
  readonly #found: SelectionCache
  readonly #limits: ClickHouseLimits

  /** @param pool folds search texts */
  constructor(
    next: Selections,
    link: ClickHouse,
    pool: Pool,
    found: SelectionCache,
    limits: ClickHouseLimits,
  ) {
    this.#next = next
    this.#link = link
    this.#pool = pool
    this.#found = found
    this.#limits = limits
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    const fallBack = (): Promise<Selection> => this.#next.find(snapshot, filter, requester)
    if (snapshot.manifest.clickhouse === undefined || isWholeTable(snapshot, filter)) return fallBack()
    const query = await this.#buildQuery(snapshot, filter, requester)
    if (query === null) return fallBack()
    const key = `${filterKey(snapshot, filter)} clickhouse`
    const counted = isUnfiltered(filter)
      ? Uint32Array.of(snapshot.manifest.rows)
      : await this.#numbers(
          snapshot,
          filter,
          `${key} count`,
          requester,
          `select toUInt32(count()) ${query.from}`,
          query.values,
        )
    if (counted === null) return fallBack()
    const [count = 0] = counted
    const name = `${key} by ${JSON.stringify(filter.ordering)}`
    return {
      count,
      slice: async (first, rows, reading) => {
        const end = Math.min(first + rows, count)
        const positions = new Uint32Array(Math.max(0, end - first))
        let filled = 0
        while (filled < positions.length) {
          const window = windowOf(first + filled)
          const within = first + filled - window.start
          const found = await this.#window(snapshot, filter, name, reading, query, window)
          if (found === null) return (await fallBack()).slice(first, rows, reading)
          const some = found.subarray(within, within + positions.length - filled)
          if (some.length === 0)
            throw new Error(`ClickHouse returned fewer rows than the ${count} that it counted`)
          positions.set(some, filled)
          filled += some.length
        }
        return positions
      },
    }
  }

  async groups(
    snapshot: Snapshot,
    filter: RowFilter,
    grouping: Grouping,
    requester: Requester,
  ): Promise<readonly Group[]> {
    return this.#next.groups(snapshot, filter, grouping, requester)
  }

  /** Returns null if ClickHouse cannot answer. */
  async #buildQuery(
    snapshot: Snapshot,
    filter: RowFilter,
    requester: Requester,
  ): Promise<ClickHouseQuery | null> {
    const { table, manifest } = snapshot
    const columns = clickHouseColumns(table)
    const { conditions, words, ordering } = filter
    const searched = words.length > 0 ? table.fields.filter(({ name }) => table.search.includes(name)) : []
    const named = [...conditions.map(({ field }) => field.name), ...ordering.map(({ field }) => field)]
    const areKnown = [...named, ...searched.map(({ name }) => name)].every((name) => columns.has(name))
    if (!areKnown || conditions.some(({ operator }) => operator === 'has' || operator === 'within'))
      return null
    const folded = new Map<string, string>()
    for (const { operator, values } of conditions)
      if (operatorRow(operator).operandKind === 'part')
        folded.set(values[0] ?? '', await foldedText(values[0] ?? '', this.#pool, requester))
    for (const { text } of words.map(searchTerm))
      folded.set(text, await foldedText(text, this.#pool, requester))
    const parameters = new NamedParameters()
    const dialect = clickHouseDialect(columns, parameters, (part) => folded.get(part) ?? part)
    // Neither the order of the file nor a field that the filter fixes to one value needs a sort.
    const settled = fixedFields(filter)
    const keys = isInFileOrder(snapshot, filter) ? [] : ordering.filter(({ field }) => !settled.has(field))
    const terms = [
      ...conditions.map((condition) => conditionSql(condition, dialect)),
      ...words.map((word) => wordSql(searched.map(dialect.folded), word, dialect)),
    ]
    const where = terms.length === 0 ? '' : ` where ${terms.join(' and ')}`
    return {
      from: `from ${quotedTable(clickHouseName(table, manifest.snapshot))}${where}`,
      values: parameters.values,
      order: [
        ...keys.map((key) => orderTerm(key, (name) => columns.get(name)?.name ?? rowColumn)),
        `${rowColumn} asc`,
      ].join(', '),
    }
  }

  /** Returns the positions in a window; null if ClickHouse lacks the table or a column. */
  async #window(
    snapshot: Snapshot,
    filter: RowFilter,
    name: string,
    requester: Requester,
    { from, order, values }: ClickHouseQuery,
    { start, rows }: ReturnType<typeof windowOf>,
  ): Promise<Uint32Array | null> {
    const sql = `select ${rowColumn} ${from} order by ${order} limit {rows:UInt32} offset {first:UInt32}`
    const own = { ...values, first: String(start), rows: String(rows) }
    return this.#numbers(snapshot, filter, `${name} from ${start}`, requester, sql, own)
  }

  /** Returns the numbers of a statement; null if ClickHouse lacks the table or a column. */
  async #numbers(
    snapshot: Snapshot,
    { conditions, words, ordering }: RowFilter,
    key: string,
    requester: Requester,
    sql: string,
    values: NamedValues,
  ): Promise<Uint32Array | null> {
    try {
      return await this.#found.numbers(key, requester, async (signal) => {
        const fields = conditions.length + words.length * snapshot.table.search.length + ordering.length
        await checkScanBudget(
          Math.max(1, fields) * snapshot.manifest.rows * valueWeight,
          this.#limits.scanValuesMax,
          snapshot,
          requester,
        )
        return this.#link.numbers(sql, values, { signal: signal(), timeoutMs: this.#limits.queryTimeoutMs })
      })
    } catch (error) {
      const code = error instanceof ClickHouseError ? error.code : null
      if (error instanceof ClickHouseUnreachable || (code !== null && notNow.has(code)))
        throw Object.assign(new QueueFull('ClickHouse, which filters this table, is not available now.'), {
          cause: error,
        })
      if (code === null) throw error
      if (noTable.has(code) || noColumn.has(code)) return null
      if (timeIsOver.has(code))
        throw Object.assign(new QueryTimeout(this.#limits.queryTimeoutMs), { cause: error })
      if (tooCostly.has(code))
        throw Object.assign(new TooCostly('The query exceeds the limits of ClickHouse: add a condition.'), {
          cause: error,
        })
      throw error
    }
  }
}
