import { element, xmlText } from '../../documents/xml.ts'
import { firstCharacters } from '../../../core/text.ts'

/** Values to draw. */
export interface Drawing {
  readonly shape: 'line' | 'columns' | 'bars' | 'tiles' | 'states'
  /** Description in words. */
  readonly label: string
  /** Names of the values of a group; one name if the groups have one value each. */
  readonly series: readonly string[]
  readonly groups: readonly DrawnGroup[]
  /** True if the last group is a period that has not ended; its line is dashed. */
  readonly isPartial: boolean
  /** Short form of a number, for axes and tiles. */
  readonly short: (value: number) => string
  /** Ends of the scale of a tile map, in words. */
  readonly ends: readonly [least: string, greatest: string]
  /** Sentence about groups that are not drawn; empty if all are. */
  readonly note: string
}

interface DrawnGroup {
  readonly name: string
  /** Key of a tile, such as the code of a state. */
  readonly key: string
  /** Time in ms; NaN for groups that are no dates. */
  readonly at: number
  /** A value of each series; null if there is none. */
  readonly marks: readonly (Mark | null)[]
}

export interface Mark {
  readonly value: number
  readonly text: string
  /** Address of its rows; null for none. */
  readonly address: string | null
}

/** Texts of a chart that stands alone. */
export interface Caption {
  readonly title: string
  /** Source, date and licence. */
  readonly facts: readonly string[]
}

/** Widths of charts for phones and for other screens. */
export const chartWidths = { narrow: 400, wide: 760 } as const

/** A drawing for some width. */
type Sized = Drawing & { readonly width: number }

const lineHeight = 18
/** Colours of the series on white; the stylesheet of a page replaces them. */
const colours = ['#1b6b93', '#c8702f', '#4f8f4f', '#8a5aa8', '#b04a5a', '#6b7580']
export const seriesMax = colours.length
const [ink, soft, rule] = ['#1b1f23', '#4d5963', '#d5dade']

/** Draws a chart for a page, in both widths; the stylesheet shows one of them. */
export function chartMarkup(drawing: Drawing): string {
  const { narrow, wide } = chartWidths
  // A tile map is as wide as it can be.
  if (drawing.shape === 'tiles') return chartSvg(drawing, null, narrow)
  return chartSvg(drawing, null, wide) + chartSvg(drawing, null, narrow)
}

/** Draws a chart: as a part of a page, or, with a caption, as a file of its own, on white. */
export function chartSvg(drawn: Drawing, caption: Caption | null, width: number): string {
  const drawing = { ...drawn, width }
  const titleLines = caption === null ? [] : wrapped(caption.title, Math.floor(width / titleCharacter))
  const legend = legendOf(drawing)
  const top = (caption === null ? 0 : lineHeight * (1 + titleLines.length)) + legend.height
  const body = shapes[drawing.shape](drawing)
  const facts =
    caption === null
      ? []
      : [drawing.note, ...caption.facts]
          .filter((fact) => fact !== '')
          .flatMap((fact) => wrapped(fact, Math.floor(width / characterWidth)))
  const height = top + body.height + (facts.length === 0 ? 0 : lineHeight * (facts.length + 1))
  const hasLinks = drawing.groups.some(({ marks }) => marks.some((mark) => mark?.address !== null))
  const texts = [
    ...titleLines.map((line, index) =>
      text(line, 0, lineHeight * (index + 1), { 'font-size': '15', 'font-weight': 'bold' }),
    ),
    ...facts.map((line, index) =>
      text(line, 0, top + body.height + lineHeight * (index + 1), { fill: soft, class: 'soft' }),
    ),
  ]
  return element(
    'svg',
    [
      element('title', xmlText(caption?.title ?? drawing.label)),
      ...(caption === null
        ? []
        : [
            element('rect', '', {
              x: '-12',
              y: '-6',
              width: String(width + 24),
              height: String(height + 18),
              fill: '#fff',
            }),
          ]),
      ...texts,
      moved(0, top - legend.height, legend.body),
      moved(0, top, body.body),
    ].join(''),
    {
      xmlns: 'http://www.w3.org/2000/svg',
      class: drawing.shape === 'tiles' ? 'chart' : width === chartWidths.wide ? 'chart wide' : 'chart narrow',
      ...(caption !== null && {
        width: String(fileScale * (width + 24)),
        height: String(fileScale * (height + 18)),
      }),
      viewBox: caption === null ? `0 0 ${width} ${height}` : `-12 -6 ${width + 24} ${height + 18}`,
      role: hasLinks && caption === null ? 'group' : 'img',
      'aria-label': drawing.label,
      'font-family': 'system-ui, sans-serif',
      'font-size': '13',
    },
  )
}

