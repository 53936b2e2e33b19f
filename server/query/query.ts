import { inAlphabet } from '../../core/warehouse/format/row-json.ts'
import type { Field, OrderKey, Table } from '../../core/catalog/catalog.ts'
import { nearestName, shorten } from '../../core/text.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import {
  parametersOf,
  repeatedParameter,
  type QueryParameters,
  areDefaultColumns,
  formatFields,
  formatOrdering,
  pageSizeDefault,
  pageSizeMax,
  parseFields,
  parseOrdering,
  parsePageSize,
  parseSnapshot,
} from './parameters.ts'
import { formatWords, parseWords } from './search-terms.ts'
import {
  haveSameParameter,
  isAllowed,
  parameterFor,
  parseCondition,
  targetOf,
  type Condition,
  type Target,
} from './conditions.ts'
import { InvalidPage, InvalidQuery, QueryTooLong, type ParameterError, Invalid } from './errors.ts'
import { quotedList } from './list.ts'
import { isOperator, operatorRow } from './operators.ts'

export interface RowQuery extends RowFilter {
  /** Number from 1, or the last page. */
  readonly page: number | 'last'
  readonly pageSize: number
  /** `current` and null mean the current snapshot; with `current`, links to other pages name it. */
  readonly snapshot: SnapshotId | 'current' | null
  readonly format: string | undefined
  readonly fields: readonly Field[]
  readonly columns: readonly Field[]
  /** Canonical, for links: in a fixed order, without defaults and page. */
  readonly parameters: QueryParameters
}

export interface RowFilter {
  /** A matching row satisfies all conditions; sorted by parameter. */
  readonly conditions: readonly Condition[]
  /** Each occurs in some search field of a matching row. */
  readonly words: readonly string[]
  /** Nulls come last, and positions break ties; empty means the declared order. */
  readonly ordering: readonly OrderKey[]
  /** Canonical: equal filters have equal keys. */
  readonly key: string
}

/** Each condition adds to the cost. */
export const conditionsMax = 30

export const parameterRows = {
  page: 'from 1, or `last`',
  page_size: `rows per page, 1 to ${pageSizeMax}; default ${pageSizeDefault}`,
  snapshot: '`current`, or the id of a snapshot to read',
  format: 'the format of the response',
  fields: 'only these fields, separated by commas; CSV columns have this order',
  search:
    'words, and phrases in quotes; each of them must be in some search field, ignoring case and accents; `*` at its end means the start of a word',
  ordering: 'fields to order by, separated by commas; `-` before a field for descending. Nulls come last',
  'order-by': 'the same as `ordering`, under the name that Brasil.IO uses',
} as const satisfies Record<string, string>

export type ParameterName = keyof typeof parameterRows
const parameterNames: readonly string[] = Object.keys(parameterRows)

export function isParameterName(name: string): name is ParameterName {
  return Object.hasOwn(parameterRows, name)
}

/**
 * @param target path and query as received
 * @param excludedNames parameters that do not exist at this address
 * @param defaultPageSize default of `page_size`
 * @throws InvalidQuery naming each invalid parameter, InvalidPage, QueryTooLong or MalformedQuery
 */
export function parseRowQuery(
  table: Table,
  target: string,
  excludedNames: readonly ParameterName[] = [],
  defaultPageSize = pageSizeDefault,
): RowQuery {
  const offeredNames = parameterNames.filter((name) => !excludedNames.some((excluded) => excluded === name))
  const { given, conditions, errors } = readGiven(table, withLists(table, parametersOf(target)), offeredNames)
  const read = readParameters(table, given, defaultPageSize, errors)
  if (errors.length > 0) throw new InvalidQuery(errors)
  const query = buildRowQuery(table, given, conditions, read, defaultPageSize)
  requireShort(query)
  return query
}

interface Given {
  readonly given: Map<string, string>
  readonly conditions: Condition[]
  readonly errors: ParameterError[]
}

/**
 * Separates conditions from other parameters.
 * @param offeredNames names of the parameters that are not conditions
 */
