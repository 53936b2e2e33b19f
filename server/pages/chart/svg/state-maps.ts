import { element, xmlText } from '../../../documents/xml.ts'
import {
  chartWidths,
  type Sized,
  colours,
  ink,
  soft,
  rule,
  type Drawn,
  atOffset,
  textAt,
  round,
  withTitle,
  descriptionOf,
} from './parts.ts'

/** Brazilian states as tiles, with a number or a line in each. */

/** Places in a map of equal tiles. */
export const tilePlaces: Readonly<Record<string, readonly [row: number, column: number]>> = {
  RR: [0, 1],
  AP: [0, 3],
  AM: [1, 1],
  PA: [1, 2],
  MA: [1, 3],
  CE: [1, 4],
  RN: [1, 5],
  AC: [2, 0],
  RO: [2, 1],
  TO: [2, 2],
  PI: [2, 3],
  PE: [2, 4],
  PB: [2, 5],
  MT: [3, 1],
  GO: [3, 2],
  BA: [3, 3],
  SE: [3, 4],
  AL: [3, 5],
  MS: [4, 1],
  DF: [4, 2],
  MG: [4, 3],
  ES: [4, 4],
  SP: [5, 2],
  RJ: [5, 3],
  PR: [6, 2],
  SC: [7, 2],
  RS: [8, 2],
}

export const shades = ['#f0f5f8', '#d3e2ea', '#b4cedb', '#94b9cb', '#72a3ba']
const tileSize = 60
const legendStep = 72

/**
 * Darker means more. Each shade has equally many tiles, so that one great value does not make others pale.
 */
export function tiles(drawing: Sized): Drawn {
  const { groups, short, width } = drawing
  const left = (width - 6 * tileSize) / 2
  const ascendingValues = groups.flatMap(({ marks: [mark] }) => mark?.value ?? []).toSorted((a, b) => a - b)
  const shade = (x: number, y: number, size: number, index: number): string =>
    element('rect', '', {
      x: round(x),
      y: round(y),
      width: String(size),
      height: String(size),
      rx: '4',
      fill: shades[index] ?? '',
      class: `shade-${index + 1}`,
    })
  const byState = new Map(groups.map((group) => [group.key, group]))
  const middle = { 'text-anchor': 'middle' }
  const body = Object.entries(tilePlaces).map(([state, [row, column]]) => {
    const [x, y] = [left + column * tileSize, row * tileSize]
    const group = byState.get(state)
    const mark = group?.marks[0]
    if (group === undefined || mark === null || mark === undefined)
      return textAt(state, x + tileSize / 2 - 2, y + 34, { ...middle, fill: soft, class: 'soft' })
    const index = Math.floor((shades.length * ascendingValues.indexOf(mark.value)) / ascendingValues.length)
    const tile =
      shade(x, y, tileSize - 4, index) +
      textAt(group.key, x + tileSize / 2 - 2, y + 26, { ...middle, 'font-weight': 'bold' }) +
      textAt(short(mark.value), x + tileSize / 2 - 2, y + 43, { ...middle, 'font-size': '11' })
    return withTitle(tile, descriptionOf(drawing, group, 0, mark), mark, true)
  })
  const legendTop = 9 * tileSize + 8
  // The greatest value of each shade stands below it.
  const legend = shades.flatMap((_, index) => {
    const lastIndex = Math.ceil(((index + 1) * ascendingValues.length) / shades.length) - 1
    const x = left + index * legendStep
    return [
      shade(x, legendTop, 16, index),
      textAt(`≤ ${short(ascendingValues[lastIndex] ?? 0)}`, x, legendTop + 32, {
        'font-size': '11',
        fill: soft,
        class: 'soft',
      }),
    ]
  })
  return { height: legendTop + 38, body: body.join('') + legend.join('') }
}

const statePointsMax = 120
const [mapColumns, mapRows] = [6, 9]

function lineThrough(steps: readonly string[], isDashed = false): string {
  return element('path', '', {
    d: `M${steps.join('L')}`,
    fill: 'none',
    stroke: colours[0] ?? ink,
    'stroke-width': '1.5',
    ...(isDashed && { 'stroke-dasharray': '2 3' }),
    class: 'l0',
  })
}

interface Point {
  readonly at: number
  readonly value: number
}

/** Keeps the ends of a line, and the lowest and the highest point of each stretch. */
function thinned(points: readonly Point[]): Point[] {
  const size = Math.max(1, Math.ceil((2 * points.length) / statePointsMax))
  if (size <= 2) return [...points]
  const kept = new Set([points[0], points.at(-1)])
  for (let start = 0; start < points.length; start += size) {
    const ascending = points.slice(start, start + size).toSorted((a, b) => a.value - b.value)
    kept.add(ascending[0]).add(ascending.at(-1))
  }
  return points.filter((point) => kept.has(point))
}

/** Scales the line chart of each state to its own highest value. */
export function states({ groups, series, short, width, isPartial }: Sized): Drawn {
  const isNarrow = width === chartWidths.narrow
  const [tileWidth, tileHeight] = [width / mapColumns, isNarrow ? 76 : 84]
  const [from, to] = [groups[0]?.at ?? 0, groups.at(-1)?.at ?? 0]
  const [top, plotWidth, plotHeight] = isNarrow
    ? [30, tileWidth - 10, tileHeight - 42]
    : [22, tileWidth - 10, tileHeight - 34]
  const body = series.flatMap((state, index) => {
    const [row, column] = tilePlaces[state] ?? []
    if (row === undefined || column === undefined) return []
    const points = groups.flatMap(({ at, marks }) =>
      marks[index] ? [{ at, value: Math.max(0, marks[index].value) }] : [],
    )
    const highest = points.reduce((greatest, { value }) => Math.max(greatest, value), 0)
    const isLastPartial = isPartial && points.at(-1)?.at === to && points.length > 1
    const drawnPoints = isLastPartial
      ? [...thinned(points.slice(0, -1)), ...points.slice(-1)]
      : thinned(points)
    const coordinates = drawnPoints.map(({ at, value }) => {
      const x = to === from ? 0 : ((at - from) / (to - from)) * plotWidth
      const y = top + plotHeight - (value / (highest || 1)) * plotHeight
      return `${round(x)} ${round(y)}`
    })
    const baseline = { d: `M0 ${top + plotHeight}h${round(plotWidth)}`, stroke: rule, class: 'rule' }
    const label = textAt(state, 0, 12, { 'font-weight': 'bold' })
    const numberStyle = { 'font-size': '11', fill: soft, class: 'soft' }
    const [numberX, anchor] = isNarrow ? [0, {}] : [plotWidth, { 'text-anchor': 'end' }]
    const tile =
      element('path', '', baseline) +
      lineThrough(isLastPartial ? coordinates.slice(0, -1) : coordinates) +
      (isLastPartial ? lineThrough(coordinates.slice(-2), true) : '') +
      label +
      textAt(short(highest), numberX, isNarrow ? 24 : 12, { ...anchor, ...numberStyle })
    return [
      atOffset(
        column * tileWidth,
        row * tileHeight,
        element('title', xmlText(`${state}: ${short(highest)}`)) + tile,
      ),
    ]
  })
  const period = `${groups[0]?.name ?? ''} – ${groups.at(-1)?.name ?? ''}`
  const axis = textAt(period, 0, mapRows * tileHeight + 12, { fill: soft, class: 'soft' })
  return { height: mapRows * tileHeight + 18, body: body.join('') + axis }
}
