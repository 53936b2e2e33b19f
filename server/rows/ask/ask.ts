import { tableId, type Field, type OrderKey, type Table } from '../../../core/catalog/catalog.ts'
import { didYouMean, nearestName } from '../../../core/nearest.ts'
import { isSnapshotId, type SnapshotId } from '../../../core/warehouse/layout.ts'
import { addressLengthMax } from '../../http/requests.ts'
import { Problem, unacceptableParameters, type ParameterError } from '../../http/problems.ts'
import { parametersOf, repeatedParameter, type Query } from '../../http/query.ts'
import {
  foldsToNothing,
  isAlike,
  isAllowed,
  parameterFor,
  parseCondition,
  shortened,
  targetOf,
  type Condition,
  type Target,
} from './conditions.ts'
import { Fault } from './fault.ts'
import { formatList, parseList } from './list.ts'
import { isTextValue } from './values.ts'

/** What a reader asks of a table's rows: the query string as a value. */
export interface RowAsk extends RowFilter {
  /** From 1; `last` is whatever page comes last. */
  readonly page: number | 'last'
  readonly pageSize: number
  /** Pins the answer to one snapshot; null takes the current one, whichever that is. */
  readonly snapshot: SnapshotId | 'current' | null
  readonly format: string | undefined
  /** In alphabetical order. */
  readonly fields: readonly Field[]
  /**
   * All of this but the page in its one way of writing, which the links to other pages have: whatever the order of
   * the parameters was, without those that say nothing, such as a default.
   */
  readonly parameters: Query
}

/** Which rows, in which order. */
export interface RowFilter {
  /** All of these hold, sorted by their parameters. */
  readonly conditions: readonly Condition[]
  /** Each is in some search field of every row, sorted. */
  readonly words: readonly string[]
  /** Nulls last, ties by position; empty for the declared order. */
  readonly ordering: readonly OrderKey[]
  /** Says which rows, and alike for all that say the same. */
  readonly key: string
}

/** The ancestor's default and maximum; outside it a size is refused, not silently changed. */
export const pageSizeDefault = 1000
export const pageSizeMax = 10_000
/** What an ask can cost grows with each. */
export const conditionsMax = 30
export const wordsMax = 10

/** The parameters that are no fields, and what they mean. */
export const parameterRows = {
  page: 'from 1, or `last`',
  page_size: `rows a page, 1 to ${pageSizeMax}; ${pageSizeDefault} where it is not given`,
  snapshot: '`current`, or the id of a snapshot: stays on it',
  format: 'the format of the answer',
  fields: 'only these fields, with commas between',
  search: 'every word is in some search field, whatever its case and accents',
  ordering: 'fields to order by, with commas between; `-` before one for descending. Nulls come last',
  'order-by': 'the same, as the ancestor called it',
} as const satisfies Record<string, string>

type ParameterName = keyof typeof parameterRows
const parameterNames: readonly string[] = Object.keys(parameterRows)

function isParameterName(name: string): name is ParameterName {
  return Object.hasOwn(parameterRows, name)
}

/** The fields that readers may order by: the ancestor's rule. */
export function orderable({ order, filters }: Table): string[] {
  return [...new Set([...order.map(({ field }) => field), ...filters])]
}

/**
 * @param target path and query as they came
 * @param without parameters that do not exist here
 * @throws Problem invalid-parameter naming each one that is not understood, invalid-page for the page
 */
export function parseRowAsk(table: Table, target: string, without: readonly ParameterName[] = []): RowAsk {
  const offered = parameterNames.filter((name) => !without.some((other) => other === name))
  const [given, conditions, errors] = [new Map<string, string>(), [] as Condition[], [] as ParameterError[]]
  const seen = new Set<string>()
  for (const [name, text] of parametersOf(target)) {
    const aim = offered.includes(name) ? null : targetOf(table, name)
    // Web forms of the ancestor's clients send every field empty; that asks for nothing.
    if (text === '' && (offered.includes(name) || (aim !== null && isAllowed(aim)))) continue
    const said = saidBy(table, name, text, aim, offered)
    if (seen.has(name)) errors.push({ parameter: name, message: repeatedParameter(shortened(name)) })
    else if (said instanceof Fault) errors.push({ parameter: name, message: said.message })
    else if (said === null) given.set(name, text)
    else if (conditions.some((other) => isAlike(said, other))) {
      errors.push({
        parameter: name,
        message: `The parameter "${shortened(name)}" says twice what must hold.`,
      })
    } else conditions.push(said)
    seen.add(name)
  }
  if (conditions.length > conditionsMax) {
    const message = `There are more than ${conditionsMax} conditions.`
    errors.push(...conditions.slice(conditionsMax).map((one) => ({ parameter: one.field.name, message })))
  }
  const read = readParameters(table, given, errors)
  if (errors.length > 0) throw unacceptableParameters(errors)
  const ask = whole(table, given, conditions, read)
  requireShort(ask)
  return ask
}

