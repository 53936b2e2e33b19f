import { codeBytes } from '../../../../core/warehouse/format/codes.ts'
import type { CodesFile, Order } from '../../../../core/warehouse/manifest.ts'
import { orderTerm } from '../../../../core/sql.ts'
import { Cache } from '../../../base/cache.ts'
import { EventLoopYielder } from '../../../base/queue.ts'
import { baseOf } from '../../../query/date-parts.ts'
import { operatorRow } from '../../../query/operators.ts'
import type { RowFilter } from '../../../query/query.ts'
import { matcher, searchTerm } from '../../../query/search-terms.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import type { Pool } from '../../engine/pool.ts'
import {
  CodedTable,
  dictionarySize,
  type Dictionaries,
  type Dictionary,
  type Unpacked,
} from '../../indexes/dictionaries.ts'
import { OrderedTable } from '../../indexes/ordered-table.ts'
import { CodedGrouping } from '../../groups/coded-groups.ts'
import { groupsOfNoRows, type Grouping, type Groups } from '../../groups/groups.ts'
import { foldedText } from '../folding.ts'
import { RowSet } from '../row-set.ts'
import { checkScanBudget } from '../scan-budget.ts'
import type { SelectionCache } from '../selection-cache.ts'
import {
  consecutive,
  firstPositions,
  fixedFields,
  isInFileOrder,
  type Search,
  type Selection,
} from '../selections.ts'
import type { AccessPath } from '../access-path.ts'
import { Clauses, codesMatching, maxRows, selectedCodes, type Choice, type Clause } from './codes/clauses.ts'
import { scanRows, sectionStarts, sliceOf, sortPositions } from './codes/ranks.ts'

export interface CodedLimits {
  /** Bytes of decompressed codes; 0 disables codes. */
  readonly codesBytesMax: number
  /** Values that one scan may read. */
  readonly scanValuesMax: number
}

const sortedMax = 500_000
const scannedRowsMax = 32_000_000
const uncheckedCountsMax = 1_000_000
/** Measured, relative to a value that DuckDB reads. */
const codeWeight = 1 / 4

interface Sequence {
  /** Null for the order of the table. */
  readonly order: Order | null
  readonly codes: CodesFile | undefined
  /** True if found rows need no sort. */
  readonly isInOrder: boolean
}

/** Clauses that hold in each matching row, and the sequence to search. */
export interface CodesStep {
  readonly sequence: Sequence
  readonly clauses: readonly Clause[]
}

/**
 * Finds rows by fields with codes. Stored counts give the number of rows, and locate a page's groups of
 * codes.
 */
export class CodeScan implements AccessPath<CodesStep> {
  readonly #pool: Pool
  readonly #limits: CodedLimits
  readonly #cache: SelectionCache
  readonly #unpacked: Cache<Unpacked>
  readonly #dictionaries: Dictionaries

  constructor(pool: Pool, dictionaries: Dictionaries, cache: SelectionCache, limits: CodedLimits) {
    this.#pool = pool
    this.#limits = limits
    this.#cache = cache
    this.#dictionaries = dictionaries
    this.#unpacked = new Cache(limits.codesBytesMax, ({ byteLength }) => byteLength)
  }

