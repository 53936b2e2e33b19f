import type { OrderKey, Table } from '../../core/catalog/catalog.ts'
import { didYouMean, shorten } from '../../core/text.ts'
import {
  isAllowed,
  haveSameParameter,
  parameterFor,
  parseValues,
  targetOf,
  type Condition,
} from './conditions.ts'
import { dateParts, partsOf, partTerm, type Term } from './date-parts.ts'
import { Invalid, InvalidQuery } from './errors.ts'
import { formatList, parseList } from './list.ts'
import { measureOf, noMeasure, rowsMeasure, type Measure } from './measures.ts'
import {
  formatOrdering,
  pageSizeDefault,
  parametersOf,
  parsePageSize,
  parseSnapshot,
  type QueryParameters,
  readOrderKeys,
} from './parameters.ts'
import {
  filterOf,
  isParameterName,
  parameterRows,
  parsePage,
  readGiven,
  readerOf,
  requireShort,
  withLists,
  type ParameterName,
  type RowFilter,
  type RowQuery,
} from './query.ts'
import { operatorsOf, type Operator } from './operators.ts'
import { parseWords } from './search-terms.ts'

export interface Aggregation {
  readonly filter: RowFilter
  readonly terms: readonly Term[]
  readonly measures: readonly Measure[]
  /** Conditions on measures; their fields are columns of the measures. */
  readonly conditions: readonly Condition[]
  /** Keys are names of terms and measures; terms break ties. */
  readonly ordering: readonly OrderKey[]
}

export type AggregateQuery = Aggregation &
  Pick<RowQuery, 'page' | 'pageSize' | 'snapshot' | 'format' | 'parameters'> & {
    /** Canonical parameters that select the rows to group. */
    readonly rowParameters: QueryParameters
  }

/** Operators on measures; `eq` on a month becomes a range. */
const groupOperators: ReadonlySet<Operator> = new Set(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'range'])

/** Each term and measure adds to the cost. */
export const termsMax = 4
export const measuresMax = 20

export const aggregateParameterRows = {
  group: `up to ${termsMax} fields, or parts of dates, separated by commas; without any, all rows form one group`,
  measure: `up to ${measuresMax} measures, separated by commas; \`rows\` by default`,
  page: parameterRows.page,
  page_size: parameterRows.page_size.replace('rows', 'groups'),
  snapshot: parameterRows.snapshot,
  format: parameterRows.format,
  search: parameterRows.search,
  ordering:
    'terms and measures to order by, separated by commas; `-` before one for descending. Nulls come last',
  'order-by': parameterRows['order-by'],
} as const satisfies Record<string, string>

const names: readonly string[] = Object.keys(aggregateParameterRows)
const listNames: ReadonlySet<string> = new Set(['group', 'measure', 'ordering', 'order-by'])

function isReserved(name: string): boolean {
  return isParameterName(name) || names.includes(name)
}

/**
 * @param target path and query as received
 * @param excludedNames parameters that do not exist at this address
 * @throws InvalidQuery naming each invalid parameter, InvalidPage, QueryTooLong or MalformedQuery
 */