/** Of an address without its parameters, and of those that links add. */
const addressRest = 500

/** @throws Problem address-too-long where a link to the next page, in which characters may be escaped, could not be followed */
function requireShort({ parameters }: RowAsk): void {
  const most = addressLengthMax - addressRest
  if (new URLSearchParams([...parameters]).toString().length <= most) return
  const detail = `The parameters are longer than ${most} characters when they are escaped, as in links to other pages.`
  throw new Problem('address-too-long', detail)
}

/** A condition; null where it is a parameter of its own. */
function saidBy(
  table: Table,
  name: string,
  text: string,
  aim: Target | null,
  offered: readonly string[],
): Condition | Fault | null {
  if (offered.includes(name)) return null
  if (aim !== null) return parseCondition(table, aim, text)
  const end = name.lastIndexOf('__')
  const [field, operator] = end < 1 ? [name, ''] : [name.slice(0, end), name.slice(end)]
  const near = nearestName(field, [...offered, ...table.fields.map((other) => other.name)])
  const hint = near === null ? '' : ` (did you mean "${near}${operator}"?)`
  const known = [...offered, ...table.filters].join(', ')
  return new Fault(`There is no parameter "${shortened(name)}" here${hint}; known: ${known}.`)
}

interface ReadParameters {
  readonly page: RowAsk['page']
  readonly pageSize: number
  readonly snapshot: RowAsk['snapshot']
  readonly words: readonly string[]
  readonly ordering: readonly OrderKey[]
  readonly fields: readonly Field[]
}

/** Each parameter that is not right adds to the errors. */
function readParameters(table: Table, given: Query, errors: ParameterError[]): ReadParameters {
  const read = <T>(parameter: ParameterName, missing: T, parse: (text: string) => T | Fault): T => {
    const text = given.get(parameter)
    const value = text === undefined ? missing : parse(text)
    if (!(value instanceof Fault)) return value
    errors.push({ parameter, message: value.message })
    return missing
  }
  if (given.has('ordering') && given.has('order-by')) {
    const message = 'The parameters "ordering" and "order-by" mean the same: give one of them.'
    errors.push({ parameter: 'order-by', message })
  }
  const byAncestor = read<OrderKey[]>('order-by', [], (text) => parseOrdering(table, 'order-by', text))
  return {
    pageSize: read('page_size', pageSizeDefault, parsePageSize),
    snapshot: read('snapshot', null, parseSnapshot),
    words: read('search', [], (text) => parseWords(table, text)),
    ordering: read('ordering', byAncestor, (text) => parseOrdering(table, 'ordering', text)),
    fields: read('fields', inAlphabet(table.fields), (text) => parseFields(table, text)),
    // A page that there is not is another problem than a parameter that is not right.
    page: errors.length > 0 ? 1 : parsePage(given.get('page')),
  }
}

