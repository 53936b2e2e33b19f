import { tableId } from '../../../core/catalog/catalog.ts'
import { foldedSql } from '../../../core/sql.ts'
import type { CodesFile } from '../../../core/warehouse/manifest.ts'
import { SingleFlight } from '../../concurrency/single-flight.ts'
import { Turns } from '../../concurrency/turns.ts'
import { Kept, type KeptStats } from '../../kept.ts'
import type { Pool } from '../../engine/pool.ts'
import type { Requester } from '../../engine/requester.ts'
import { operatorRow } from '../../query/operators.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { afford } from '../afford.ts'
import { RowSet } from '../row-set.ts'
import type { Found } from '../found.ts'
import type { Group, Grouping, Selection, Selections } from '../selections.ts'
import { isAll, isInFileOrder } from '../whole.ts'
import { Clauses, mostOf, type Clause } from './clauses.ts'
import { CodedTable, type Unpacked } from '../../indexes/coded-table.ts'
import type { Dictionaries, Dictionary } from '../../indexes/dictionaries.ts'
import { ordered, scanned, sliceOf } from './coded-scan.ts'
import { chosenBy, holding } from './chosen.ts'

export interface CodedLimits {
  /** Of codes that are kept unpacked, in bytes; 0 leaves codes alone. */
  readonly codesBytesMax: number
  /** Values that one query may have read. */
  readonly scanValuesMax: number
}

/** So many rows are sorted here; the turns of others do not come meanwhile. */
const sortedMax = 500_000
/** In larger tables, fields are gone through by DuckDB's threads. */
const scannedRowsMax = 32_000_000
/** A code beside a value that DuckDB reads, measured. */
const codeWeight = 1 / 4

/**
 * What is chosen and ordered by fields that have codes alone: how many rows that is, the counts of the values tell, and a
 * page of them is found in the groups that hold it. All else is left to others.
 */
export class CodedSelections implements Selections {
  readonly #others: Selections
  readonly #pool: Pool
  readonly #limits: CodedLimits
  readonly #kept: Kept<Found>
  readonly #flights = new SingleFlight<Found>()
  readonly #unpacked: Kept<Unpacked>
  readonly #dictionaries: Dictionaries

  /** @param pool folds what is looked for */
  constructor(
    others: Selections,
    pool: Pool,
    dictionaries: Dictionaries,
    kept: Kept<Found>,
    limits: CodedLimits,
  ) {
    this.#others = others
    this.#pool = pool
    this.#limits = limits
    this.#kept = kept
    this.#dictionaries = dictionaries
    this.#unpacked = new Kept(limits.codesBytesMax, ({ byteLength }) => byteLength)
  }

  /** Of all selections that are kept. */
  get stats(): KeptStats {
    return this.#kept.stats
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    const others = (): Promise<Selection> => this.#others.find(snapshot, filter, requester)
    const { codes, rows } = snapshot.manifest
    if (codes === undefined || !areCoded(codes, snapshot, filter)) return others()
    const clauses = await this.#clauses(snapshot, codes, filter, requester)
    if (clauses === null) return others()
    const isLying = isInFileOrder(snapshot, filter)
    const [first, second] = clauses
    if (first === undefined && isLying) return consecutive(rows)
    if (first !== undefined && mostOf(first) === 0) return consecutive(0)
    const most = first === undefined ? rows : mostOf(first)
    const isCounted = first !== undefined && first.length === 1 && second === undefined
    if ((!isCounted && rows > scannedRowsMax) || (!isLying && most > sortedMax)) return others()
    if (isCounted && isLying) {
      const [choice] = first
      return {
        count: most,
        slice: (from, some, reading) =>
          reader(snapshot, codes, this.#unpacked, (table) => {
            const slice = { first: from, rows: Math.max(0, Math.min(some, most - from)) }
            return sliceOf(table, choice, rows, slice, new Turns(reading.signal()))
          }),
      }
    }
    const found = await this.#rowSet(snapshot, codes, clauses, filter, requester)
    if (isLying) return { count: found.count, slice: async (from, some) => found.slice(from, some) }
    return {
      count: found.count,
      slice: async (from, some, reading) =>
        (await this.#ordered(snapshot, codes, found, filter, reading)).subarray(from, from + some),
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

  /** What a filter asks of each field; null where a field cannot be asked. */
  async #clauses(
    snapshot: Snapshot,
    codes: CodesFile,
    { conditions, words }: RowFilter,
    requester: Requester,
  ): Promise<Clause[] | null> {
    const { fields, search } = snapshot.table
    const searched = words.length > 0 ? fields.filter(({ name }) => search.includes(name)) : []
    const dictionaries = new Map<string, { readonly place: number; readonly dictionary: Dictionary }>()
    for (const field of new Set([...conditions.map((condition) => condition.field), ...searched])) {
      const place = codes.fields.indexOf(field.name)
      const dictionary = await this.#dictionaries.values(snapshot, field, requester)
      if (dictionary === null) return null
      dictionaries.set(field.name, { place, dictionary })
    }
    const of = (name: string) => dictionaries.get(name) ?? never(name)
    const counts: Float64Array[] = []
    for (const { place, dictionary } of dictionaries.values()) counts[place] = dictionary.rows
    const clauses = new Clauses(counts)
    for (const condition of conditions) {
      const { place, dictionary } = of(condition.field.name)
      const isPart = operatorRow(condition.operator).takes === 'part'
      const part = isPart ? await this.#folded(condition.values[0] ?? '', requester) : ''
      clauses.add([{ place, chosen: chosenBy(dictionary, condition, part) }])
    }
    for (const word of words) {
      const part = await this.#folded(word, requester)
      clauses.add(
        searched.map(({ name }) => {
          const { place, dictionary } = of(name)
          return { place, chosen: holding(dictionary, (text) => text.includes(part)) }
        }),
      )
    }
    return clauses.simplified(snapshot.manifest.rows)
  }

  /** A part of a text as dictionaries are folded. Of ASCII it is known; what else there is, DuckDB knows best. */
  async #folded(part: string, requester: Requester): Promise<string> {
    // oxlint-disable-next-line no-control-regex
    if (/^[\0-\x7f]*$/.test(part)) return part.toLowerCase()
    const plan = { sql: `select ${foldedSql('$1::varchar')}`, parameters: [part], reads: null }
    const { rows } = await this.#pool.rows(plan, requester.client, requester.signal())
    return String(rows[0]?.[0])
  }