export function parseAggregateQuery(
  table: Table,
  target: string,
  excludedNames: readonly ParameterName[] = [],
): AggregateQuery {
  const offeredNames = names.filter((name) => !excludedNames.some((excluded) => excluded === name))
  const measureParameters: { name: string; text: string; measureTarget: GroupTarget }[] = []
  const otherPairs: [string, string][] = []
  for (const [name, text] of withLists(table, parametersOf(target), listNames)) {
    const measureTarget = isRowParameter(table, name) ? null : groupTarget(table, name)
    if (measureTarget === null) otherPairs.push([name, text])
    else if (text !== '') measureParameters.push({ name, text, measureTarget })
  }
  const { given, conditions: rowConditions, errors } = readGiven(table, otherPairs, offeredNames)
  const readParameter = readerOf(given, errors)
  const terms = readParameter<Term[]>('group', [], (text) => parseTerms(table, text))
  const measures = readParameter<Measure[]>('measure', [rowsMeasure(table)], (text) =>
    parseMeasures(table, text),
  )
  const orderableNames = [...terms, ...measures].map(({ name }) => name)
  if (given.has('ordering') && given.has('order-by')) {
    const message = 'The parameters "ordering" and "order-by" mean the same: use one of them.'
    errors.push({ parameter: 'order-by', message })
  }
  const readOrdering = (parameter: string, fallback: OrderKey[]): OrderKey[] =>
    readParameter(parameter, fallback, (text) =>
      errors.length > 0 ? [] : parseGroupOrder(parameter, text, orderableNames),
    )
  const ordering = readOrdering('ordering', readOrdering('order-by', []))
  const conditions: Condition[] = []
  for (const { name, text, measureTarget } of measureParameters) {
    const condition = errors.length > 0 ? null : parseGroupCondition(measureTarget, text, measures)
    if (condition instanceof Invalid) errors.push({ parameter: name, message: condition.message })
    else if (
      condition !== null &&
      conditions.some((earlierCondition) => haveSameParameter(earlierCondition, condition))
    )
      errors.push({ parameter: name, message: `The parameter "${name}" repeats a condition: remove it.` })
    else if (condition !== null) conditions.push(condition)
  }
  const words = readParameter('search', [], (text) => parseWords(table, text))
  const pageSize = readParameter('page_size', pageSizeDefault, parsePageSize)
  const snapshot = readParameter('snapshot', null, parseSnapshot)
  if (errors.length > 0) throw new InvalidQuery(errors)
  const { parameters: rowParameters, ...filter } = filterOf(rowConditions, words, isReserved)
  const parameters = new Map(rowParameters)
  for (const condition of conditions) parameters.set(...groupParameter(condition))
  if (terms.length > 0) parameters.set('group', formatList(terms.map(({ name }) => name)))
  if (measures.length > 1 || measures[0]?.aggregate !== 'rows')
    parameters.set('measure', formatList(measures.map(({ name }) => name)))
  if (ordering.length > 0) parameters.set('ordering', formatOrdering(ordering))
  if (pageSize !== pageSizeDefault) parameters.set('page_size', String(pageSize))
  for (const name of ['snapshot', 'format']) {
    const text = given.get(name)
    if (text !== undefined) parameters.set(name, text)
  }
  const page = parsePage(given.get('page'))
  const query = { filter, terms, measures, conditions, ordering, page, pageSize, snapshot, parameters }
  requireShort(query)
  return { ...query, rowParameters, format: given.get('format') }
}

function isRowParameter(table: Table, name: string): boolean {
  const aim = targetOf(table, name)
  return names.includes(name) || (aim !== null && isAllowed(aim))
}

interface GroupTarget {
  readonly measure: Measure
  /** Operator as written; null if the parameter is the measure alone. */
  readonly operator: string | null
}

function groupTarget(table: Table, name: string): GroupTarget | null {
  const exact = measureOf(table, name)
  if (exact !== null) return { measure: exact, operator: null }
  const end = name.lastIndexOf('__')
  const measure = end === -1 ? null : measureOf(table, name.slice(0, end))
  return measure === null ? null : { measure, operator: name.slice(end + 2) }
}

function parseGroupCondition(
  { measure: { name }, operator: writtenOperator }: GroupTarget,
  text: string,
  measures: readonly Measure[],
): Condition | Invalid {
  const measure = measures.find((item) => item.name === name)
  if (measure === undefined)
    return new Invalid(`The condition on "${name}" needs the measure: add it to the parameter "measure".`)
  const allowed = operatorsOf(measure.column).filter((candidate) => groupOperators.has(candidate))
  const operator = allowed.find((candidate) => candidate === (writtenOperator ?? 'eq'))
  if (operator === undefined) {
    const hint = didYouMean(writtenOperator ?? '', allowed)
    return new Invalid(
      `The measure "${name}" has no operator "${shorten(writtenOperator ?? '')}"${hint}; its operators: ${allowed.join(', ')}.`,
    )
  }
  const { column } = measure
  // As in row queries, `None` means null.
  if (writtenOperator === null && text === 'None')
    return { field: column, operator: 'isnull', values: ['true'] }
  return parseValues(column, operator, text)
}

