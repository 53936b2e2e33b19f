import { withoutFinalZeros } from '../../../core/text.ts'
import { isNumber, isTime, valueText } from '../../documents/words/value-text.ts'
import { termTitle, measureTitle, withinSentence } from '../../documents/words/titles.ts'
import type { PageContext } from '../frame.ts'
import { parameterFor } from '../../query/conditions.ts'
import { baseOf, daysOfPart, type Term } from '../../query/date-parts.ts'
import type { Measure } from '../../query/measures.ts'
import { readValue } from '../../query/operators.ts'
import { isParameterName } from '../../query/query.ts'
import { rowParameters } from '../table/view.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { Words } from '../../documents/words/en.ts'
import type { Aggregate } from '../../table/representations/aggregate-page.ts'
import type { ChartQuery, ChartView } from './chart-query.ts'
import { seriesMax, type Drawing, type Mark } from './svg/parts.ts'
import { tilePlaces } from './svg/state-maps.ts'
import { timeOfText } from '../coverage.ts'

const barsMax = 40

export function labelOf(
  words: Words,
  { table, aggregation: { terms, measures } }: Pick<ChartQuery, 'table' | 'aggregation'>,
): string {
  const { list } = writtenIn(words)
  const title = list(measures.map((measure) => measureTitle(words, measure, table)))
  const names = terms.map((term) => withinSentence(termTitle(words, term, table)))
  return terms.length === 0 ? title : words.drawn(title, list(names))
}

/** Decimal places of averages and medians on pages, unless the value is below 1. */
const roundedScale = 2
/** Larger numbers lose cents as doubles. */
const exactMax = 1e13

/** Text for pages; the API has all digits. */
function rounded({ field }: Measure, value: string): string {
  const size = Math.abs(Number(value))
  if (size >= exactMax || size < 1) return withoutFinalZeros(value)
  const text = Number(value).toFixed(roundedScale)
  // Amounts of money keep their cents.
  return field?.type === 'decimal' ? text : withoutFinalZeros(text)
}

export function shownValue(words: Words, measure: Measure, value: string | null): string {
  if (value === null) return words.null
  if (!isNumber(measure.column)) return value === '' ? words.emptyText : value
  const { aggregate, column } = measure
  const isMean = aggregate === 'avg' || aggregate === 'median'
  // A number with an exponent has no final zeros.
  if (value.includes('e') || (!isMean && column.type !== 'float')) return writtenIn(words).grouped(value)
  return writtenIn(words).grouped(isMean ? rounded(measure, value) : withoutFinalZeros(value))
}

/** Null if the catalog allows no filter by this group. */
export function groupLink(
  { addresses, language }: PageContext,
  view: ChartView,
  group: number,
): string | null {
  const { table, aggregation, answer } = view
  const parameters = new Map(rowParameters(view))
  for (const [index, term] of aggregation.terms.entries()) {
    const key = answer?.groups.columns[index]?.[group] ?? null
    if (!table.filters.includes(baseOf(term).name) || (key !== null && readValue(term, key) === null))
      return null
    const [operator, values] = key === null ? (['isnull', ['true']] as const) : (['eq', [key]] as const)
    parameters.set(...parameterFor({ field: term, operator, values }, isParameterName))
  }
  return addresses.table(language, table, parameters)
}

/** Values compared as lines instead of stacked. */
export const comparedMax = 5

const pointsMax = 2000
const linePointsMin = 3
/** Share of groups that a chart over time may leave out. */
const strayShareMax = 0.1

/**
 * Chooses how to draw a chart; the drawing is empty if values cannot be drawn.
 * @param linkTo address of a group's rows; null to draw no links
 */