interface Drawn {
  readonly height: number
  readonly body: string
}

const shapes: Readonly<Record<Drawing['shape'], (drawing: Sized) => Drawn>> = {
  line: lines,
  columns,
  bars,
  tiles,
  states,
}

function moved(x: number, y: number, content: string): string {
  return content === '' ? '' : element('g', content, { transform: `translate(${x} ${y})` })
}

function text(content: string, x: number, y: number, more: Readonly<Record<string, string>> = {}): string {
  return element('text', xmlText(content), { x: round(x), y: round(y), fill: ink, ...more })
}

function round(number: number): string {
  return String(Math.round(number * 10) / 10)
}

function rect(x: number, y: number, w: number, h: number, series: number): string {
  return element('rect', '', {
    x: round(x),
    y: round(y),
    width: round(Math.max(0, w)),
    height: round(Math.max(0, h)),
    fill: colours[series] ?? ink,
    class: `s${series}`,
  })
}

/** Adds a description under the pointer, and a link. */
function described(
  content: string,
  description: string,
  { address }: Pick<Mark, 'address'>,
  hasText = false,
): string {
  const inside = element('title', xmlText(description)) + content
  return address === null
    ? element('g', inside)
    : element('a', inside, { href: address, ...(!hasText && { 'aria-label': description }) })
}

function descriptionOf({ series }: Drawing, { name }: DrawnGroup, index: number, mark: Mark): string {
  return series.length === 1 ? `${name}: ${mark.text}` : `${name}, ${series[index] ?? ''}: ${mark.text}`
}

/** Maximum number of characters of a name on a narrow chart. */
const nameMax = 17
/** Approximate widths of a character, and of one in a title. */
const [characterWidth, titleCharacter] = [7, 8.7]
/** Scale of a file. */
const fileScale = 1.5

function wrapped(content: string, max: number): string[] {
  const found: string[] = []
  for (const word of content.split(/\s+/)) {
    const last = found.at(-1)
    if (last !== undefined && last.length + word.length < max) found[found.length - 1] = `${last} ${word}`
    else found.push(shortName(word, max))
  }
  return found
}

function shortName(name: string, max = nameMax): string {
  return name.length <= max ? name : `${firstCharacters(name, max - 1)}…`
}

function legendOf({ series, shape, width }: Sized): Drawn {
  if (series.length === 1 || shape === 'states') return { height: 0, body: '' }
  const columnsMax = width === chartWidths.narrow ? 3 : 6
  const place = (index: number): [number, number] => [
    (index % columnsMax) * (width / columnsMax),
    Math.floor(index / columnsMax) * lineHeight,
  ]
  const body = series.map((name, index) => {
    const [x, y] = place(index)
    return rect(x, y + 3, 10, 10, index) + text(shortName(name), x + 15, y + 12)
  })
  return { height: lineHeight * Math.ceil(series.length / columnsMax) + 6, body: body.join('') }
}

