import { groupCount, type Codes } from '../../../core/warehouse/format/codes.ts'
import type { EventLoopYielder } from '../../base/queue.ts'
import { baseOf, type Term } from '../../query/date-parts.ts'
import type { Measure } from '../../query/measures.ts'
import { compareValues } from '../../query/operators.ts'
import type { CodedTable, Dictionary } from '../indexes/dictionaries.ts'
import { valuesOfTerm, type Clause } from '../selection/access/codes/clauses.ts'
import { matchingRows } from '../selection/access/codes/ranks.ts'
import { DoubleSum, unscaled } from './exact.ts'
import {
  canonicalText,
  exactText,
  floatText,
  groupsOf,
  medianText,
  type Grouping,
  type Groups,
} from './groups.ts'

/** Most counts of groups, and of values in groups, that are held in memory; each takes 4 bytes. */
const countsMax = 4_000_000

/** A term by codes: the groups that its values form, in their order, null last. */
interface CodedTerm {
  readonly field: string
  /** Part of the index of a group by code: indexes of the first term are the farthest apart. */
  readonly groups: Uint32Array
  /** Distance between the groups of neighbouring values. */
  readonly width: number
  readonly values: readonly (string | null)[]
}

/** Counts of rows by group, and of each measured field by group and code. */
interface Counts {
  readonly rows: Uint32Array
  readonly codes: ReadonlyMap<string, Uint32Array>
}

/** Groups rows by the codes of all fields that a grouping names. */
export class CodedGrouping {
  readonly #grouping: Grouping
  readonly #dictionaries: ReadonlyMap<string, Dictionary>
  readonly #terms: readonly CodedTerm[]
  readonly #measured: readonly string[]
  readonly #groups: number

  /** @param dictionaries of all fields of the grouping, by name */
  constructor(grouping: Grouping, dictionaries: ReadonlyMap<string, Dictionary>) {
    this.#grouping = grouping
    this.#dictionaries = dictionaries
    this.#measured = measuredIn(grouping)
    const terms: CodedTerm[] = []
    let groups = 1
    for (const term of grouping.terms.toReversed()) {
      const coded = codedTerm(term, this.#dictionary(baseOf(term).name), groups)
      terms.unshift(coded)
      groups *= coded.values.length
    }
    this.#terms = terms
    this.#groups = groups
  }

  /** Returns whether the counts fit into memory. */
  get fits(): boolean {
    const codes = this.#measured.reduce((sum, name) => sum + this.#dictionary(name).rows.length, 1)
    return this.#groups * codes <= countsMax
  }

  get #fields(): string[] {
    return [...this.#terms.map(({ field }) => field), ...this.#measured]
  }

  /** Groups all rows by the counts of a dictionary; null if the grouping has several fields. */
  ofAll(rows: number): Groups | null {
    const [name, ...others] = new Set(this.#fields)
    if (others.length > 0) return null
    const counts = this.#emptyCounts()
    const known = name === undefined ? [rows] : this.#dictionary(name).rows
    for (const [code, times] of known.entries()) {
      let group = 0
      for (const { groups } of this.#terms) group += groups[code] ?? 0
      counts.rows[group] = (counts.rows[group] ?? 0) + times
      for (const [field, byCode] of counts.codes) {
        const place = group * this.#dictionary(field).rows.length + code
        byCode[place] = (byCode[place] ?? 0) + times
      }
    }
    return this.#groupsFrom(counts)
  }

  /** Groups the rows in which all clauses hold. */
  async of(table: CodedTable, clauses: readonly Clause[], yielder: EventLoopYielder): Promise<Groups> {
    const counts = this.#emptyCounts()
    for (let section = 0; section < groupCount(table.rows); section += 1) {
      await yielder.next()
      this.#count(table, clauses, section, counts)
    }
    return this.#groupsFrom(counts)
  }

  /** Adds the rows of a group of codes. */
  #count(table: CodedTable, clauses: readonly Clause[], section: number, counts: Counts): void {
    const matching = clauses.length === 0 ? null : matchingRows(table, clauses, section)
    if (clauses.length > 0 && matching === null) return
    const groups = this.#groupOfRows(table, section)
    addCounts(groups, matching, counts.rows)
    for (const [field, byCode] of counts.codes) {
      const width = this.#dictionary(field).rows.length
      const codes = table.group(field, section)
      const places = groups.map((group, row) => group * width + (codes[row] ?? 0))
      addCounts(places, matching, byCode)
    }
  }

  /** Returns the index of the group of each row in a group of codes. */
  #groupOfRows(table: CodedTable, section: number): Uint32Array {
    const groups = new Uint32Array(table.groupSize(section))
    for (const term of this.#terms) addGroups(groups, table.group(term.field, section), term.groups)
    return groups
  }

  #emptyCounts(): Counts {
    const codes = this.#measured.map((name): [string, Uint32Array] => [
      name,
      new Uint32Array(this.#groups * this.#dictionary(name).rows.length),
    ])
    return { rows: new Uint32Array(this.#groups), codes: new Map(codes) }
  }

  #groupsFrom({ rows, codes }: Counts): Groups {
    const { terms, measures } = this.#grouping
    const filled: number[] = []
    let all = 0
    for (let group = 0; group < rows.length; group += 1) {
      const inGroup = rows[group] ?? 0
      all += inGroup
      if (inGroup > 0 || terms.length === 0) filled.push(group)
    }
    const ofTerms = this.#terms.map(({ values, width }) =>
      filled.map((group) => values[Math.floor(group / width) % values.length] ?? null),
    )
    const ofMeasures = measures.map((measure) => {
      if (measure.field === null) return filled.map((group) => String(rows[group] ?? 0))
      const { name } = measure.field
      const dictionary = this.#dictionary(name)
      const size = dictionary.rows.length
      const measured = measurer(measure, dictionary)
      return filled.map((group) =>
        measured(codes.get(name)?.subarray(group * size, (group + 1) * size) ?? []),
      )
    })
    return groupsOf(all, [...ofTerms, ...ofMeasures], filled.length)
  }

