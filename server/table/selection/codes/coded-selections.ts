import type { CodesFile } from '../../../../core/warehouse/manifest.ts'
import { EventLoopYielder } from '../../../base/queue.ts'
import { Cache } from '../../../base/cache.ts'
import type { Pool } from '../../engine/pool.ts'
import type { Requester } from '../../engine/requester.ts'
import { operatorRow } from '../../../query/operators.ts'
import type { RowFilter } from '../../../query/query.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { checkScanBudget } from '../scan-budget.ts'
import { RowSet } from '../row-set.ts'
import { matcher, searchTerm } from '../../../query/search-terms.ts'
import { foldedText } from '../folding.ts'
import {
  filterKey,
  type SelectionCache,
  type Group,
  type Grouping,
  type Selection,
  type Selections,
} from '../selections.ts'
import {
  areCoded,
  sequenceFor,
  type Sequence,
  sortPositions,
  scanRows,
  sectionStarts,
  sliceOf,
} from './coded-scan.ts'
import { Clauses, maxRows, type Choice, type Clause, selectedCodes, codesMatching } from './clauses.ts'
import { CodedTable, type Unpacked, type Dictionaries, type Dictionary } from '../../indexes/dictionaries.ts'
import { OrderedTable } from '../../indexes/ordered-table.ts'

export interface CodedLimits {
  /** Limit of decompressed codes in memory, in bytes; 0 disables codes. */
  readonly codesBytesMax: number
  /** Maximum number of values that a query may read. */
  readonly scanValuesMax: number
}

/** Maximum number of rows sorted here, since a sort blocks other requests. */
const sortedMax = 500_000
/** In larger tables DuckDB's threads scan fields faster. */
const scannedRowsMax = 32_000_000
/** This many counts are added up without a charge. */
const countsAlways = 1_000_000
/** Measured cost of a code relative to a value that DuckDB reads. */
const codeWeight = 1 / 4

/**
 * Answers queries whose conditions and orders use only fields with codes. Counts of codes give the number of
 * rows, and the groups that contain a page. Leaves all other queries to the next selections.
 */
export class CodedSelections implements Selections {
  readonly #next: Selections
  readonly #pool: Pool
  readonly #limits: CodedLimits
  readonly #found: SelectionCache
  readonly #unpacked: Cache<Unpacked>
  readonly #dictionaries: Dictionaries