/** Puts an ask together, and its parameters in their one way of writing. */
function whole(
  table: Table,
  given: Query,
  conditions: readonly Condition[],
  { page, pageSize, snapshot, words, ordering, fields }: ReadParameters,
): RowAsk {
  const rows = new Map(conditions.map((condition) => parameterFor(condition, isParameterName)))
  if (words.length > 0) rows.set('search', words.join(' '))
  const parameters = new Map(rows)
  if (ordering.length > 0) parameters.set('ordering', formatList(ordering.map(orderText)))
  if (fields.length < table.fields.length)
    parameters.set('fields', formatList(fields.map(({ name }) => name)))
  if (pageSize !== pageSizeDefault) parameters.set('page_size', String(pageSize))
  for (const name of ['snapshot', 'format'] as const) {
    const text = given.get(name)
    if (text !== undefined) parameters.set(name, text)
  }
  return {
    page,
    pageSize,
    snapshot,
    format: given.get('format'),
    fields,
    conditions: conditions.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    words,
    ordering,
    key: JSON.stringify([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    parameters,
  }
}

function keyOf({ field, operator }: Condition): string {
  return `${field.name}__${operator}`
}

function orderText({ field, direction }: OrderKey): string {
  return direction === 'desc' ? `-${field}` : field
}

/** @throws Problem invalid-page where the text is no page number */
export function parsePage(text: string | undefined): number | 'last' {
  if (text === undefined) return 1
  if (text === 'last') return 'last'
  const page = /^\s*\+?0*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : 0
  if (page < 1) throw invalidPage()
  return page
}

/** The detail is the ancestor's, which clients compare. */
export function invalidPage(): Problem {
  return new Problem('invalid-page', 'Invalid page.')
}

function parsePageSize(text: string): number | Fault {
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= pageSizeMax) return size
  return new Fault(`The parameter "page_size" must be a whole number from 1 to ${pageSizeMax}.`)
}

function parseSnapshot(text: string): SnapshotId | 'current' | Fault {
  if (text === 'current' || isSnapshotId(text)) return text
  return new Fault(
    'The parameter "snapshot" must be "current" or the id of a snapshot, as in Acervo-Snapshot.',
  )
}

function parseWords(table: Table, text: string): string[] | Fault {
  if (table.search.length === 0) return new Fault(`The table ${tableId(table)} has no fields to search.`)
  const words = [...new Set(text.split(/\s+/))].filter((word) => word !== '').toSorted()
  if (words.length > wordsMax) return new Fault(`The parameter "search" holds more than ${wordsMax} words.`)
  if (words.every((word) => !foldsToNothing(word) && isTextValue(word))) return words
  return new Fault('The parameter "search" must be words with spaces between, each of more than accents.')
}

function parseOrdering(table: Table, parameter: string, text: string): OrderKey[] | Fault {
  const keys: OrderKey[] = []
  const terms = parseList(text)
  if (terms === null) return notAList(parameter)
  for (const term of terms) {
    const isDescending = term.trimStart().startsWith('-')
    const field = term
      .trim()
      .slice(isDescending ? 1 : 0)
      .trim()
    const fault = fieldFault(table, parameter, field, orderable(table), 'ordered by')
    if (fault !== null) return fault
    if (keys.some((key) => key.field === field)) {
      return new Fault(`The parameter "${parameter}" names the field "${field}" twice.`)
    }
    keys.push({ field, direction: isDescending ? 'desc' : 'asc' })
  }
  return keys
}

function parseFields(table: Table, text: string): Field[] | Fault {
  const names = parseList(text)?.map((name) => name.trim())
  if (names === undefined) return notAList('fields')
  const known = table.fields.map(({ name }) => name)
  for (const name of names) {
    const fault = fieldFault(table, 'fields', name, known, 'shown')
    if (fault !== null) return fault
  }
  return inAlphabet(table.fields.filter(({ name }) => names.includes(name)))
}

function notAList(parameter: string): Fault {
  return new Fault(`The parameter "${parameter}" must be names with commas between.`)
}

function fieldFault(
  table: Table,
  parameter: string,
  name: string,
  allowed: readonly string[],
  use: string,
): Fault | null {
  if (allowed.includes(name)) return null
  const list = `those that can be ${use}: ${allowed.join(', ') || 'none'}.`
  const shown = shortened(name)
  if (table.fields.some((field) => field.name === name)) {
    return new Fault(`The parameter "${parameter}" names "${shown}", which cannot be ${use}; ${list}`)
  }
  const hint = didYouMean(name, allowed)
  return new Fault(`The parameter "${parameter}" names "${shown}", which is no field${hint}; ${list}`)
}

/** As the keys of a row (spec: Row). */
function inAlphabet(fields: readonly Field[]): Field[] {
  return fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
