import { element, xmlText } from '../../../documents/xml.ts'
import { bars } from './bars.ts'
import {
  type Drawing,
  type Caption,
  chartWidths,
  type Sized,
  lineHeight,
  soft,
  type Drawn,
  hasEndLabels,
  atOffset,
  textAt,
  rect,
  characterWidth,
  titleCharacter,
  shortName,
} from './parts.ts'
import { shades, states, tiles } from './state-maps.ts'
import { columns, lines } from './time-charts.ts'

/** Draws both widths; the stylesheet shows one. */
export function chartMarkup(drawing: Drawing): string {
  const { narrow, wide } = chartWidths
  // A tile map never grows wider than its narrow form.
  const widths = drawing.shape === 'tiles' ? [narrow] : [wide, narrow]
  return element('div', widths.map((width) => chartSvg(drawing, null, width)).join(''), { class: 'drawing' })
}

/** Height in pixels of the narrow form with its caption, in a frame of at least 320 pixels. */
export function chartFrameHeight(drawing: Drawing, { title, facts }: Caption): number {
  const sized = { ...drawing, width: chartWidths.narrow }
  const height = legendOf(sized).height + shapes[drawing.shape](sized).height
  const smallLines = [facts.join(' · '), drawing.note].map((text) => Math.ceil(text.length / 60))
  const textHeight = 24 * Math.ceil(title.length / 40) + 20 * sum(smallLines)
  return Math.ceil(height * narrowScaleMax) + 80 + textHeight
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Draws a chart: without a caption as part of a page, with one as a separate file on white. */
export function chartSvg(unsizedDrawing: Drawing, caption: Caption | null, width: number): string {
  const drawing = { ...unsizedDrawing, width }
  const titleLines = caption === null ? [] : wrapped(caption.title, Math.floor(width / titleCharacter))
  const legend = legendOf(drawing)
  const plotTop = (caption === null ? 0 : lineHeight * (1 + titleLines.length)) + legend.height
  const body = shapes[drawing.shape](drawing)
  const factLines =
    caption === null
      ? []
      : [drawing.note, ...caption.facts]
          .filter((fact) => fact !== '')
          .flatMap((fact) => wrapped(fact, Math.floor(width / characterWidth)))
  const height = plotTop + body.height + (factLines.length === 0 ? 0 : lineHeight * (factLines.length + 1))
  const hasLinks = drawing.groups.some(({ marks }) =>
    marks.some((mark) => mark != null && mark.address !== null),
  )
  const texts = [
    ...titleLines.map((line, index) =>
      textAt(line, 0, lineHeight * (index + 1), { 'font-size': '15', 'font-weight': 'bold' }),
    ),
    ...factLines.map((line, index) =>
      textAt(line, 0, plotTop + body.height + lineHeight * (index + 1), { fill: soft, class: 'soft' }),
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
      atOffset(0, plotTop - legend.height, legend.body),
      atOffset(0, plotTop, body.body),
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

const shapes: Readonly<Record<Drawing['shape'], (drawing: Sized) => Drawn>> = {
  line: lines,
  columns,
  bars,
  tiles,
  states,
}

const fileScale = 1.5
const narrowScaleMax = 544 / chartWidths.narrow

function wrapped(content: string, max: number): string[] {
  const textLines: string[] = []
  for (const word of content.split(/\s+/)) {
    const last = textLines.at(-1)
    if (last !== undefined && last.length + word.length < max)
      textLines[textLines.length - 1] = `${last} ${word}`
    else textLines.push(shortName(word, max))
  }
  return textLines
}

/** Maximum length of a legend's name, and the width of a character in the widest usual font. */
const [nameMax, legendCharacter] = [40, 8.2]

function legendOf(drawing: Sized): Drawn {
  const { series, shape, width } = drawing
  if (series.length === 1 || shape === 'states' || hasEndLabels(drawing)) return { height: 0, body: '' }
  const names = series.map((name) => shortName(name, nameMax))
  let [left, line] = [0, 0]
  const body = names.map((name, index) => {
    const room = legendCharacter * name.length + 35
    if (left > 0 && left + room > width) [left, line] = [0, line + 1]
    const start = left
    left += room
    return (
      rect(start, line * lineHeight + 3, 10, 10, index) + textAt(name, start + 15, line * lineHeight + 12)
    )
  })
  return { height: lineHeight * (line + 1) + 6, body: body.join('') }
}

/** CSS of charts on pages, light and dark; a chart in a file has fixed colours instead. */
export const chartRules = /* css */ `
.chart { display: block; width: 100%; max-width: 34rem; height: auto; overflow: visible; }
.chart.wide { max-width: 76rem; }
@media (width >= 44rem) { .chart.narrow { display: none; } }
@media (width < 44rem) { .chart.wide { display: none; } }
.chart text { fill: var(--ink); }
.embed h1 { font-size: 1.1rem; margin-top: 0; text-wrap: wrap; }
.embed .chart { max-height: max(30rem, 100vh - 9rem); }
.chart .soft { fill: var(--soft); }
.chart .rule { stroke: var(--line); }
.chart .s0 { fill: var(--accent); }
.chart .l0 { stroke: var(--accent); }
.drawing { position: relative; }
.tip { position: absolute; z-index: 2; pointer-events: none; white-space: pre-line; width: max-content; max-width: 100%; padding: 0.2rem 0.6rem; background: var(--ink); color: var(--paper); border-radius: var(--round); }
.chart .reach:hover { fill: color-mix(in srgb, var(--accent) 18%, transparent); }
.chart a:hover rect, .chart a:focus-visible rect { stroke: var(--ink); stroke-width: 1.5; }
${shades.map((_, index) => `.chart .shade-${index + 1} { fill: color-mix(in srgb, var(--accent) ${12 + 13 * index}%, var(--paper)); stroke: var(--line); }`).join('\n')}
`