  /** @param pool folds search texts */
  constructor(
    next: Selections,
    pool: Pool,
    dictionaries: Dictionaries,
    found: SelectionCache,
    limits: CodedLimits,
  ) {
    this.#next = next
    this.#pool = pool
    this.#limits = limits
    this.#found = found
    this.#dictionaries = dictionaries
    this.#unpacked = new Cache(limits.codesBytesMax, ({ byteLength }) => byteLength)
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    return (await this.#find(snapshot, filter, requester)) ?? this.#next.find(snapshot, filter, requester)
  }

  /** Returns null for queries it cannot answer. */
  async #find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection | null> {
    const sequence = sequenceFor(snapshot, filter)
    if (!areCoded(sequence, snapshot, filter)) return null
    const clauses = await this.#clauses(snapshot, filter, requester)
    if (clauses === null) return null
    const { rows } = snapshot.manifest
    const [first, second] = clauses
    const rowsMax = first === undefined ? rows : maxRows(first)
    if (rowsMax === 0) return consecutive(0)
    if (!sequence.isInOrder) {
      if (rows > scannedRowsMax || rowsMax > sortedMax) return null
      return this.#sorted(snapshot, sequence, clauses, filter, requester)
    }
    if (first === undefined) return inTable(snapshot, sequence, consecutive(rows))
    if (first.length === 1 && second === undefined)
      return inTable(snapshot, sequence, this.#counted(snapshot, sequence, first[0], filter))
    if (rows > scannedRowsMax) return null
    const found = await this.#rowSet(snapshot, sequence, clauses, filter, requester)
    const slice: Selection['slice'] = async (from, some) => found.slice(from, some)
    return inTable(snapshot, sequence, { count: found.count, slice })
  }

  /** Returns the ranks of the rows of a single choice, located by counts of its codes. */
  #counted(snapshot: Snapshot, { order, codes }: Sequence, choice: Choice, filter: RowFilter): Selection {
    const key = `${rowsKey(snapshot, filter, order)} by section`
    return {
      count: choice.rows,
      slice: (first, some, requester) =>
        this.#reading(snapshot, codes, async (table) => {
          const starts = await this.#found.numbers(key, requester, async (signal) => {
            const counts = table.countsOf(choice.field)
            if (counts > countsAlways)
              await checkScanBudget(counts * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
            return sectionStarts(table, choice, new EventLoopYielder(signal))
          })
          const slice = { first, rows: Math.max(0, Math.min(some, choice.rows - first)) }
          return sliceOf(table, choice, starts, slice, new EventLoopYielder(requester.signal))
        }),
    }
  }

  async #sorted(
    snapshot: Snapshot,
    { codes }: Sequence,
    clauses: readonly Clause[],
    filter: RowFilter,
    requester: Requester,
  ): Promise<Selection> {
    const sequence = { order: null, codes, isInOrder: true }
    const found = await this.#rowSet(snapshot, sequence, clauses, filter, requester)
    return {
      count: found.count,
      slice: async (first, some, reading) => {
        const all = await this.#ordered(snapshot, codes, found, filter, reading)
        return all.subarray(first, first + some)
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

  /** Returns the clauses of a filter; null if a field has no codes. */
  async #clauses(
    snapshot: Snapshot,
    { conditions, words }: RowFilter,
    requester: Requester,
  ): Promise<Clause[] | null> {
    const { fields, search } = snapshot.table
    const searched = words.length > 0 ? fields.filter(({ name }) => search.includes(name)) : []
    const dictionaries = new Map<string, Dictionary>()
    for (const field of new Set([...conditions.map((condition) => condition.field), ...searched])) {
      const dictionary = await this.#dictionaries.values(snapshot, field, requester)
      if (dictionary === null) return null
      dictionaries.set(field.name, dictionary)
    }
    const dictionaryOf = (name: string): Dictionary => dictionaries.get(name) ?? never(name)
    const clauses = new Clauses(new Map([...dictionaries].map(([name, { rows }]) => [name, rows])))
    for (const condition of conditions) {
      const { name } = condition.field
      const isPart = operatorRow(condition.operator).operandKind === 'part'
      const part = isPart ? await foldedText(condition.values[0] ?? '', this.#pool, requester) : ''
      clauses.add([{ field: name, chosen: selectedCodes(dictionaryOf(name), condition, part) }])
    }
    for (const word of words) {
      const term = searchTerm(word)
      const matches = matcher(term, await foldedText(term.text, this.#pool, requester))
      clauses.add(
        searched.map(({ name }) => ({
          field: name,
          chosen: codesMatching(dictionaryOf(name), matches),
        })),
      )
    }
    return clauses.simplified(snapshot.manifest.rows)
  }

  /** Returns the ranks of the rows in which all clauses hold. */
  async #rowSet(
    snapshot: Snapshot,
    { order, codes }: Sequence,
    clauses: readonly Clause[],
    filter: RowFilter,
    requester: Requester,
  ): Promise<RowSet> {
    const { rows, parts } = snapshot.manifest
    if (clauses.length === 0) return RowSet.fromPositions(placesFrom(0, rows), parts)
    const key = rowsKey(snapshot, filter, order)
    return this.#found.rows(key, requester, async (signal) => {
      const values = clauses.reduce((sum, clause) => sum + clause.length, 0) * rows
      await checkScanBudget(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      return this.#reading(snapshot, codes, (table) => scanRows(table, clauses, new EventLoopYielder(signal)))
    })
  }

  async #ordered(
    snapshot: Snapshot,
    codes: CodesFile | undefined,
    rows: RowSet,
    filter: RowFilter,
    requester: Requester,
  ): Promise<Uint32Array> {
    const key = `${filterKey(snapshot, filter)} by ${JSON.stringify(filter.ordering)}`
    return this.#found.numbers(key, requester, async (signal) => {
      const values = rows.count * filter.ordering.length
      await checkScanBudget(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      const positions = rows.slice(0, rows.count)
      return this.#reading(snapshot, codes, (table) =>
        sortPositions(table, positions, filter.ordering, new EventLoopYielder(signal)),
      )
    })
  }

  /** Opens the file of codes while `read` runs. */
  async #reading<T>(
    snapshot: Snapshot,
    codes: CodesFile | undefined,
    read: (table: CodedTable) => Promise<T>,
  ): Promise<T> {
    if (codes === undefined) throw new TypeError('there are no codes')
    const release = await snapshot.pin([codes.file])
    try {
      return await read(new CodedTable(snapshot, codes, this.#unpacked))
    } finally {
      release()
    }
  }
}

/** Converts ranks of a sequence into positions in the table. */
function inTable(snapshot: Snapshot, { order }: Sequence, places: Selection): Selection {
  if (order === null) return places
  const positionsOf = async (some: Uint32Array): Promise<Uint32Array> => {
    const release = await snapshot.pin([order.positions.file])
    try {
      return new OrderedTable(snapshot, order).positions(some)
    } finally {
      release()
    }
  }
  return { count: places.count, slice: async (...some) => positionsOf(await places.slice(...some)) }
}

function consecutive(count: number): Selection {
  return {
    count,
    slice: async (first, rows) => placesFrom(first, Math.max(0, Math.min(rows, count - first))),
  }
}

function placesFrom(first: number, rows: number): Uint32Array {
  const places = new Uint32Array(rows)
  for (let row = 0; row < rows; row += 1) places[row] = first + row
  return places
}

/** Cache key of rows in a stored order. */
function rowsKey(snapshot: Snapshot, filter: RowFilter, order: Sequence['order']): string {
  return `${filterKey(snapshot, filter)} rows${order === null ? '' : ` in ${JSON.stringify(order.keys)}`}`
}

function never(name: string): never {
  throw new Error(`the dictionary of ${name} was not read`)
}