export function readGiven(
  table: Table,
  pairs: readonly (readonly [name: string, text: string])[],
  offeredNames: readonly string[],
): Given {
  const given = new Map<string, string>()
  const conditions: Condition[] = []
  const errors: ParameterError[] = []
  const seenNames = new Set<string>()
  for (const [name, text] of pairs) {
    const target = offeredNames.includes(name) ? null : targetOf(table, name)
    // Web forms of Brasil.IO's clients send every field, most of them empty; those are ignored.
    if (text === '' && (offeredNames.includes(name) || (target !== null && isAllowed(target)))) continue
    const condition = parseParameter(table, name, text, target, offeredNames)
    if (seenNames.has(name)) errors.push({ parameter: name, message: repeatedParameter(shorten(name)) })
    else if (condition instanceof Invalid)
      errors.push({ parameter: name, message: condition.message, reason: condition.reason })
    else if (condition === null) given.set(name, text)
    else if (conditions.some((earlierCondition) => haveSameParameter(condition, earlierCondition))) {
      errors.push({
        parameter: name,
        message: `The parameter "${shorten(name)}" repeats a condition: remove it.`,
      })
    } else conditions.push(condition)
    seenNames.add(name)
  }
  if (conditions.length > conditionsMax) {
    const message = `There are more than ${conditionsMax} conditions.`
    errors.push(
      ...conditions.slice(conditionsMax).map((condition) => ({ parameter: condition.field.name, message })),
    )
  }
  return { given, conditions, errors }
}

const listNames: ReadonlySet<string> = new Set(['fields', 'ordering', 'order-by'])

/**
 * Joins list parameters that generated clients repeat, or write with `[]`. Each value is then one item, even
 * with commas.
 */
export function withLists(
  table: Table,
  pairs: readonly [string, string][],
  names: ReadonlySet<string> = listNames,
): [name: string, text: string][] {
  const valuesByName = new Map<string, string[]>()
  const otherPairs: [string, string][] = []
  const bracketedNames = new Set<string>()
  for (const [writtenName, text] of pairs) {
    const name = writtenName.endsWith('[]') ? writtenName.slice(0, -2) : writtenName
    const earlierValues = valuesByName.get(name)
    if (!names.has(name) && !isListOperand(table, name)) otherPairs.push([writtenName, text])
    else if (earlierValues === undefined) valuesByName.set(name, [text])
    else earlierValues.push(text)
    if (name !== writtenName) bracketedNames.add(name)
  }
  const lists = [...valuesByName].map(([name, values]): [string, string] => {
    const [firstValue = ''] = values
    return [name, values.length > 1 || bracketedNames.has(name) ? quotedList(values) : firstValue]
  })
  return [...otherPairs, ...lists]
}

function isListOperand(table: Table, name: string): boolean {
  const operator = targetOf(table, name)?.operator
  return (
    typeof operator === 'string' &&
    isOperator(operator) &&
    ['list', 'pair'].includes(operatorRow(operator).operandKind)
  )
}

/** Addresses may have 8,000 characters, and links add a path and a page. */
const parametersLengthMax = 7500

/** @throws QueryTooLong if the encoded address of another page would be too long */
export function requireShort({ parameters }: Pick<RowQuery, 'parameters'>): void {
  if (new URLSearchParams([...parameters]).toString().length <= parametersLengthMax) return
  throw new QueryTooLong(
    `The parameters are longer than ${parametersLengthMax} characters when they are percent-encoded.`,
  )
}

function parseParameter(
  table: Table,
  name: string,
  text: string,
  target: Target | null,
  offeredNames: readonly string[],
): Condition | Invalid | null {
  if (offeredNames.includes(name)) return null
  if (target !== null) return parseCondition(table, target, text)
  const suggestion = signedCondition(table, name, text)
  if (suggestion !== null) return new Invalid(`Write a condition with its operator: ${shorten(suggestion)}`)
  const end = name.lastIndexOf('__')
  const [field, suffix] = end < 1 ? [name, ''] : [name.slice(0, end), name.slice(end)]
  const nearest = nearestName(field, [...offeredNames, ...table.fields.map((item) => item.name)])
  const hint = nearest === null ? '' : ` (did you mean "${nearest}${suffix}"?)`
  const knownNames = [...offeredNames, ...table.filters].join(', ')
  return new Invalid(
    `There is no parameter "${shorten(name)}" here${hint}; known: ${knownNames}.`,
    'unknown-parameter',
  )
}

const signs = { '<': 'lt', '>': 'gt', '<=': 'lte', '>=': 'gte', '!=': 'ne' } as const

