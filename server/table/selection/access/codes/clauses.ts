import { quotedJson } from '../../../../../core/text.ts'
import type { Dictionary } from '../../../indexes/dictionaries.ts'
import type { Condition } from '../../../../query/conditions.ts'
import { baseOf, termValue, type Term } from '../../../../query/date-parts.ts'
import { compareValues, equalValues, trimBlanks } from '../../../../query/operators.ts'

export interface Choice {
  readonly field: string
  readonly chosen: Chosen
  readonly codes: readonly number[]
  readonly rows: number
}

/** Alternatives; a matching row satisfies at least one of them. */
export type Clause = readonly [Choice, ...Choice[]]

/** A matching row satisfies all clauses. */
export class Clauses {
  readonly #rows: ReadonlyMap<string, Float64Array>
  readonly #chosenByField = new Map<string, Chosen>()
  readonly #multiFieldClauses: Clause[] = []

  /** @param rows number of rows by field and code */
  constructor(rows: ReadonlyMap<string, Float64Array>) {
    this.#rows = rows
  }

  /** Adds alternatives: a field must have one of its selected values. */
  add(alternatives: readonly Pick<Choice, 'field' | 'chosen'>[]): void {
    const [first, ...furtherChoices] = alternatives.map((condition) =>
      this.#choice(condition.field, condition.chosen),
    )
    if (first === undefined) return
    if (furtherChoices.length > 0) {
      this.#multiFieldClauses.push([first, ...furtherChoices])
      return
    }
    const earlierChoice = this.#chosenByField.get(first.field)
    const intersection =
      earlierChoice === undefined
        ? first.chosen
        : first.chosen.map((flag, code) => flag & (earlierChoice[code] ?? 0))
    this.#chosenByField.set(first.field, intersection)
  }

  /**
   * Puts clauses with fewest rows first, and omits clauses that always hold.
   * @param rows number of rows of the table
   */
  simplified(rows: number): Clause[] {
    const singleClauses = [...this.#chosenByField].map(([field, chosen]): Clause => [
      this.#choice(field, chosen),
    ])
    return [...singleClauses, ...this.#multiFieldClauses]
      .filter((clause) => clause.every((choice) => choice.rows < rows))
      .map((clause) => (clause.some((choice) => choice.rows > 0) ? withoutNone(clause) : clause))
      .toSorted((a, b) => maxRows(a) - maxRows(b))
  }

  #choice(field: string, chosen: Chosen): Choice {
    const counts = this.#rows.get(field)
    const codes: number[] = []
    for (let code = 0; code < chosen.length; code += 1) if (chosen[code] === 1) codes.push(code)
    return { field, chosen, codes, rows: codes.reduce((sum, code) => sum + (counts?.[code] ?? 0), 0) }
  }
}

function withoutNone(clause: Clause): Clause {
  const [first, ...furtherChoices] = clause.filter(({ rows }) => rows > 0)
  return first === undefined ? clause : [first, ...furtherChoices]
}

export function maxRows(clause: Clause): number {
  return clause.reduce((sum, { rows }) => sum + rows, 0)
}

type Chosen = Uint8Array

/**
 * Codes that satisfy a condition.
 * @param part folded operand of `iexact`, `contains` and `startswith`
 */
export function selectedCodes(dictionary: Dictionary, condition: Condition, part: string): Chosen {
  const { field, operator, values } = condition
  if (field.part !== undefined) return codesOfParts(dictionary, condition)
  const nullCode = dictionary.values.length
  const flags = new Uint8Array(nullCode + 1)
  const [first = '', last = first] = [values[0], values.at(-1)]
  const startOfFirst = (): number => placeOf(dictionary, first, false)
  const endOfLast = (): number => placeOf(dictionary, last, true)
  const markEqual = (flagsToMark: Uint8Array, mark: number): Uint8Array => {
    for (const value of equalValues(field, values))
      flagsToMark.fill(mark, placeOf(dictionary, value, false), placeOf(dictionary, value, true))
    return flagsToMark
  }
  const excludesPeriod = operator === 'ne' && values.length === 2
  switch (operator) {
    case 'has':
      return chosenValues(dictionary, hasAnyOf(equalValues(field, values)))
    case 'within':
      return chosenValues(dictionary, isWithin(values.map(Number)))
    case 'isnull':
      return values[0] === 'true' ? flags.fill(1, nullCode) : flags.fill(1, 0, nullCode)
    case 'range':
      return flags.fill(1, startOfFirst(), endOfLast())
    case 'eq':
    case 'in':
      return markEqual(flags, 1)
    case 'ne':
      return excludesPeriod ? flags.fill(1).fill(0, startOfFirst(), endOfLast()) : markEqual(flags.fill(1), 0)
    case 'gt':
      return flags.fill(1, endOfLast(), nullCode)
    case 'gte':
      return flags.fill(1, startOfFirst(), nullCode)
    case 'lt':
      return flags.fill(1, 0, startOfFirst())
    case 'lte':
      return flags.fill(1, 0, endOfLast())
    case 'iexact': {
      const trimmedPart = trimBlanks(part)
      return codesMatching(dictionary, (text) => trimBlanks(text) === trimmedPart)
    }
    case 'contains':
      return codesMatching(dictionary, (text) => text.includes(part))
    case 'startswith':
      return codesMatching(dictionary, (text) => text.startsWith(part))
  }
}

