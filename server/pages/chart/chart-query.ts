import { tableId, type Dataset, type Field, type Table } from '../../../core/catalog/catalog.ts'
import { parseAggregateQuery, type AggregateQuery } from '../../query/aggregate-query.ts'
import { parameterFor, unquotedIn } from '../../query/conditions.ts'
import { partsOf, partTerm, type Term } from '../../query/date-parts.ts'
import { formatList } from '../../query/list.ts'
import { parametersOf, type QueryParameters } from '../../query/parameters.ts'
import { isParameterName, parseRowQuery } from '../../query/query.ts'
import { canMix, type Total } from '../../query/totals.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Aggregate } from '../../table/representations/aggregate-page.ts'
import type { AnswerableQuery } from '../table/answer-query.ts'
import { coverageOf, coverageText } from '../coverage.ts'
import { rowParameters, type QueryView } from '../table/view.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { Words } from '../../documents/words/en.ts'
import { dimensionsOf, stepOf, type Dimension } from './dimensions.ts'

export interface ChartQuery extends QueryView {
  readonly aggregation: AggregateQuery
  readonly chartPairs: readonly (readonly [name: string, text: string])[]
  /** Chart to draw if no row passes the default filter; null if the chart opened without that filter. */
  readonly fallback: ChartQuery | null
}

export interface RequestedChart extends AggregateQuery {
  /** Query without the default filter; null if the chart opened without that filter. */
  readonly fallback: AggregateQuery | null
}

export interface ChartView extends ChartQuery {
  /** Total that a sum would count beside its parts; null if there is none. */
  readonly mixedTotal: Total | null
  /** Null if a sum would count rows twice. */
  readonly answer: Aggregate | null
}

const excludedParameters = ['page', 'page_size', 'format'] as const

/** A chart without groups and measure opens as declared, or with the first measure. */
export function parseChart(table: Table, target: string): RequestedChart {
  const query = parseAggregateQuery(table, target, excludedParameters)
  const [first] = table.measures
  const measure = table.chart?.measure ?? (first === undefined ? undefined : `${first}__sum`)
  const pairs = parametersOf(target)
  if (measure === undefined || pairs.some(([name]) => name === 'measure' || name === 'group'))
    return { ...query, fallback: null }
  const conditioned = query.filter.conditions.map(({ field }) => field.name)
  return openChart(table, pairs, conditioned, table.chart?.group ?? [], measure)
}

/**
 * Adds the groups, measure and conditions with which a chart opens. Conditions are the default filter; a measure that
 * can mix them also leaves out rows that are totals of others.
 */
export function openChart(
  table: Table,
  givenParameters: readonly (readonly [name: string, text: string])[],
  filteredFieldNames: readonly string[],
  groupNames: readonly string[],
  measure: string,
): RequestedChart {
  const parse = (defaults: ReadonlyMap<string, string>): AggregateQuery => {
    const functionName = measure.slice(measure.lastIndexOf('__') + 2)
    const totals = canMix(functionName) ? table.totals : new Map<string, string>()
    const conditions = table.fields.flatMap((field) => {
      const [value, total] = [defaults.get(field.name), totals.get(field.name)]
      if (filteredFieldNames.includes(field.name)) return []
      if (value !== undefined) return [conditionOn(field, 'eq', value)]
      return total === undefined ? [] : [conditionOn(field, 'ne', total)]
    })
    const openingParameters = new URLSearchParams([
      ...[...givenParameters, ...conditions].map(([name, text]) => [name, text]),
      ...(groupNames.length === 0 ? [] : [['group', formatList(groupNames)]]),
      ['measure', formatList([measure])],
    ])
    return parseAggregateQuery(table, `?${openingParameters.toString()}`, excludedParameters)
  }
  const { defaultFilter } = table
  return { ...parse(defaultFilter), fallback: defaultFilter.size === 0 ? null : parse(new Map()) }
}

function conditionOn(field: Field, operator: 'eq' | 'ne', value: string): [name: string, text: string] {
  return parameterFor({ field, operator, values: [value] }, isParameterName)
}

/** Groups by the first dimension by default; separates row parameters from others. */
export function chartQuery({
  query: requestedChart,
  ...answerable
}: AnswerableQuery<RequestedChart>): ChartQuery {
  const { table, snapshot } = answerable
  const [firstDimension] = dimensionsOf(table, snapshot.report)
  const defaultTerm =
    requestedChart.terms.length === 0 && firstDimension !== undefined
      ? stepTerm(table, firstDimension, stepOf(firstDimension.field, snapshot.report))
      : null
  const defaultGroup =
    defaultTerm === null
      ? {}
      : {
          terms: [defaultTerm],
          parameters: new Map([...requestedChart.parameters, ['group', formatList([defaultTerm.name])]]),
        }
  const aggregation = { ...requestedChart, ...defaultGroup }
  const { parameters } = aggregation
  const isRowParameter = (name: string): boolean => name === 'snapshot' || aggregation.rowParameters.has(name)
  const rowPairs = [...parameters].filter(([name]) => isRowParameter(name))
  const rowQuery = parseRowQuery(table, `?${new URLSearchParams(rowPairs).toString()}`)
  const { fallback } = requestedChart
  return {
    ...answerable,
    query: rowQuery,
    aggregation,
    chartPairs: [...parameters].filter(([name]) => !isRowParameter(name)),
    fallback: fallback && chartQuery({ ...answerable, query: { ...fallback, fallback: null } }),
  }
}

function stepTerm(table: Table, { field, shape }: Dimension, step: 'day' | 'month' | 'year'): Term {
  if (shape !== 'line' || (step === 'day' && field.type !== 'datetime')) return field
  return (partsOf(table, field).includes(step) ? partTerm(field, step) : undefined) ?? field
}

export function chartKey(kind: string, { table, snapshot, aggregation }: ChartQuery): unknown[] {
  const { filter, parameters } = aggregation
  return [kind, tableId(table), snapshot.manifest.snapshot, [...parameters], unquotedIn(filter)]
}

/** Parameters with all groups, of which a chart shows some. */
export function chartParameters({ query, chartPairs }: ChartQuery): QueryParameters {
  return new Map([...rowParameters({ query }), ...chartPairs])
}

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
