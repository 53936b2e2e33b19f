import type { PageContext } from '../frame.ts'
import { parameterFor } from '../../query/conditions.ts'
import { baseOf, type Term } from '../../query/date-parts.ts'
import { isRounded, withoutFinalZeros, type Measure } from '../../query/measures.ts'
import { readValue } from '../../query/operators.ts'
import { isParameterName } from '../../query/query.ts'
import { isNumber, isTime, rowParameters, titleOf } from '../table/view.ts'
import { writtenIn } from '../number-formats.ts'
import type { Words } from '../words/en.ts'
import type { ChartQuery, ChartView } from './chart-query.ts'
import { seriesMax, tilePlaces, type Drawing, type Mark } from './svg.ts'

/** Maximum number of bars; further groups are only in the table. */
const barsMax = 40

export function termTitle(words: Words, { part, ...field }: Term): string {
  return part === undefined ? titleOf(field) : words.parts[part.name](titleOf(part.base))
}

export function measureTitle(words: Words, { of, field }: Measure): string {
  return field === null ? words.rowsHead : words.measured[of](titleOf(field))
}

/** Describes the measures and terms of a chart. */
export function labelOf(words: Words, { aggregation: { terms, measures } }: ChartQuery): string {
  const { list } = writtenIn(words)
  const what = list(measures.map((measure) => measureTitle(words, measure)))
  return terms.length === 0 ? what : words.drawn(what, list(terms.map((term) => termTitle(words, term))))
}

export function shownKey(words: Words, term: Term, key: string | null): string {
  if (key === null) return words.null
  if (key === '') return words.emptyText
  if (term.part?.name === 'weekday') return words.weekdays[Number(key) - 1] ?? key
  return term.part === undefined && isNumber(term) ? writtenIn(words).digits(key) : key
}

export function shownValue(words: Words, measure: Measure, value: string | null): string {
  if (value === null) return words.null
  if (!isNumber(measure.column)) return value === '' ? words.emptyText : value
  return writtenIn(words).grouped(isRounded(measure) ? withoutFinalZeros(value) : value)
}

/** Returns the address of a group's rows; null if the catalog allows no such filter. */
export function groupLink(
  { addresses, language }: PageContext,
  view: ChartView,
  group: number,
): string | null {
  const { table, aggregation, answer } = view
  const parameters = new Map(rowParameters(view))
  for (const [at, term] of aggregation.terms.entries()) {
    const key = answer?.groups.columns[at]?.[group] ?? null
    if (!table.filters.includes(baseOf(term).name) || (key !== null && readValue(term, key) === null))
      return null
    const [operator, values] = key === null ? (['isnull', ['true']] as const) : (['eq', [key]] as const)
    parameters.set(...parameterFor({ field: term, operator, values }, isParameterName))
  }
  return addresses.table(language, table, parameters)
}

/** A drawing, and a sentence about groups that it leaves out; empty if there are none. */
interface PartialDrawing extends Drawing {
  readonly left: string
}

/**
 * Chooses how to draw a chart; without any group if its values cannot be drawn.
 * @param linkTo returns the address of a group's rows; null to draw no links
 */
