import { element, xmlText } from '../../../documents/xml.ts'
import {
  chartWidths,
  type Sized,
  colours,
  ink,
  soft,
  rule,
  type Drawn,
  moved,
  textAt,
  round,
  described,
  descriptionOf,
} from './parts.ts'

/** Maps of the Brazilian states as tiles, with a number or a line in each. */

/** Row and column of each Brazilian state in a tile map; tiles are equal in size. */
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

/** Draws a tile map: darker means more. Each shade has equally many tiles, so that one great value does not pale others. */
export function tiles(drawing: Sized): Drawn {
  const { groups, short, ends, width } = drawing
  const left = (width - 6 * tileSize) / 2
  const ranked = groups.flatMap(({ marks: [mark] }) => mark?.value ?? []).toSorted((a, b) => a - b)
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
  const body = groups.flatMap((group) => {
    const [row, column] = tilePlaces[group.key] ?? []
    const [mark] = group.marks
    if (row === undefined || column === undefined || mark === null || mark === undefined) return []
    const [x, y] = [left + column * tileSize, row * tileSize]
    const index = Math.floor((shades.length * ranked.indexOf(mark.value)) / ranked.length)
    const middle = { 'text-anchor': 'middle' }
    const tile =
      shade(x, y, tileSize - 4, index) +
      textAt(group.key, x + tileSize / 2 - 2, y + 26, { ...middle, 'font-weight': 'bold' }) +
      textAt(short(mark.value), x + tileSize / 2 - 2, y + 43, middle)
    return [described(tile, descriptionOf(drawing, group, 0, mark), mark, true)]
  })
  const below = 9 * tileSize + 8
  const legend = [
    textAt(`${ends[0]} (${short(ranked[0] ?? 0)})`, left + 120, below + 12, { 'text-anchor': 'end' }),
    ...shades.map((_, index) => shade(left + 130 + index * 22, below, 16, index)),
    textAt(`${ends[1]} (${short(ranked.at(-1) ?? 0)})`, left + 136 + shades.length * 22, below + 12),
  ]
  return { height: below + 24, body: body.join('') + legend.join('') }
}

const statePointsMax = 60

/** Draws the line of each Brazilian state at its place in the tile map, each with its own scale. */
export function states({ groups, series, short, width }: Sized): Drawn {
  const [wide, tall] = [width / 6, width === chartWidths.narrow ? 64 : 84]
  const every = Math.ceil(groups.length / statePointsMax)
  const shown = groups.filter((_, index) => (groups.length - 1 - index) % every === 0)
  const [from, to] = [shown[0]?.at ?? 0, shown.at(-1)?.at ?? 0]
  const [top, plotWidth, plotHeight] = [22, wide - 10, tall - 34]
  const body = series.flatMap((name, one) => {
    const [row, column] = tilePlaces[name] ?? []
    if (row === undefined || column === undefined) return []
    const points = shown.flatMap(({ at, marks }) => (marks[one] ? [{ at, mark: marks[one] }] : []))
    const most = points.reduce((greatest, { mark }) => Math.max(greatest, mark.value), 0)
    const steps = points.map(({ at, mark }) => {
      const x = to === from ? 0 : ((at - from) / (to - from)) * plotWidth
      const y = top + plotHeight - (Math.max(0, mark.value) / (most || 1)) * plotHeight
      return `${round(x)} ${round(y)}`
    })
    const line = {
      d: `M${steps.join('L')}`,
      fill: 'none',
      stroke: colours[0] ?? ink,
      'stroke-width': '1.5',
      class: 'l0',
    }
    const base = { d: `M0 ${top + plotHeight}h${round(plotWidth)}`, stroke: rule, class: 'rule' }
    const label = textAt(name, 0, 12, { 'font-weight': 'bold' })
    const value = { 'text-anchor': 'end', 'font-size': '11', fill: soft, class: 'soft' }
    const drawn =
      element('path', '', base) +
      element('path', '', line) +
      label +
      // On a phone, a number would cover the name.
      (width === chartWidths.narrow ? '' : textAt(short(most), plotWidth, 12, value))
    return [moved(column * wide, row * tall, element('title', xmlText(`${name}: ${short(most)}`)) + drawn)]
  })
  return { height: 9 * tall, body: body.join('') }
}