/** Least and greatest value of a scale that includes 0. */
function boundsOf(drawing: Drawing, isStacked: boolean): [min: number, max: number] {
  const ends = drawing.groups.flatMap(({ marks }) => {
    const values = marks.map((mark) => mark?.value ?? 0)
    if (!isStacked) return values
    const sumOf = (sign: number): number =>
      values.filter((value) => value * sign > 0).reduce((sum, value) => sum + value, 0)
    return [sumOf(-1), sumOf(1)]
  })
  const fold = (pick: (a: number, b: number) => number): number => ends.reduce((a, b) => pick(a, b), 0)
  const [min, max] = [fold(Math.min), fold(Math.max)]
  return [min, min === max ? 1 : max]
}

/** Returns round numbers between two values: 1, 2, 2.5 or 5 times a power of ten apart. */
function ticksOf(min: number, max: number): number[] {
  const rough = (max - min) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power
  const ticks: number[] = []
  for (let tick = Math.ceil(min / step); tick * step <= max * (1 + 1e-9); tick += 1) ticks.push(tick * step)
  return ticks
}

const plotLeft = 52

/** Returns the size of the area between the axes. */
function plotOf({ width }: Sized): { readonly plotWidth: number; readonly plotHeight: number } {
  return { plotWidth: width - plotLeft - 4, plotHeight: width === chartWidths.narrow ? 200 : 300 }
}

/** Returns the position of each group in time. */
function placesOf(drawing: Sized, margin = 0): (index: number) => number {
  const { groups } = drawing
  const { plotWidth } = plotOf(drawing)
  const [from, to] = [groups[0]?.at ?? 0, groups.at(-1)?.at ?? 0]
  const [left, room] = [plotLeft + margin, plotWidth - 2 * margin]
  return (index) =>
    left + (to === from ? room / 2 : (((groups[index]?.at ?? from) - from) / (to - from)) * room)
}

/** Draws the axes of a chart over time. */
function axes(
  drawing: Sized,
  y: (value: number) => number,
  x: (index: number) => number,
  min: number,
  max: number,
): string {
  const { groups, short, width } = drawing
  const { plotWidth, plotHeight } = plotOf(drawing)
  const horizontal = ticksOf(min, max).map(
    (tick) =>
      element('path', '', { d: `M${plotLeft} ${round(y(tick))}H${width}`, stroke: rule, class: 'rule' }) +
      text(short(tick), plotLeft - 6, y(tick) + 4, { 'text-anchor': 'end', fill: soft, class: 'soft' }),
  )
  const labelWidth =
    characterWidth * groups.reduce((most, { name }) => Math.max(most, shortName(name).length), 0)
  const labels = Math.max(1, Math.min(8, Math.floor(plotWidth / (labelWidth + 14))))
  const step = Math.ceil(groups.length / labels)
  let end = -Infinity
  const vertical = groups.flatMap(({ name }, index) => {
    // Periods without rows take space too, so that some names would overlap.
    if (index % step > 0 || x(index) - labelWidth / 2 < end) return []
    end = x(index) + labelWidth / 2
    const more = { 'text-anchor': 'middle', fill: soft, class: 'soft' }
    return [text(shortName(name), Math.min(x(index), width - labelWidth / 2), plotHeight + 24, more)]
  })
  return [...horizontal, ...vertical].join('')
}