  async plan(search: Search): Promise<CodesStep | null> {
    const { snapshot, filter } = search
    const sequence = sequenceFor(snapshot, filter)
    if (this.#limits.codesBytesMax === 0 || !areCoded(sequence, snapshot, filter)) return null
    const clauses = await this.#clauses(search)
    if (clauses === null) return null
    const { rows } = snapshot.manifest
    const [first, second] = clauses
    const rowsMax = first === undefined ? rows : maxRows(first)
    const isCounted = first === undefined || (first.length === 1 && second === undefined)
    const needsScan = !sequence.isInOrder || !isCounted
    const isLarge = rows > scannedRowsMax || (!sequence.isInOrder && rowsMax > sortedMax)
    return rowsMax > 0 && needsScan && isLarge ? null : { sequence, clauses }
  }

  async find(search: Search, { sequence, clauses }: CodesStep): Promise<Selection> {
    const { rows } = search.snapshot.manifest
    const [first, second] = clauses
    if (first !== undefined && maxRows(first) === 0) return firstPositions(0)
    if (!sequence.isInOrder) return this.#sorted(search, sequence, clauses)
    const ranks = (): Promise<Selection> | Selection => {
      if (first === undefined) return firstPositions(rows)
      if (first.length === 1 && second === undefined)
        return this.#countedSelection(search, sequence, first[0])
      return this.#rowSet(search, sequence, clauses)
    }
    return inTable(search.snapshot, sequence, await ranks())
  }

  /** Null if measures need more than counts, a field has no codes, or DuckDB costs less. */
  async groups(search: Search, grouping: Grouping): Promise<Groups | null> {
    const { snapshot, filter, requester } = search
    const { rows } = snapshot.manifest
    const isCounted =
      grouping.terms.length > 0 && grouping.measures.every(({ aggregate }) => aggregate === 'rows')
    const step =
      isCounted && rows <= scannedRowsMax
        ? await this.plan({ ...search, filter: { ...filter, ordering: [] } })
        : null
    if (step === null) return null
    const { clauses, sequence } = step
    const dictionaries = new Map<string, Dictionary>()
    for (const field of new Set(grouping.terms.map(baseOf))) {
      const dictionary = await this.#dictionaries.values(snapshot, field, requester)
      if (dictionary === null || sequence.codes?.fields.includes(field.name) !== true) return null
      dictionaries.set(field.name, dictionary)
    }
    const codedGrouping = new CodedGrouping(grouping, dictionaries)
    if (!codedGrouping.fits) return null
    // Clauses are ordered by their rows, the fewest first.
    if (clauses[0] !== undefined && maxRows(clauses[0]) === 0) return groupsOfNoRows(grouping)
    const [only, ...furtherDictionaries] = dictionaries.values()
    if (only !== undefined && furtherDictionaries.length === 0 && clauses.length === 0)
      return codedGrouping.ofDictionary(only)
    // Codes that fill more than half of the cache would not stay in it, and inflating them takes longer than
    // DuckDB.
    const fields = new Set([...dictionaries.keys(), ...clauses.flat().map(({ field }) => field)])
    const bytes = [...fields].reduce((sum, name) => sum + codeBytes(dictionarySize(snapshot, name)) * rows, 0)
    if (bytes > this.#limits.codesBytesMax / 2) return null
    await checkScanBudget(fields.size * rows * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
    return this.#reading(snapshot, sequence.codes, (table) =>
      codedGrouping.of(table, clauses, new EventLoopYielder(requester.signal)),
    )
  }

  /**
   * Selects rows by a single choice. Stored counts of its codes locate a slice, so that few groups are read.
   */
  #countedSelection(search: Search, { order, codes }: Sequence, choice: Choice): Selection {
    const { snapshot } = search
    const kind = { name: 'section starts', order: order?.keys ?? null } as const
    return {
      count: choice.rows,
      slice: (first, limit, requester) =>
        this.#reading(snapshot, codes, async (table) => {
          const starts = await this.#cache.numbers({ ...search, requester }, kind, async (signal) => {
            const countsToRead = table.countsOf(choice.field)
            if (countsToRead > uncheckedCountsMax)
              await checkScanBudget(
                countsToRead * codeWeight,
                this.#limits.scanValuesMax,
                snapshot,
                requester,
              )
            return sectionStarts(table, choice, new EventLoopYielder(signal))
          })
          const slice = { first, rows: Math.max(0, Math.min(limit, choice.rows - first)) }
          return sliceOf(table, choice, starts, slice, new EventLoopYielder(requester.signal))
        }),
    }
  }

  async #sorted(search: Search, { codes }: Sequence, clauses: readonly Clause[]): Promise<Selection> {
    const rowSet = await this.#rowSet(search, { order: null, codes, isInOrder: true }, clauses)
    return {
      count: rowSet.count,
      slice: async (first, limit, requester) => {
        const ordered = await this.#ordered({ ...search, requester }, codes, rowSet)
        return ordered.subarray(first, first + limit)
      },
    }
  }

  /** Codes that each condition and word selects; null if a field has no codes. */
  async #clauses({ snapshot, filter: { conditions, words }, requester }: Search): Promise<Clause[] | null> {
    const { fields, search } = snapshot.table
    const searchedFields = words.length > 0 ? fields.filter(({ name }) => search.includes(name)) : []
    const dictionaries = new Map<string, Dictionary>()
    for (const field of new Set([
      ...conditions.map((condition) => baseOf(condition.field)),
      ...searchedFields,
    ])) {
      const dictionary = await this.#dictionaries.values(snapshot, field, requester)
      if (dictionary === null) return null
      dictionaries.set(field.name, dictionary)
    }
    const dictionaryOf = (name: string): Dictionary => dictionaries.get(name) ?? unexpected(name)
    const clauses = new Clauses(new Map([...dictionaries].map(([name, { rows }]) => [name, rows])))
    for (const condition of conditions) {
      const { name } = baseOf(condition.field)
      const searchesSubstring = operatorRow(condition.operator).operandKind === 'part'
      const part = searchesSubstring ? await foldedText(condition.values[0] ?? '', this.#pool, requester) : ''
      clauses.add([{ field: name, chosen: selectedCodes(dictionaryOf(name), condition, part) }])
    }
    for (const word of words) {
      const term = searchTerm(word)
      const matches = matcher(term, await foldedText(term.text, this.#pool, requester))
      clauses.add(
        searchedFields.map(({ name }) => ({
          field: name,
          chosen: codesMatching(dictionaryOf(name), matches),
        })),
      )
    }
    return clauses.simplified(snapshot.manifest.rows)
  }

  async #rowSet(search: Search, { order, codes }: Sequence, clauses: readonly Clause[]): Promise<RowSet> {
    const { snapshot, requester } = search
    const { rows, parts } = snapshot.manifest
    if (clauses.length === 0) return RowSet.fromPositions(consecutive(0, rows), parts)
    return this.#cache.rows(search, order?.keys ?? null, async (signal) => {
      const values = clauses.reduce((sum, clause) => sum + clause.length, 0) * rows
      await checkScanBudget(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      return this.#reading(snapshot, codes, (table) => scanRows(table, clauses, new EventLoopYielder(signal)))
    })
  }

  async #ordered(search: Search, codes: CodesFile | undefined, rows: RowSet): Promise<Uint32Array> {
    const { snapshot, filter, requester } = search
    const kind = { name: 'positions', order: filter.ordering, first: 0, limit: null } as const
    return this.#cache.numbers(search, kind, async (signal) => {
      const values = rows.count * filter.ordering.length
      await checkScanBudget(values * codeWeight, this.#limits.scanValuesMax, snapshot, requester)
      const positions = rows.slice(0, rows.count)
      return this.#reading(snapshot, codes, (table) =>
        sortPositions(table, positions, filter.ordering, new EventLoopYielder(signal)),
      )
    })
  }

  async #reading<T>(
    snapshot: Snapshot,
    codes: CodesFile | undefined,
    work: (table: CodedTable) => Promise<T>,
  ): Promise<T> {
    if (codes === undefined) throw new TypeError('there are no codes')
    const release = await snapshot.pin([codes.file])
    try {
      return await work(new CodedTable(snapshot, codes, this.#unpacked))
    } finally {
      release()
    }
  }
}

function sequenceFor(snapshot: Snapshot, filter: RowFilter): Sequence {
  const { codes, orders = [] } = snapshot.manifest
  if (isInFileOrder(snapshot, filter)) return { order: null, codes, isInOrder: true }
  const fixed = fixedFields(filter)
  const remainingTerms = (keys: Order['keys'] | RowFilter['ordering']): string =>
    keys
      .filter(({ field }) => !fixed.has(field))
      .map((key) => orderTerm(key))
      .join()
  const order = orders.find(({ keys }) => remainingTerms(keys) === remainingTerms(filter.ordering))
  if (order === undefined) return { order: null, codes, isInOrder: false }
  return { order, codes: order.codes, isInOrder: true }
}

function areCoded(
  { codes, isInOrder }: Sequence,
  { table }: Snapshot,
  { conditions, words, ordering }: RowFilter,
): boolean {
  const neededFields = [
    ...conditions.map(({ field }) => baseOf(field).name),
    ...(words.length > 0 ? table.search : []),
    ...(isInOrder ? [] : ordering.map(({ field }) => field)),
  ]
  return neededFields.every((name) => codes?.fields.includes(name) === true)
}

function inTable(snapshot: Snapshot, { order }: Sequence, ranks: Selection): Selection {
  if (order === null) return ranks
  return {
    count: ranks.count,
    slice: async (...range) => {
      const release = await snapshot.pin([order.positions.file])
      try {
        return new OrderedTable(snapshot, order).positions(await ranks.slice(...range))
      } finally {
        release()
      }
    },
  }
}

function unexpected(name: string): never {
  throw new Error(`the dictionary of ${name} was not read`)
}