function signedCondition({ filters }: Table, name: string, text: string): string | null {
  const [, field = '', sign = '', value = ''] =
    /^([^<>!]+)([<>]=?|!=)(.+)$/s.exec(`${name}${text === '' ? '' : '='}${text}`) ?? []
  return filters.includes(field) && sign in signs
    ? `${field}__${signs[sign as keyof typeof signs]}=${value}`
    : null
}

interface ReadParameters {
  readonly page: RowQuery['page']
  readonly pageSize: number
  readonly snapshot: RowQuery['snapshot']
  readonly words: readonly string[]
  readonly ordering: readonly OrderKey[]
  readonly columns: readonly Field[]
}

/** The reader adds invalid parameters to `errors`. */
export function readerOf(parameters: QueryParameters, errors: ParameterError[]) {
  return <T>(parameter: string, missing: T, parse: (text: string) => T | Invalid): T => {
    const text = parameters.get(parameter)
    const value = text === undefined ? missing : parse(text)
    if (!(value instanceof Invalid)) return value
    errors.push({ parameter, message: value.message, reason: value.reason })
    return missing
  }
}

function readParameters(
  table: Table,
  parameters: QueryParameters,
  defaultPageSize: number,
  errors: ParameterError[],
): ReadParameters {
  const readParameter = readerOf(parameters, errors)
  if (parameters.has('ordering') && parameters.has('order-by')) {
    const message = 'The parameters "ordering" and "order-by" mean the same: use one of them.'
    errors.push({ parameter: 'order-by', message })
  }
  const legacyOrdering = readParameter<OrderKey[]>('order-by', [], (text) =>
    parseOrdering(table, 'order-by', text),
  )
  return {
    pageSize: readParameter('page_size', defaultPageSize, parsePageSize),
    snapshot: readParameter('snapshot', null, parseSnapshot),
    words: readParameter('search', [], (text) => parseWords(table, text)),
    ordering: readParameter('ordering', legacyOrdering, (text) => parseOrdering(table, 'ordering', text)),
    columns: readParameter('fields', table.fields, (text) => parseFields(table, text)),
    // An invalid page throws its own problem, so errors of other parameters come first.
    page: errors.length > 0 ? 1 : parsePage(parameters.get('page')),
  }
}

function buildRowQuery(
  table: Table,
  givenParameters: QueryParameters,
  conditions: readonly Condition[],
  { page, pageSize, snapshot, words, ordering, columns }: ReadParameters,
  defaultPageSize: number,
): RowQuery {
  const { parameters: filterParameters, ...filter } = filterOf(conditions, words, isParameterName)
  const parameters = new Map(filterParameters)
  if (ordering.length > 0) parameters.set('ordering', formatOrdering(ordering))
  if (!areDefaultColumns(table, columns)) parameters.set('fields', formatFields(columns))
  if (pageSize !== defaultPageSize) parameters.set('page_size', String(pageSize))
  for (const name of ['snapshot', 'format'] as const) {
    const text = givenParameters.get(name)
    if (text !== undefined) parameters.set(name, text)
  }
  return {
    page,
    pageSize,
    snapshot,
    format: givenParameters.get('format'),
    fields: inAlphabet(columns),
    columns,
    ...filter,
    ordering,
    parameters,
  }
}

/**
 * A filter without order, and its canonical parameters.
 * @param isReserved returns whether a parameter with the name of a field would mean something else
 */
export function filterOf(
  conditions: readonly Condition[],
  words: readonly string[],
  isReserved: (name: string) => boolean,
): RowFilter & { readonly parameters: QueryParameters } {
  const parameters = new Map(conditions.map((condition) => parameterFor(condition, isReserved)))
  if (words.length > 0) parameters.set('search', formatWords(words))
  return {
    conditions: conditions.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    words,
    ordering: [],
    key: JSON.stringify([...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    parameters,
  }
}

function keyOf({ field, operator }: Condition): string {
  return `${field.name}__${operator}`
}

/** @throws InvalidPage if the text is no page number */
export function parsePage(text: string | undefined): number | 'last' {
  if (text === undefined) return 1
  if (text === 'last') return 'last'
  const page = /^\s*\+?0*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : 0
  if (page < 1) throw new InvalidPage()
  return page
}
