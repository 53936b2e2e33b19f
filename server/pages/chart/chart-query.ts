import { tableId, type Dataset, type Table } from '../../../core/catalog/catalog.ts'
import { parseAggregateQuery, type AggregateQuery } from '../../query/aggregate-query.ts'
import { parameterFor, unquotedIn } from '../../query/conditions.ts'
import { partsOf, partTerm, type Term } from '../../query/date-parts.ts'
import { formatList } from '../../query/list.ts'
import { parametersOf, type QueryParameters } from '../../query/parameters.ts'
import { isParameterName, parseRowQuery } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Aggregate } from '../../table/representations/aggregate-page.ts'
import type { AnswerableQuery } from '../table/answer-query.ts'
import { coverageOf, coverageText } from '../coverage.ts'
import { rowParameters, type QueryView } from '../table/view.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { Words } from '../../documents/words/en.ts'
import { dimensionsOf, stepOf, type Dimension } from './dimensions.ts'

/** An aggregate to draw, with the conditions of its rows as a query of its own. */
export interface ChartQuery extends QueryView {
  readonly aggregation: AggregateQuery
  /** Parameters of the aggregate that select no rows. */
  readonly chosen: readonly (readonly [name: string, text: string])[]
}

/** A chart and its numbers. */
export interface ChartView extends ChartQuery {
  /** Null if a sum would count rows twice. */
  readonly answer: Aggregate | null
}

const without = ['page', 'page_size', 'format'] as const

/**
 * Parses the query of a chart. Without groups and measure, it opens with the declared chart, or with the first declared
 * measure, of the rows of the default filter without totals.
 */
export function parseChart(table: Table, target: string): AggregateQuery {
  const query = parseAggregateQuery(table, target, without)
  const [first] = table.measures
  const measure = table.chart?.measure ?? (first === undefined ? undefined : `${first}__sum`)
  const pairs = parametersOf(target)
  if (measure === undefined || pairs.some(([name]) => name === 'measure' || name === 'group')) return query
  const group = table.chart === null ? [] : [['group', formatList(table.chart.group)] as const]
  const opened = new URLSearchParams([
    ...pairs,
    ...openedParameters(
      table,
      measure,
      query.filter.conditions.map(({ field }) => field.name),
    ),
    ...group.map(([name, text]) => [name, text]),
    ['measure', formatList([measure])],
  ])
  return parseAggregateQuery(table, `?${opened.toString()}`, without)
}

/**
 * Returns the conditions with which a chart of a table opens: its default filter and, for a sum, conditions that leave
 * out rows of totals.
 * @param chosen names of fields that have conditions
 */
export function openedParameters(
  { fields, defaultFilter, totals }: Table,
  measure: string,
  chosen: readonly string[],
): [name: string, text: string][] {
  const added = (values: ReadonlyMap<string, string>, operator: 'eq' | 'ne'): [string, string][] =>
    fields.flatMap((field) => {
      const value = values.get(field.name)
      return value === undefined || chosen.includes(field.name)
        ? []
        : [parameterFor({ field, operator, values: [value] }, isParameterName)]
    })
  const others = new Map([...totals].filter(([name]) => !defaultFilter.has(name)))
  return [...added(defaultFilter, 'eq'), ...(measure.endsWith('__sum') ? added(others, 'ne') : [])]
}

/** Adds default groups to a query that names none. */
export function chartQuery({ query, ...found }: AnswerableQuery<AggregateQuery>): ChartQuery {
  const { table, snapshot } = found
  const [first] = dimensionsOf(table, snapshot.report)
  const isOpen = query.terms.length === 0 && first !== undefined
  const term = first && stepTerm(table, first, stepOf(first.field, snapshot.report))
  // Not parsed again, since a list without quotes keeps its spelling.
  const opened =
    isOpen && term !== undefined
      ? { terms: [term], parameters: new Map([...query.parameters, ['group', formatList([term.name])]]) }
      : {}
  const aggregation = { ...query, ...opened }
  const { parameters } = aggregation
  const isOfRows = (name: string): boolean => name === 'snapshot' || aggregation.rowParameters.has(name)
  const ofRows = [...parameters].filter(([name]) => isOfRows(name))
  const rows = parseRowQuery(table, `?${new URLSearchParams(ofRows).toString()}`)
  return { ...found, query: rows, aggregation, chosen: [...parameters].filter(([name]) => !isOfRows(name)) }
}

function stepTerm(table: Table, { field, shape }: Dimension, step: 'day' | 'month' | 'year'): Term {
  if (shape !== 'line' || (step === 'day' && field.type !== 'datetime')) return field
  return (partsOf(table, field).includes(step) ? partTerm(field, step) : undefined) ?? field
}

export function chartKey(kind: string, { table, snapshot, aggregation }: ChartQuery): unknown[] {
  const { filter, parameters } = aggregation
  return [kind, tableId(table), snapshot.manifest.snapshot, [...parameters], unquotedIn(filter)]
}

/** Returns the parameters of the whole aggregate. */
export function chartParameters({ query, chosen }: ChartQuery): QueryParameters {
  return new Map([...rowParameters({ query }), ...chosen])
}

/** Names the source, the period, the day of the import and the licence of the data. */
export function sourceFacts(
  words: Words,
  { source, author, publisher, license }: Dataset,
  { table, manifest, report }: Snapshot,
): string {
  const { day } = writtenIn(words)
  const period = coverageOf(table, report)
  const covered = period === null ? undefined : words.dataFrom(coverageText(words, period))
  return [
    (source ?? author ?? publisher)?.name,
    covered,
    words.importedAt(day(manifest.import_date)),
    license?.name,
  ]
    .filter((text) => text !== undefined && text !== '')
    .join(' · ')
}