export function drawingOf(
  { words }: PageContext,
  view: ChartView,
  linkTo: ((group: number) => string | null) | null,
): PartialDrawing {
  const { terms, measures } = view.aggregation
  const [first, second] = terms
  const measure = measures[0]
  const label = labelOf(words, view)
  const { compact } = writtenIn(words)
  const nothing = {
    shape: 'bars',
    label,
    series: [''],
    groups: [],
    short: compact,
    ends: [words.fewest, words.mostOf],
    left: '',
  } as const
  if (first === undefined || measure === undefined || terms.length > 2 || !isNumber(measure.column))
    return nothing
  const isAdded = ['rows', 'count', 'sum'].includes(measure.of)
  const isOverTime = isTime(baseOf(first)) && first.part?.name !== 'weekday'
  if (second !== undefined && !isAdded && !isOverTime) return nothing
  const cells = cellsOf(view, measure, words, linkTo)
  const series = seriesOf(cells, isAdded)
  const keys = [...new Set(cells.map(({ key }) => key))]
  const byKey = new Map(keys.map((key) => [key, cells.filter((cell) => cell.key === key)]))
  const groups = keys.map((key) => ({
    key: key ?? '',
    isNull: key === null,
    name: shownKey(words, first, key),
    marks: series.map((one) =>
      markOf(
        (byKey.get(key) ?? []).filter((cell) => one.has(cell.split)),
        words,
      ),
    ),
  }))
  const names = series.map((one, index) =>
    index === seriesMax - 1 && one.size > 1
      ? words.others
      : second === undefined
        ? ''
        : shownKey(words, second, [...one][0] ?? null),
  )
  const drawn = { ...nothing, series: names }
  const left = (some: typeof groups): string =>
    some.length === 0
      ? ''
      : words.notDrawn(
          writtenIn(words).list(
            some.slice(0, barsMax).map(({ name, marks: [mark] }) => `${name}: ${mark?.text ?? words.null}`),
          ),
        )
  if (isOverTime) {
    const shape = second === undefined || !isAdded ? 'line' : 'columns'
    return {
      ...drawn,
      shape,
      groups: groups.filter(({ isNull }) => !isNull),
      left: left(groups.filter(({ isNull }) => isNull)),
    }
  }
  const isState = baseOf(first).kind === 'uf' && second === undefined
  const inMap = isState ? groups.filter(({ key }) => Object.hasOwn(tilePlaces, key)) : []
  if (inMap.length > 0)
    return {
      ...drawn,
      shape: 'tiles',
      groups: inMap,
      left: left(groups.filter((group) => !inMap.includes(group))),
    }
  // Integers, such as years, are sorted by their value; other groups by the size of their bar.
  const isSorted = view.aggregation.ordering.length > 0 || isNumber(first)
  const sizeOf = ({ marks }: (typeof groups)[number]): number =>
    marks.reduce((sum, mark) => sum + (mark?.value ?? 0), 0)
  const ranked = isSorted ? groups : groups.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const rest = ranked.length - barsMax
  return {
    ...drawn,
    groups: ranked.slice(0, barsMax),
    left: rest > 0 ? words.othersBelow(writtenIn(words).count(rest)) : '',
  }
}

/** A value of the chart: by the first term, and by the second one. */
interface Cell extends Mark {
  readonly key: string | null
  readonly split: string | null
}

function cellsOf(
  { aggregation, answer }: ChartView,
  measure: Measure,
  words: Words,
  linkTo: ((group: number) => string | null) | null,
): Cell[] {
  if (answer === null) return []
  const { terms } = aggregation
  const { columns } = answer.groups
  return Array.from(answer.selected, (group: number) => group).flatMap((group) => {
    const value = columns[terms.length]?.[group] ?? null
    if (value === null) return []
    const [key = null, split = null] = [columns[0]?.[group], terms.length < 2 ? null : columns[1]?.[group]]
    return {
      key,
      split,
      value: Number(value),
      text: shownValue(words, measure, value),
      address: linkTo?.(group) ?? null,
    }
  })
}

/** Returns the values of the second term by series: the greatest ones, then, if they add up, all others together. */
function seriesOf(cells: readonly Cell[], isAdded: boolean): ReadonlySet<string | null>[] {
  const sums = new Map<string | null, number>()
  for (const { split, value } of cells) sums.set(split, (sums.get(split) ?? 0) + Math.abs(value))
  const ranked = [...sums].toSorted(([, a], [, b]) => b - a).map(([split]) => split)
  if (ranked.length <= seriesMax) return ranked.map((split) => new Set([split]))
  const alone = ranked.slice(0, seriesMax - 1).map((split) => new Set([split]))
  return isAdded ? [...alone, new Set(ranked.slice(seriesMax - 1))] : alone
}

function markOf(cells: readonly Cell[], words: Words): Mark | null {
  const [only, ...others] = cells
  if (only === undefined || others.length === 0) return only ?? null
  const value = cells.reduce((sum, cell) => sum + cell.value, 0)
  return { value, text: writtenIn(words).compact(value), address: null }
}