export function drawingOf(
  { words }: PageContext,
  view: ChartView,
  linkTo: ((group: number) => string | null) | null,
): Drawing {
  const { aggregation, answer } = view
  const [first, second, ...furtherTerms] = aggregation.terms
  const [measure] = aggregation.measures
  const label = labelOf(words, view)
  const { compact, count, list } = writtenIn(words)
  const nothing = {
    shape: 'bars',
    label,
    series: [''],
    groups: [],
    short: compact,
    isPartial: false,
    note: answer === null || answer.selected.length > 0 ? words.onlyNumbers : words.nothing,
  } as const
  if (first === undefined || measure === undefined || answer === null) return nothing
  const isAdded = ['rows', 'count', 'sum'].includes(measure.aggregate)
  const isOverTime =
    (isTime(baseOf(first)) || first.name === view.table.time) && first.part?.name !== 'weekday'
  // Totals and their parts must not be stacked.
  const hasTotals = second !== undefined && view.table.totals.has(baseOf(second).name)
  const canSplit = second === undefined || (isAdded && !hasTotals) || isOverTime
  if (furtherTerms.length > 0 || !isNumber(measure.column) || !canSplit) return nothing
  const cells = cellsOf(answer, aggregation.terms.length)
  const isCompared = view.query.conditions.some(
    ({ field, operator, values }) =>
      operator === 'in' && field.name === second?.name && values.length <= comparedMax,
  )
  const hasStates = isOverTime && second?.kind === 'uf' && !isCompared
  const { splits, omitted } = seriesOf(
    cells,
    isAdded,
    hasStates ? Object.keys(tilePlaces).length : seriesMax,
    second !== undefined && isTime(baseOf(second)),
  )
  const isOfStates = hasStates && splits.length > seriesMax
  const place = new Map(
    splits.flatMap((values, index) => [...values].map((value) => [value, index] as const)),
  )
  const sums = new Map<string | null, (Sum | null)[]>()
  for (const { key, split, value, group } of cells) {
    const index = place.get(split)
    const marks = sums.get(key) ?? splits.map(() => null)
    sums.set(key, marks)
    if (index === undefined) continue
    const before = marks[index] ?? null
    marks[index] = {
      value: (before?.value ?? 0) + Number(value),
      text: value,
      group: before === null ? group : null,
    }
  }
  const fullName = (name: string): string => (first.part?.name === 'week' ? words.weekOf(name) : name)
  const groups = [...sums].map(([key, values]) => ({ key, values, at: timeOf(first, key) }))
  const groupsOf = (subset: typeof groups): Drawing['groups'] =>
    subset.map(({ key, values, at }) => ({
      name: valueText(words, first, key),
      fullName: fullName(valueText(words, first, key)),
      key: key ?? '',
      at,
      marks: values.map((value) => value && markOf(value, measure, words, linkTo)),
    }))
  const noteOf = (subset: typeof groups): string => {
    const names = groupsOf(subset.slice(0, barsMax)).map(({ name, marks: [mark, ...furtherMarks] }) =>
      furtherMarks.length > 0 || mark == null ? name : `${name}: ${mark.text}`,
    )
    return names.length === 0 ? '' : words.notDrawn(list(names))
  }
  const series = splits.map((values, index) =>
    values.size > 1 && index > 0
      ? words.others
      : second === undefined
        ? ''
        : valueText(words, second, [...values][0] ?? null),
  )
  // Only a page shows the table below its chart.
  const othersText = linkTo === null ? words.othersNotDrawn : words.othersBelow
  const fewer = omitted > 0 ? othersText(count(omitted)) : ''
  if (isOverTime) {
    const dated = withoutStray(groups.filter(({ at }) => !Number.isNaN(at)).toSorted((a, b) => a.at - b.at))
    if (dated.length > pointsMax) return nothing
    const isOfLines = second === undefined || !isAdded || isCompared || hasTotals
    const areFew = dated.length < linePointsMin && second === undefined
    const shape = isOfStates ? 'states' : areFew ? 'bars' : isOfLines ? 'line' : 'columns'
    const drawnGroups = new Set(dated)
    const last = dated.at(-1)?.key ?? null
    const partial = partialOf(view, first, last)
    const period = valueText(words, first, last)
    const incomplete = partial ? words.incomplete(fullName(period)) : ''
    const scales = isOfStates ? words.ownScales : ''
    const note = [scales, incomplete, fewer, noteOf(groups.filter((group) => !drawnGroups.has(group)))]
      .filter((text) => text !== '')
      .join(' ')
    return {
      ...nothing,
      shape,
      series,
      groups: groupsOf(dated),
      isPartial: partial,
      note: dated.length === 0 ? nothing.note : note,
    }
  }
  const isMap = baseOf(first).kind === 'uf' && second === undefined
  const inMap = isMap ? groups.filter(({ key }) => key !== null && Object.hasOwn(tilePlaces, key)) : []
  if (inMap.length > 0) {
    const note = noteOf(groups.filter((group) => !inMap.includes(group)))
    return { ...nothing, shape: 'tiles', groups: groupsOf(inMap), note }
  }
  // Unless the query orders the groups, numbers such as years are sorted by value, and other groups by bar
  // size.
  const isSorted = aggregation.ordering.length > 0 || isNumber(first)
  const sizeOf = ({ values }: (typeof groups)[number]): number =>
    values.reduce((sum, value) => sum + (value?.value ?? 0), 0)
  const rankedGroups = isSorted ? groups : groups.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const barsOmitted = rankedGroups.length - barsMax
  const note = groups.length === 0 ? nothing.note : barsOmitted > 0 ? othersText(count(barsOmitted)) : ''
  return { ...nothing, series, groups: groupsOf(rankedGroups.slice(0, barsMax)), note }
}

