import { groupCount, type Codes } from '../../../core/warehouse/format/codes.ts'
import type { EventLoopYielder } from '../../base/queue.ts'
import { baseOf, type Term } from '../../query/date-parts.ts'
import { compareValues } from '../../query/operators.ts'
import type { CodedTable, Dictionary } from '../indexes/dictionaries.ts'
import { valuesOfTerm, type Clause } from '../selection/access/codes/clauses.ts'
import { matchingRows } from '../selection/access/codes/ranks.ts'
import { canonicalText, groupsOf, type Grouping, type Groups } from './groups.ts'

/** Maximum counts in memory, of 4 bytes each. */
const countsMax = 4_000_000

interface CodedTerm {
  readonly field: string
  /** Offset of the group by code; offsets of the first term are farthest apart. */
  readonly groups: Uint32Array
  /** Distance between groups of neighbouring values. */
  readonly width: number
  readonly values: readonly (string | null)[]
}

/** Counts rows by the codes of all terms, and measures nothing else. */
export class CodedGrouping {
  readonly #grouping: Grouping
  readonly #terms: readonly CodedTerm[]
  readonly #groups: number

  /** @param dictionaries of the fields of all terms, by name */
  constructor(grouping: Grouping, dictionaries: ReadonlyMap<string, Dictionary>) {
    this.#grouping = grouping
    const terms: CodedTerm[] = []
    let groups = 1
    for (const term of grouping.terms.toReversed()) {
      const dictionary = dictionaries.get(baseOf(term).name)
      if (dictionary === undefined) throw new Error(`the dictionary of ${term.name} was not read`)
      const termCodes = codedTerm(term, dictionary, groups)
      terms.unshift(termCodes)
      groups *= termCodes.values.length
    }
    this.#terms = terms
    this.#groups = groups
  }

  get fits(): boolean {
    return this.#groups <= countsMax
  }

  /** Counts groups from a dictionary, without codes of rows. */
  ofDictionary({ rows }: Dictionary): Groups {
    const counts = new Uint32Array(this.#groups)
    for (const [code, times] of rows.entries()) {
      let group = 0
      for (const { groups } of this.#terms) group += groups[code] ?? 0
      counts[group] = (counts[group] ?? 0) + times
    }
    return this.#groupsFrom(counts)
  }

  async of(table: CodedTable, clauses: readonly Clause[], yielder: EventLoopYielder): Promise<Groups> {
    const counts = new Uint32Array(this.#groups)
    const buffer = new Uint32Array(table.groupSize(0))
    for (let section = 0; section < groupCount(table.rows); section += 1) {
      await yielder.next()
      const matching = clauses.length === 0 ? null : matchingRows(table, clauses, section)
      if (clauses.length > 0 && matching === null) continue
      const places = buffer.subarray(0, table.groupSize(section)).fill(0)
      for (const { field, groups } of this.#terms) addGroups(places, table.group(field, section), groups)
      addCounts(places, matching, counts)
    }
    return this.#groupsFrom(counts)
  }

  #groupsFrom(counts: Uint32Array): Groups {
    const filledGroups: number[] = []
    let total = 0
    for (let group = 0; group < counts.length; group += 1) {
      const rows = counts[group] ?? 0
      total += rows
      if (rows > 0) filledGroups.push(group)
    }
    const ofTerms = this.#terms.map(({ values, width }) =>
      filledGroups.map((group) => values[Math.floor(group / width) % values.length] ?? null),
    )
    const rows = this.#grouping.measures.map(() => filledGroups.map((group) => String(counts[group] ?? 0)))
    return groupsOf(total, [...ofTerms, ...rows], filledGroups.length)
  }
}

function addGroups(places: Uint32Array, codes: Codes, offsets: Uint32Array): void {
  for (let row = 0; row < places.length; row += 1)
    places[row] = (places[row] ?? 0) + (offsets[codes[row] ?? 0] ?? 0)
}

/** Counts matching rows; all rows if `matching` is null. */
function addCounts(places: Uint32Array, matching: Uint8Array | null, counts: Uint32Array): void {
  for (let row = 0; row < places.length; row += 1) {
    const place = places[row] ?? 0
    counts[place] = (counts[place] ?? 0) + (matching === null ? 1 : (matching[row] ?? 0))
  }
}

/**
 * Maps codes of a field to offsets of groups: the place of the code's value times `stride`. Null has the last
 * place.
 */
function codedTerm(term: Term, dictionary: Dictionary, stride: number): CodedTerm {
  const termValues = valuesOfTerm(term, dictionary)
  const isPart = term.part !== undefined
  const values = (isPart ? [...new Set(termValues)] : termValues).filter((value) => value !== null)
  const sortedValues = isPart ? values.toSorted((a, b) => compareValues(term, a, b)) : values
  const nullPlace = sortedValues.length
  const offsetByCode = new Uint32Array(dictionary.rows.length).fill(nullPlace * stride)
  const placeByValue = isPart ? new Map(sortedValues.map((value, place) => [value, place])) : null
  for (const [code, value] of termValues.entries()) {
    const place = placeByValue === null ? code : (placeByValue.get(value ?? '') ?? nullPlace)
    offsetByCode[code] = place * stride
  }
  return {
    field: baseOf(term).name,
    groups: offsetByCode,
    width: stride,
    values: [...sortedValues.map((value) => canonicalText(term, value)), null],
  }
}