/**
 * Parts of dates, such as years, by the values of a dictionary and the name of the part. Cached, since computing
 * one takes 2 µs a value.
 */
const partsByValues = new WeakMap<readonly string[], Map<string, readonly (string | null)[]>>()

/** Values by code; null for texts that are no dates. */
export function valuesOfTerm(term: Term, { values }: Dictionary): readonly (string | null)[] {
  if (term.part === undefined) return values
  const byPart = partsByValues.get(values) ?? new Map<string, readonly (string | null)[]>()
  const parts = byPart.get(term.name) ?? partsOfValues(term, values)
  partsByValues.set(values, byPart.set(term.name, parts))
  return parts
}

function codesOfParts(dictionary: Dictionary, condition: Condition): Chosen {
  const isChosen = partTest(condition)
  const flags = new Uint8Array(dictionary.values.length + 1)
  for (const [code, part] of valuesOfTerm(condition.field, dictionary).entries())
    flags[code] = Number(isChosen(part))
  return flags.fill(Number(isChosen(null)), dictionary.values.length)
}

function partsOfValues(field: Term, values: readonly string[]): (string | null)[] {
  const isMoment = baseOf(field).type === 'datetime'
  let [day, part]: [string, string | null] = ['', null]
  return values.map((value) => {
    const text = isMoment ? value.slice(0, 10) : value
    if (text !== day) [day, part] = [text, termValue(field, value)]
    return part
  })
}

/** Returns a test of parts, which are null without a valid date. */
function partTest({ field, operator, values }: Condition): (part: string | null) => boolean {
  const [first = '', last = first] = [values[0], values.at(-1)]
  const wantedValues = new Set(values)
  const comparisonTest =
    (holdsFor: (order: number) => boolean) =>
    (part: string | null): boolean =>
      part !== null && holdsFor(compareValues(field, part, first))
  switch (operator) {
    case 'isnull':
      return (part) => (part === null) === (first === 'true')
    case 'ne':
      return (part) => part === null || !wantedValues.has(part)
    case 'gt':
      return comparisonTest((order) => order > 0)
    case 'gte':
      return comparisonTest((order) => order >= 0)
    case 'lt':
      return comparisonTest((order) => order < 0)
    case 'lte':
      return comparisonTest((order) => order <= 0)
    case 'range':
      return (part) =>
        part !== null && compareValues(field, part, first) >= 0 && compareValues(field, part, last) <= 0
    default:
      return (part) => part !== null && wantedValues.has(part)
  }
}

function chosenValues({ values }: Dictionary, isChosen: (value: string) => boolean): Chosen {
  const flags = new Uint8Array(values.length + 1)
  for (const [code, value] of values.entries()) flags[code] = Number(isChosen(value))
  return flags
}

/** Searches without parsing: quotes in texts are escaped, so only whole items match. */
function hasItem(item: string): (list: string) => boolean {
  // `,","` would also find the list `["a,","b"]`, which has no item `,`.
  if (item === ',') return (list) => (JSON.parse(list) as string[]).includes(item)
  const itemJson = quotedJson(item)
  return (list) => list.startsWith(`[${itemJson}`) || list.includes(`,${itemJson}`)
}

function hasAnyOf(items: readonly string[]): (list: string) => boolean {
  const tests = items.map(hasItem)
  return (list) => tests.some((test) => test(list))
}

function isWithin([west = 0, south = 0, east = 0, north = 0]: readonly number[]): (point: string) => boolean {
  return (point) => {
    const [latitude = NaN, longitude = NaN] = point.split(',').map(Number)
    const isBetween = longitude >= west && longitude <= east
    const isAround = longitude >= west || longitude <= east
    return latitude >= south && latitude <= north && (west <= east ? isBetween : isAround)
  }
}

export function codesMatching({ folded }: Dictionary, holds: (text: string) => boolean): Chosen {
  if (folded === null) throw new TypeError('the dictionary has no folded texts')
  const isChosen = new Uint8Array(folded.length + 1)
  for (const [code, text] of folded.entries()) isChosen[code] = Number(holds(text))
  return isChosen
}

/** Code of the first value not before `value`; with `isAfter`, of the first after it. */
function placeOf({ field, values }: Dictionary, value: string, isAfter: boolean): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compareValues(field, values[middle] ?? '', value)
    if (order < 0 || (isAfter && order === 0)) low = middle + 1
    else high = middle
  }
  return low
}