  async #rowSet(
    snapshot: Snapshot,
    codes: CodesFile,
    clauses: readonly Clause[],
    filter: RowFilter,
    requester: Requester,
  ): Promise<RowSet> {
    const { rows, parts } = snapshot.manifest
    // Nothing has to be looked for: all rows, in another order.
    if (isAll(filter) || clauses.length === 0) return RowSet.of(all(rows), parts)
    const found = await this.#once(`${keyOf(snapshot, filter)} rows`, requester, async (signal) => {
      const values = clauses.reduce((sum, clause) => sum + clause.length, 0) * rows
      await afford(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      return reader(snapshot, codes, this.#unpacked, (table) =>
        scanned(table, clauses, rows, new Turns(signal)),
      )
    })
    if (!(found instanceof RowSet)) throw new TypeError('expected a row set')
    return found
  }

  async #ordered(
    snapshot: Snapshot,
    codes: CodesFile,
    rows: RowSet,
    filter: RowFilter,
    requester: Requester,
  ): Promise<Uint32Array> {
    const key = `${keyOf(snapshot, filter)} by ${JSON.stringify(filter.ordering)}`
    const found = await this.#once(key, requester, async (signal) => {
      const values = rows.count * filter.ordering.length
      await afford(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      const positions = rows.slice(0, rows.count)
      return reader(snapshot, codes, this.#unpacked, (table) =>
        ordered(table, positions, filter.ordering, new Turns(signal)),
      )
    })
    if (!(found instanceof Uint32Array)) throw new TypeError('expected positions')
    return found
  }

  async #once(
    key: string,
    requester: Requester,
    work: (signal: AbortSignal) => Promise<Found>,
  ): Promise<Found> {
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    return this.#flights.join(key, requester.signal(), async (signal) => {
      const made = await work(signal)
      this.#kept.set(key, made)
      return made
    })
  }
}

/** Reads codes, and ends with it. */
async function reader<T>(
  snapshot: Snapshot,
  codes: CodesFile,
  kept: Kept<Unpacked>,
  read: (table: CodedTable) => Promise<T>,
): Promise<T> {
  const table = new CodedTable(snapshot, codes, kept)
  try {
    return await read(table)
  } finally {
    table.close()
  }
}

/** Whether all that a filter looks at has codes. */
function areCoded(
  codes: CodesFile,
  { table }: Snapshot,
  { conditions, words, ordering }: RowFilter,
): boolean {
  const coded = new Set(codes.fields)
  const asked = [
    ...conditions.map(({ field }) => field.name),
    ...(words.length > 0 ? table.search : []),
    ...ordering.map(({ field }) => field),
  ]
  return asked.every((name) => coded.has(name))
}

function consecutive(count: number): Selection {
  return {
    count,
    slice: async (first, rows) =>
      Uint32Array.from({ length: Math.max(0, Math.min(rows, count - first)) }, (_, index) => first + index),
  }
}

function all(rows: number): Uint32Array {
  const positions = new Uint32Array(rows)
  for (let position = 0; position < rows; position += 1) positions[position] = position
  return positions
}

function keyOf({ table, manifest }: Snapshot, { key }: RowFilter): string {
  return `${tableId(table)}/${manifest.snapshot} ${key}`
}

function never(name: string): never {
  throw new Error(`the dictionary of ${name} was not read`)
}