function lines(drawing: Sized): Drawn {
  const { groups, series, width } = drawing
  const { plotHeight } = plotOf(drawing)
  const [min, max] = boundsOf(drawing, false)
  const y = (value: number): number => 8 + plotHeight - ((value - min) / (max - min)) * plotHeight
  const x = placesOf(drawing)
  const paths = series.map((_, one) => {
    let isOpen = false
    const steps = groups.flatMap(({ marks }, index) => {
      const mark = marks[one]
      const command = isOpen ? 'L' : 'M'
      isOpen = mark !== null && mark !== undefined
      return mark === null || mark === undefined
        ? []
        : [`${command}${round(x(index))} ${round(y(mark.value))}`]
    })
    const line = (d: string, more: Readonly<Record<string, string>>): string =>
      element('path', '', {
        d,
        fill: 'none',
        stroke: colours[one] ?? ink,
        'stroke-linejoin': 'round',
        'stroke-linecap': 'round',
        class: `l${one}`,
        ...more,
      })
    if (steps.length === 1) return line(`${steps.join('')}h0.1`, { 'stroke-width': '6' })
    if (!drawing.isPartial) return line(steps.join(''), { 'stroke-width': '2' })
    const rest = steps.slice(-2).join('').replace(/^L/, 'M')
    return (
      line(steps.slice(0, -1).join(''), { 'stroke-width': '2' }) +
      line(rest, { 'stroke-width': '2', 'stroke-dasharray': '2 5' })
    )
  })
  // A finger cannot point at one of many values.
  const pointed = width === chartWidths.narrow ? [] : groups
  const reaches = pointed.map((group, index) => {
    const told = group.marks.flatMap((mark, one) =>
      mark === null ? [] : descriptionOf(drawing, group, one, mark),
    )
    const area = {
      x: round(index === 0 ? plotLeft : (x(index - 1) + x(index)) / 2),
      y: '0',
      width: round((x(Math.min(index + 1, groups.length - 1)) - x(Math.max(0, index - 1))) / 2 + 1),
      height: String(plotHeight),
      class: 'reach',
      fill: 'none',
      'pointer-events': 'all',
    }
    return element('rect', element('title', xmlText(told.join('\n'))), area)
  })
  return { height: plotHeight + 32, body: axes(drawing, y, x, min, max) + paths.join('') + reaches.join('') }
}

function columns(drawing: Sized): Drawn {
  const { groups } = drawing
  const { plotWidth, plotHeight } = plotOf(drawing)
  const [min, max] = boundsOf(drawing, true)
  const y = (value: number): number => 8 + plotHeight - ((value - min) / (max - min)) * plotHeight
  const gaps = groups.slice(1).map(({ at }, index) => at - (groups[index]?.at ?? at))
  const gap = gaps.reduce((least, one) => Math.min(least, one), Infinity)
  const span = (groups.at(-1)?.at ?? 0) - (groups[0]?.at ?? 0)
  const step = groups.length === 1 ? plotWidth / 2 : Math.max(1, (plotWidth * gap) / (span + gap))
  const x = placesOf(drawing, step / 2)
  const body = groups.map((group, index) =>
    stack(drawing, group, (from, to, series) =>
      rect(
        x(index) - step * 0.4,
        y(Math.max(from, to)),
        step * 0.8,
        y(Math.min(from, to)) - y(Math.max(from, to)),
        series,
      ),
    ),
  )
  return { height: plotHeight + 32, body: axes(drawing, y, x, min, max) + body.join('') }
}

/** Draws the values of a group beside each other, negative ones on the other side of 0. */
function stack(
  drawing: Drawing,
  group: DrawnGroup,
  draw: (from: number, to: number, series: number) => string,
): string {
  let [below, above] = [0, 0]
  const drawn = group.marks.map((mark, index) => {
    if (mark === null || mark.value === 0) return ''
    const from = mark.value < 0 ? below : above
    const to = from + mark.value
    if (mark.value < 0) below = to
    else above = to
    return described(draw(from, to, index), descriptionOf(drawing, group, index, mark), mark)
  })
  return drawn.join('')
}

const barHeight = 24
/** Maximum number of characters of a value behind its bar; longer ones are written in short. */
const valueMax = 11

