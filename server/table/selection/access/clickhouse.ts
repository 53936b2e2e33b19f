import {
  ClickHouseError,
  ClickHouseUnreachable,
  type ClickHouse,
  type NamedValues,
} from '../../../../core/clickhouse/link.ts'
import {
  clickHouseColumns,
  clickHouseName,
  quotedTable,
  rowColumn,
} from '../../../../core/clickhouse/tables.ts'
import type { Field } from '../../../../core/catalog/catalog.ts'
import { QueryTimeout } from '../../../../core/duckdb/errors.ts'
import { orderTerm } from '../../../../core/sql.ts'
import { QueueFull } from '../../../base/queue.ts'
import { operatorRow } from '../../../query/operators.ts'
import { searchTerm } from '../../../query/search-terms.ts'
import { TooCostly } from '../../engine/errors.ts'
import type { Pool } from '../../engine/pool.ts'
import { foldedText } from '../folding.ts'
import { checkScanBudget } from '../scan-budget.ts'
import type { CachedKind, SelectionCache } from '../selection-cache.ts'
import { fixedFields, isInFileOrder, isUnfiltered, type Search, type Selection } from '../selections.ts'
import { conditionSql, wordSql } from '../where.ts'
import type { AccessPath } from '../access-path.ts'
import { clickHouseDialect, NamedParameters } from './clickhouse/dialect.ts'

export interface ClickHouseLimits {
  readonly queryTimeoutMs: number
  readonly scanValuesMax: number
}

/** Low, since another machine does the work. */
const valueWeight = 1 / 16

/** Per request: more than a page, since the next pages are likely to follow. */
const windowRows = 65_536
/** Fewer positions for the first request: most clients go no further. */
const firstRows = 4096

function windowOf(index: number): { readonly first: number; readonly limit: number } {
  if (index < firstRows) return { first: 0, limit: firstRows }
  const first = Math.max(firstRows, index - (index % windowRows))
  return { first, limit: windowRows - (first % windowRows) }
}

/** ClickHouse errors: temporarily unavailable, timeout, or a limit exceeded. */
const notNow = new Set([198, 202, 203, 209, 210, 279])
const timeIsOver = new Set([159, 160])
const tooCostly = new Set([158, 307, 396, 241, 191])
/** The table does not exist, such as in a new ClickHouse. */
const noTable = new Set([60, 81])
/** The column does not exist, for example if its field became filterable later. */
const noColumn = new Set([10, 16, 47])

/** Columns in ClickHouse, and fields searched for words. */
export interface ClickHouseStep {
  readonly columns: ReturnType<typeof clickHouseColumns>
  readonly searchedFields: readonly Field[]
}

interface ClickHouseQuery {
  readonly from: string
  readonly values: NamedValues
  readonly order: string
}

export class NotInClickHouse extends Error {}

/** Finds rows of tables assigned to ClickHouse, except by list items or date parts. */
export class ClickHouseScan implements AccessPath<ClickHouseStep> {
  readonly #link: ClickHouse
  readonly #pool: Pool
  readonly #cache: SelectionCache
  readonly #limits: ClickHouseLimits

  constructor(link: ClickHouse, pool: Pool, cache: SelectionCache, limits: ClickHouseLimits) {
    this.#link = link
    this.#pool = pool
    this.#cache = cache
    this.#limits = limits
  }

  plan({ snapshot: { table, manifest }, filter }: Search): ClickHouseStep | null {
    if (manifest.clickhouse === undefined) return null
    const columns = clickHouseColumns(table)
    const { conditions, words, ordering } = filter
    const searchedFields =
      words.length > 0 ? table.fields.filter(({ name }) => table.search.includes(name)) : []
    const fields = [...conditions.map(({ field }) => field), ...searchedFields].map(({ name }) => name)
    const areKnown = [...fields, ...ordering.map(({ field }) => field)].every((name) => columns.has(name))
    const areSupported = conditions.every(({ operator }) => operator !== 'has' && operator !== 'within')
    return areKnown && areSupported ? { columns, searchedFields } : null
  }

  /** @throws NotInClickHouse, also when reading a slice */
  async find(search: Search, step: ClickHouseStep): Promise<Selection> {
    const query = await this.#queryOf(search, step)
    const { from, values, order } = query
    const { snapshot, filter } = search
    const countSql = `select toUInt32(count()) ${from}`
    const counts = isUnfiltered(filter)
      ? [snapshot.manifest.rows]
      : await this.#numbers(search, { name: 'count' }, countSql, values)
    const [count = 0] = counts
    const sql = `select ${rowColumn} ${from} order by ${order} limit {rows:UInt32} offset {first:UInt32}`
    return {
      count,
      slice: async (first, rows, requester) => {
        const positions = new Uint32Array(Math.max(0, Math.min(first + rows, count) - first))
        let positionCount = 0
        while (positionCount < positions.length) {
          const window = windowOf(first + positionCount)
          const kind = { name: 'positions', order: filter.ordering, ...window } as const
          const bounds = { first: String(window.first), rows: String(window.limit) }
          const numbers = await this.#numbers({ ...search, requester }, kind, sql, { ...values, ...bounds })
          const offset = first + positionCount - window.first
          const positionsHere = numbers.subarray(offset, offset + positions.length - positionCount)
          if (positionsHere.length === 0)
            throw new Error(`ClickHouse returned fewer rows than the ${count} that it counted`)
          positions.set(positionsHere, positionCount)
          positionCount += positionsHere.length
        }
        return positions
      },
    }
  }

  async #queryOf(
    { snapshot, filter, requester }: Search,
    { columns, searchedFields }: ClickHouseStep,
  ): Promise<ClickHouseQuery> {
    const { table, manifest } = snapshot
    const { conditions, words, ordering } = filter
    const foldedByText = new Map<string, string>()
    for (const { operator, values } of conditions)
      if (operatorRow(operator).operandKind === 'part')
        foldedByText.set(values[0] ?? '', await foldedText(values[0] ?? '', this.#pool, requester))
    for (const { text } of words.map(searchTerm))
      foldedByText.set(text, await foldedText(text, this.#pool, requester))
    const parameters = new NamedParameters()
    const dialect = clickHouseDialect(columns, parameters, (part) => foldedByText.get(part) ?? part)
    // Neither the order of the file nor a fixed field needs a sort.
    const fixed = fixedFields(filter)
    const keys = isInFileOrder(snapshot, filter) ? [] : ordering.filter(({ field }) => !fixed.has(field))
    const terms = [
      ...conditions.map((condition) => conditionSql(condition, dialect)),
      ...words.map((word) => wordSql(searchedFields.map(dialect.foldedSql), word, dialect)),
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

  async #numbers(search: Search, kind: CachedKind, sql: string, values: NamedValues): Promise<Uint32Array> {
    const { snapshot, filter, requester } = search
    const { conditions, words, ordering } = filter
    try {
      return await this.#cache.numbers(search, kind, async (signal) => {
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
      if (noTable.has(code) || noColumn.has(code)) throw new NotInClickHouse()
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