/** Leaves out groups at an end, such as a wrong 1970, that would take most of a time line. */
function withoutStray<Group extends { readonly at: number }>(groups: Group[]): Group[] {
  const [from, to] = [groups[0]?.at ?? 0, groups.at(-1)?.at ?? 0]
  const gap = groups.findIndex(({ at }, index) => at - (groups[index - 1]?.at ?? at) > (to - from) / 2)
  const strayMax = groups.length * strayShareMax
  if (gap > 0 && gap <= strayMax) return groups.slice(gap)
  return gap > 0 && groups.length - gap <= strayMax ? groups.slice(0, gap) : groups
}

/** True if the data end before the period, unless each period has data for only one day. */
function partialOf({ snapshot: { report } }: ChartView, term: Term, key: string | null): boolean {
  if (term.part === undefined || key === null) return false
  const [from, to] = daysOfPart(term, [key]) ?? ['', '']
  const statistics = report?.fields.find(({ name }) => name === baseOf(term).name)
  const [first = '', last = ''] = [statistics?.min, statistics?.max].map((text) =>
    text?.slice(0, 'YYYY-MM-DD'.length),
  )
  if (last < from || last >= to) return false
  const [start = 0, end = 0, periodEnd = 0] = [first, last, to].map((day) => Date.parse(day))
  const periods = (end - start) / (periodEnd - end)
  // Rounded up, since months differ in length.
  const isOnePerPeriod = periods > 0 && (statistics?.distinct_estimate ?? Infinity) <= Math.ceil(periods) + 1
  return last !== from || !isOnePerPeriod
}

interface Cell {
  readonly key: string | null
  readonly split: string | null
  readonly value: string
  readonly group: number
}

interface Sum {
  readonly value: number
  readonly text: string
  readonly group: number | null
}

function cellsOf({ groups: { columns }, selected }: Aggregate, terms: number): Cell[] {
  const cells: Cell[] = []
  for (const group of selected) {
    const value = columns[terms]?.[group] ?? null
    const split = terms < 2 ? null : (columns[1]?.[group] ?? null)
    if (value !== null) cells.push({ key: columns[0]?.[group] ?? null, split, value, group })
  }
  return cells
}

/** NaN for values without a time. */
function timeOf(term: Term, key: string | null): number {
  if (key === null) return Number.NaN
  // Numbers such as 2020 and 202005 are years and months.
  const time = term.part === undefined ? timeOfText(key) : (daysOfPart(term, [key])?.[0] ?? null)
  return time === null ? Number.NaN : Date.parse(time)
}

/**
 * Series of the second term, greatest first or in order of time. If values add up, the last series combines
 * the rest; otherwise `omitted` series are not drawn.
 */
function seriesOf(
  cells: readonly Cell[],
  isAdditive: boolean,
  splitsMax: number,
  isOverTime: boolean,
): { readonly splits: readonly ReadonlySet<string | null>[]; readonly omitted: number } {
  const sizes = new Map<string | null, number>()
  for (const { split, value } of cells) sizes.set(split, (sizes.get(split) ?? 0) + Math.abs(Number(value)))
  const rankedSplits = [...sizes].toSorted(([, a], [, b]) => b - a).map(([split]) => split)
  const separateSeries = (count: number): Set<string | null>[] => {
    const highestRanked = rankedSplits.slice(0, count)
    const inOrder = isOverTime
      ? highestRanked.toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
      : highestRanked
    return inOrder.map((split) => new Set([split]))
  }
  if (rankedSplits.length <= splitsMax) return { splits: separateSeries(splitsMax), omitted: 0 }
  return isAdditive
    ? { splits: [...separateSeries(splitsMax - 1), new Set(rankedSplits.slice(splitsMax - 1))], omitted: 0 }
    : { splits: separateSeries(splitsMax), omitted: rankedSplits.length - splitsMax }
}

function markOf(
  { value, text, group }: Sum,
  measure: Measure,
  words: Words,
  linkTo: ((group: number) => string | null) | null,
): Mark {
  if (group === null) return { value, text: writtenIn(words).compact(value), address: null }
  return { value, text: shownValue(words, measure, text), address: linkTo?.(group) ?? null }
}