function bars(drawing: Sized): Drawn {
  const { groups, series, width } = drawing
  const textOf = ({ marks: [only, ...others] }: DrawnGroup): string => {
    const sum = others.reduce((all, mark) => all + (mark?.value ?? 0), only?.value ?? 0)
    const exact = series.length === 1 ? (only?.text ?? '') : ''
    return exact === '' || exact.length > valueMax ? drawing.short(sum) : exact
  }
  const longest = groups.reduce((most, group) => Math.max(most, textOf(group).length), 0)
  const barLeft = width === chartWidths.narrow ? 126 : 250
  const barRight = width - Math.min(width / 3, characterWidth * (longest + 2))
  const [min, max] = boundsOf(drawing, true)
  const x = (value: number): number => barLeft + ((value - min) / (max - min)) * (barRight - barLeft)
  const body = groups.map((group, index) => {
    const y = index * barHeight
    const isCapital = group.name === group.name.toUpperCase()
    const nameWidth = isCapital ? titleCharacter : characterWidth
    const above = group.marks.reduce((sum, mark) => sum + Math.max(0, mark?.value ?? 0), 0)
    return [
      text(shortName(group.name, Math.floor((barLeft - 8) / nameWidth)), 0, y + 15),
      stack(drawing, group, (from, to, one) =>
        rect(x(Math.min(from, to)), y + 4, Math.abs(x(to) - x(from)), 14, one),
      ),
      text(textOf(group), x(above) + 8, y + 15),
    ].join('')
  })
  return { height: groups.length * barHeight + 6, body: body.join('') }
}

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

const shades = ['#f0f5f8', '#d3e2ea', '#b4cedb', '#94b9cb', '#72a3ba']
const tileSize = 60

/** Draws a tile map: darker means more. Each shade has equally many tiles, so that one great value does not pale others. */
function tiles(drawing: Sized): Drawn {
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
      text(group.key, x + tileSize / 2 - 2, y + 26, { ...middle, 'font-weight': 'bold' }) +
      text(short(mark.value), x + tileSize / 2 - 2, y + 43, middle)
    return [described(tile, descriptionOf(drawing, group, 0, mark), mark, true)]
  })
  const below = 9 * tileSize + 8
  const legend = [
    text(ends[0], left + 60, below + 12, { 'text-anchor': 'end' }),
    ...shades.map((_, index) => shade(left + 70 + index * 22, below, 16, index)),
    text(ends[1], left + 76 + shades.length * 22, below + 12),
  ]
  return { height: below + 24, body: body.join('') + legend.join('') }
}

/** Maximum number of points of the line of a state. */
const statePointsMax = 60

/** Draws the line of each Brazilian state at its place in the tile map, each with its own scale. */
function states({ groups, series, short, width }: Sized): Drawn {
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
    const label = text(name, 0, 12, { 'font-weight': 'bold' })
    const value = { 'text-anchor': 'end', 'font-size': '11', fill: soft, class: 'soft' }
    const drawn =
      element('path', '', base) + element('path', '', line) + label + text(short(most), plotWidth, 12, value)
    return [moved(column * wide, row * tall, element('title', xmlText(`${name}: ${short(most)}`)) + drawn)]
  })
  return { height: 9 * tall, body: body.join('') }
}

/** Rules of the stylesheet of pages, which follow light and dark; they replace the colours of a file. */
export const chartRules = /* css */ `
.chart { display: block; width: 100%; max-width: 34rem; height: auto; overflow: visible; }
.chart.wide { max-width: 60rem; }
@media (width >= 44rem) { .chart.narrow { display: none; } }
@media (width < 44rem) { .chart.wide { display: none; } }
.chart text { fill: var(--ink); }
.embed h1 { font-size: 1.1rem; margin-top: 0; }
.embed .chart { max-height: 75vh; }
.chart .soft { fill: var(--soft); }
.chart .rule { stroke: var(--line); }
.chart .s0 { fill: var(--accent); }
.chart .l0 { stroke: var(--accent); }
.chart .reach:hover { fill: color-mix(in srgb, var(--accent) 18%, transparent); }
.chart a:hover rect, .chart a:focus-visible rect { stroke: var(--ink); stroke-width: 1.5; }
${shades.map((_, index) => `.chart .shade-${index + 1} { fill: color-mix(in srgb, var(--accent) ${6 + 11 * index}%, var(--paper)); stroke: var(--line); }`).join('\n')}
`
