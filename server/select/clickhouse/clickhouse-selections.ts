import { QueryTimeout } from '../../../core/duckdb/errors.ts'
import { ClickHouseAway, ClickHouseFault, type ClickHouse } from '../../../core/clickhouse/link.ts'
import {
  clickHouseColumns,
  clickHouseName,
  quotedTable,
  rowColumn,
  type ClickHouseColumn,
} from '../../../core/clickhouse/tables.ts'
import { tableId } from '../../../core/catalog/catalog.ts'
import { orderTerm } from '../../../core/sql.ts'
import type { KeptStats } from '../../kept.ts'
import { QueueFull } from '../../concurrency/queue-full.ts'
import { TooCostly } from '../../engine/errors.ts'
import type { Pool } from '../../engine/pool.ts'
import type { Requester } from '../../engine/requester.ts'
import { operatorRow } from '../../query/operators.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { afford } from '../afford.ts'
import { foldedText } from '../folding.ts'
import { filterKey, type Found } from '../found.ts'
import type { Group, Grouping, Selection, Selections } from '../selections.ts'
import { conditionSql, wordSql } from '../where.ts'
import { isWhole } from '../whole.ts'
import { clickHouseDialect, NamedParameters } from './dialect.ts'

export interface ClickHouseLimits {
  readonly queryTimeoutMs: number
  /** Values that one query may have read. */
  readonly scanValuesMax: number
}

/** A value beside one that DuckDB reads here: the work is done elsewhere. */
const valueWeight = 1 / 16

/** Numbers of ClickHouse's errors: the time is over; more rows or bytes than a query may read, sort or hold. */
const timeIsOver = new Set([159, 160])
const tooCostly = new Set([158, 307, 396, 241, 191])
/** The table is gone, as that of a snapshot that is kept for a walk alone. */
const noTable = new Set([60, 81])
/** A column is not there, as of a field that may be asked for since the snapshot was published. */
const noColumn = new Set([10, 16, 47])

/** What is asked of a snapshot, as ClickHouse is asked it. */
interface Asked {
  readonly from: string
  readonly values: Readonly<Record<string, string>>
  readonly order: string
}

/**
 * Asks a ClickHouse which rows a query chooses, in which order and how many, of tables that the catalog gives to it; what it does not
 * know, such as the texts of a list, and the rows of all other tables are asked of others.
 */
export class ClickHouseSelections implements Selections {
  readonly #others: Selections
  readonly #link: ClickHouse
  readonly #pool: Pool
  readonly #found: Found
  readonly #limits: ClickHouseLimits

  /** @param pool folds what is looked for */
  constructor(others: Selections, link: ClickHouse, pool: Pool, found: Found, limits: ClickHouseLimits) {
    this.#others = others
    this.#link = link
    this.#pool = pool
    this.#found = found
    this.#limits = limits
  }

  /** Of all selections that are kept. */
  get stats(): KeptStats {
    return this.#found.stats
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    const others = (): Promise<Selection> => this.#others.find(snapshot, filter, requester)
    if (snapshot.manifest.clickhouse === undefined || isWhole(snapshot, filter)) return others()
    const asked = await this.#asked(snapshot, filter, requester)
    if (asked === null) return others()
    const key = `${filterKey(snapshot, filter)} clickhouse`
    const { from, values, order } = asked
    const count = await this.#numbers(
      snapshot,
      filter,
      `${key} count`,
      requester,
      `select toUInt32(count()) ${from}`,
      values,
    )
    // As where a table is gone that the manifest names.
    if (count === null) return others()
    return {
      count: count[0] ?? 0,
      slice: async (first, rows, reading) => {
        if (rows <= 0) return new Uint32Array()
        const sql = `select ${rowColumn} ${from} order by ${order} limit {rows:UInt32} offset {first:UInt32}`
        const own = { ...values, first: String(first), rows: String(rows) }
        const name = `${key} by ${JSON.stringify(filter.ordering)} ${first} ${rows}`
        const found = await this.#numbers(snapshot, filter, name, reading, sql, own)
        if (found === null) throw new QueueFull(`The rows of ${tableId(snapshot.table)} are being moved.`)
        const due = Math.max(0, Math.min(rows, (count[0] ?? 0) - first))
        if (found.length !== due) throw new Error(`ClickHouse gave ${found.length} rows where ${due} are`)
        return found
      },
    }
  }

  async groups(
    snapshot: Snapshot,
    filter: RowFilter,
    grouping: Grouping,
    requester: Requester,
  ): Promise<readonly Group[]> {
    return this.#others.groups(snapshot, filter, grouping, requester)
  }

  /** Null where it cannot be asked there. */
  async #asked(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Asked | null> {
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
      if (operatorRow(operator).takes === 'part')
        folded.set(values[0] ?? '', await foldedText(values[0] ?? '', this.#pool, requester))
    for (const word of words) folded.set(word, await foldedText(word, this.#pool, requester))
    const parameters = new NamedParameters()
    const dialect = clickHouseDialect(columns, parameters, (part) => folded.get(part) ?? part)
    const terms = [
      ...conditions.map((condition) => conditionSql(condition, dialect)),
      ...words.map((word) => wordSql(searched, word, dialect)),
    ]
    const where = terms.length === 0 ? '' : ` where ${terms.join(' and ')}`
    return {
      from: `from ${quotedTable(clickHouseName(table, manifest.snapshot))}${where}`,
      values: parameters.values,
      order: [
        ...ordering.map((key) => orderTerm(key, (name) => nameOf(columns, name))),
        `${rowColumn} asc`,
      ].join(', '),
    }
  }

  /** Null where the table is gone. */
  async #numbers(
    snapshot: Snapshot,
    { conditions, words, ordering }: RowFilter,
    key: string,
    requester: Requester,
    sql: string,
    values: Readonly<Record<string, string>>,
  ): Promise<Uint32Array | null> {
    try {
      return await this.#found.numbers(key, requester, async (signal) => {
        const fields = conditions.length + words.length * snapshot.table.search.length + ordering.length
        await afford(
          Math.max(1, fields) * snapshot.manifest.rows * valueWeight,
          this.#limits.scanValuesMax,
          snapshot,
          requester,
        )
        return this.#link.numbers(sql, values, { signal, timeoutMs: this.#limits.queryTimeoutMs })
      })
    } catch (error) {
      if (error instanceof ClickHouseAway)
        throw Object.assign(new QueueFull('What looks for the rows of this table cannot be asked now.'), {
          cause: error,
        })
      if (!(error instanceof ClickHouseFault)) throw error
      if (noTable.has(error.code) || noColumn.has(error.code)) return null
      if (timeIsOver.has(error.code))
        throw Object.assign(new QueryTimeout(this.#limits.queryTimeoutMs), { cause: error })
      if (tooCostly.has(error.code))
        throw Object.assign(
          new TooCostly('This is more than one query may read: ask for fewer by a condition.'),
          {
            cause: error,
          },
        )
      throw error
    }
  }
}

function nameOf(columns: ReadonlyMap<string, ClickHouseColumn>, field: string): string {
  const column = columns.get(field)
  if (column === undefined) throw new RangeError(`${field} is not in ClickHouse`)
  return column.name
}