  #dictionary(name: string): Dictionary {
    const dictionary = this.#dictionaries.get(name)
    if (dictionary === undefined) throw new Error(`the dictionary of ${name} was not read`)
    return dictionary
  }
}

function addGroups(sums: Uint32Array, codes: Codes, groups: Uint32Array): void {
  for (let row = 0; row < sums.length; row += 1) sums[row] = (sums[row] ?? 0) + (groups[codes[row] ?? 0] ?? 0)
}

/** Adds one to the count at each place; only of matching rows, unless all match. */
function addCounts(places: Uint32Array, matching: Uint8Array | null, counts: Uint32Array): void {
  for (let row = 0; row < places.length; row += 1) {
    const place = places[row] ?? 0
    counts[place] = (counts[place] ?? 0) + (matching === null ? 1 : (matching[row] ?? 0))
  }
}

/** Returns the fields of a grouping, each once. */
export function fieldsOfGrouping({ terms, measures }: Grouping): string[] {
  return [...new Set([...terms.map((term) => baseOf(term).name), ...measuredIn({ measures })])]
}

function measuredIn({ measures }: Pick<Grouping, 'measures'>): string[] {
  return [...new Set(measures.flatMap(({ field }) => field?.name ?? []))]
}

function codedTerm(term: Term, dictionary: Dictionary, width: number): CodedTerm {
  const found = valuesOfTerm(term, dictionary)
  const isPart = term.part !== undefined
  const values = (isPart ? [...new Set(found)] : found).filter((value) => value !== null)
  // Values of fields are sorted.
  const known = isPart ? values.toSorted((a, b) => compareValues(term, a, b)) : values
  const groups = new Uint32Array(dictionary.rows.length).fill(known.length * width)
  const places = isPart ? new Map(known.map((value, place) => [value, place])) : null
  for (const [code, value] of found.entries())
    groups[code] = (places === null ? code : (places.get(value ?? '') ?? known.length)) * width
  return {
    field: baseOf(term).name,
    groups,
    width,
    values: [...known.map((value) => canonicalText(term, value)), null],
  }
}

function isUsed(counts: ArrayLike<number>, code: number): boolean {
  return (counts[code] ?? 0) > 0
}

/** Returns a function that measures a group from the number of its rows with each code; the last one is of null. */
function measurer(measure: Measure, { values }: Dictionary): (counts: ArrayLike<number>) => string | null {
  const { of, field, column } = measure
  if (field === null) throw new TypeError('a number of rows needs no codes')
  const text = (code: number): string | null => {
    const value = values[code]
    return value === undefined ? null : canonicalText(column, value)
  }
  const numberOf = (counts: ArrayLike<number>): number => {
    let count = 0
    for (let code = 0; code < values.length; code += 1) count += counts[code] ?? 0
    return count
  }
  switch (of) {
    case 'count':
      return (counts) => String(numberOf(counts))
    case 'distinct':
      return (counts) => {
        let distinct = 0
        for (let code = 0; code < values.length; code += 1) distinct += Number(isUsed(counts, code))
        return String(distinct)
      }
    case 'min':
      return (counts) => {
        let code = 0
        while (code < values.length && !isUsed(counts, code)) code += 1
        return text(code)
      }
    case 'max':
      return (counts) => {
        let code = values.length - 1
        while (code >= 0 && !isUsed(counts, code)) code -= 1
        return text(code)
      }
    case 'median':
      return (counts) => {
        const count = numberOf(counts)
        if (count === 0) return null
        const [low, high] = [Math.ceil(count / 2), Math.floor(count / 2) + 1].map((rank) => {
          let [code, before] = [0, counts[0] ?? 0]
          while (before < rank) {
            code += 1
            before += counts[code] ?? 0
          }
          return values[code] ?? ''
        })
        return medianText(measure, low ?? '', high ?? '')
      }
    default:
      return field.type === 'float' ? floatSums(measure, values) : exactSums(measure, values)
  }
}

function floatSums(
  measure: Measure,
  values: readonly string[],
): (counts: ArrayLike<number>) => string | null {
  const numbers = Float64Array.from(values, Number)
  return (counts) => {
    const sum = new DoubleSum()
    for (const [code, number] of numbers.entries()) {
      const times = counts[code] ?? 0
      if (times > 0) sum.add(number, times)
    }
    return floatText(measure, sum, sum.count)
  }
}

function exactSums(
  measure: Measure,
  values: readonly string[],
): (counts: ArrayLike<number>) => string | null {
  const digits = values.map(unscaled)
  const numbers = Float64Array.from(digits, Number)
  return (counts) => {
    let [count, sum, magnitude] = [0, 0, 0]
    for (let code = 0; code < numbers.length; code += 1) {
      const times = counts[code] ?? 0
      const number = (numbers[code] ?? 0) * times
      count += times
      sum += number
      magnitude += Math.abs(number)
    }
    if (magnitude <= Number.MAX_SAFE_INTEGER) return exactText(measure, BigInt(sum), count)
    // Doubles have lost digits.
    const exact = digits.reduce((all, one, code) => all + one * BigInt(counts[code] ?? 0), 0n)
    return exactText(measure, exact, count)
  }
}