function groupParameter(condition: Condition): [name: string, text: string] {
  const { field, operator } = condition
  return operator === 'isnull' ? [field.name, 'None'] : parameterFor(condition, () => false)
}

function parseTerms(table: Table, text: string): Term[] | Invalid {
  return parseNames('group', text, termsMax, (name) => termOf(table, name))
}

function parseMeasures(table: Table, text: string): Measure[] | Invalid {
  return parseNames('measure', text, measuresMax, (name) => measureOf(table, name) ?? noMeasure(table, name))
}

function parseNames<T extends { readonly name: string }>(
  parameter: string,
  text: string,
  max: number,
  parse: (name: string) => T | Invalid,
): T[] | Invalid {
  const listedNames = parseList(text)
  if (listedNames === null)
    return new Invalid(`The parameter "${parameter}" must be names separated by commas.`)
  if (listedNames.length > max) return new Invalid(`The parameter "${parameter}" names more than ${max}.`)
  const parsedItems: T[] = []
  for (const name of listedNames) {
    const parsedItem = parse(name)
    if (parsedItem instanceof Invalid) return parsedItem
    if (parsedItems.some((item) => item.name === name))
      return new Invalid(`The parameter "${parameter}" names "${name}" twice.`)
    parsedItems.push(parsedItem)
  }
  return parsedItems
}

const ungroupableTypes: ReadonlySet<string> = new Set(['json', 'list', 'point'])

/** Fields whose values form groups, and parts of their dates. */
export function termsOf(table: Table): Term[] {
  return table.fields
    .filter(({ type }) => !ungroupableTypes.has(type))
    .flatMap((field): Term[] => [
      field,
      ...partsOf(table, field).flatMap((part) => partTerm(field, part) ?? []),
    ])
}

function termOf(table: Table, name: string): Term | Invalid {
  const { fields } = table
  const end = name.lastIndexOf('__')
  const exactField = fields.find((field) => field.name === name)
  const baseField = exactField ?? fields.find((field) => end !== -1 && field.name === name.slice(0, end))
  if (baseField !== undefined && ungroupableTypes.has(baseField.type))
    return new Invalid(
      `The parameter "group" names "${baseField.name}", whose type ${baseField.type} forms no groups.`,
    )
  if (exactField !== undefined) return exactField
  const part = baseField === undefined ? undefined : partTerm(baseField, name.slice(end + 2))
  if (part !== undefined) return part
  if (baseField !== undefined) {
    const parts = partsOf(table, baseField)
    const alternatives = parts.map((partName) => `${baseField.name}__${partName}`)
    const problem =
      parts.length === 0
        ? `"${baseField.name}" has no parts, since it has no dates`
        : `its parts are ${alternatives.join(', ')}`
    return new Invalid(
      `The parameter "group" names "${shorten(name)}", which is not a field${didYouMean(name, alternatives)}; ${problem}.`,
      'unknown-name',
    )
  }
  const groupableNames = fields.filter(({ type }) => !ungroupableTypes.has(type)).map((field) => field.name)
  return new Invalid(
    `The parameter "group" names "${shorten(name)}", which is not a field${didYouMean(name, groupableNames)}; fields: ${groupableNames.join(', ')}; dates have parts: ${dateParts.join(', ')}.`,
    'unknown-name',
  )
}

function parseGroupOrder(
  parameter: string,
  text: string,
  knownNames: readonly string[],
): OrderKey[] | Invalid {
  return readOrderKeys(parameter, text, (name) =>
    knownNames.includes(name)
      ? null
      : new Invalid(
          `The parameter "${parameter}" names "${shorten(name)}", which is not in the answer${didYouMean(name, knownNames)}; it has ${knownNames.join(', ')}.`,
          'unknown-name',
        ),
  )
}
