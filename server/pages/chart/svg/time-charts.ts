import { element, xmlText } from '../../../documents/xml.ts'
import {
  chartWidths,
  type Sized,
  colours,
  ink,
  soft,
  rule,
  type Drawn,
  textAt,
  round,
  rect,
  hasEndLabels,
  lineHeight,
  characterWidth,
  shortName,
  boundsOf,
  stack,
} from './parts.ts'

/** Charts over time: lines and columns. */

/** 1, 2, 2.5 or 5 times a power of ten. */
function stepOf(min: number, max: number): number {
  const rough = (max - min) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power
}

function axisBounds(drawing: Sized, isStacked: boolean): [min: number, max: number] {
  const [min, max] = boundsOf(drawing, isStacked)
  const step = stepOf(min, max)
  return [min, Math.ceil(max / step - 1e-9) * step]
}

function ticksOf(min: number, max: number): number[] {
  const step = stepOf(min, max)
  const ticks: number[] = []
  for (let tick = Math.ceil(min / step); tick * step <= max * (1 + 1e-9); tick += 1)
    ticks.push(tick * step || 0)
  return ticks
}

const plotLeft = 52
const labelGap = 26

function plotOf(drawing: Sized): { readonly plotWidth: number; readonly plotHeight: number } {
  const { series, width } = drawing
  const longest = series.reduce((longestSoFar, name) => Math.max(longestSoFar, shortName(name).length), 0)
  const right = hasEndLabels(drawing) ? characterWidth * longest + labelGap : 4
  return {
    plotWidth: width - plotLeft - right,
    plotHeight: width === chartWidths.narrow ? 200 : 300,
  }
}

function groupPositions(drawing: Sized, margin = 0): (index: number) => number {
  const { groups } = drawing
  const { plotWidth } = plotOf(drawing)
  const [from, to] = [groups[0]?.at ?? 0, groups.at(-1)?.at ?? 0]
  const [left, room] = [plotLeft + margin, plotWidth - 2 * margin]
  return (index) =>
    left + (to === from ? room / 2 : (((groups[index]?.at ?? from) - from) / (to - from)) * room)
}

function axes(
  drawing: Sized,
  y: (value: number) => number,
  x: (index: number) => number,
  min: number,
  max: number,
): string {
  const { groups, short, width } = drawing
  const { plotWidth, plotHeight } = plotOf(drawing)
  const gridLines = ticksOf(min, max).map(
    (tick) =>
      element('path', '', {
        d: `M${plotLeft} ${round(y(tick))}h${round(plotWidth)}`,
        stroke: rule,
        class: 'rule',
      }) +
      textAt(short(tick), plotLeft - 6, y(tick) + 4, { 'text-anchor': 'end', fill: soft, class: 'soft' }),
  )
  const labelWidth =
    characterWidth * groups.reduce((longest, { name }) => Math.max(longest, shortName(name).length), 0)
  const labelsMax = Math.max(1, Math.min(8, Math.floor(plotWidth / (labelWidth + 14))))
  const step = Math.ceil(groups.length / labelsMax)
  let previousEnd = -Infinity
  const periodLabels = groups.flatMap(({ name }, index) => {
    if (index % step > 0 || x(index) - labelWidth / 2 < previousEnd + characterWidth) return []
    previousEnd = x(index) + labelWidth / 2
    const attributes = { 'text-anchor': 'middle', fill: soft, class: 'soft' }
    return [textAt(shortName(name), Math.min(x(index), width - labelWidth / 2), plotHeight + 24, attributes)]
  })
  return [...gridLines, ...periodLabels].join('')
}

const gapFactor = 5

function gapsOf(groups: Sized['groups']): (index: number) => boolean {
  const steps = groups.map(({ at }, index) => at - (groups[index - 1]?.at ?? at))
  const usual = steps.slice(1).toSorted((a, b) => a - b)[Math.floor((steps.length - 1) / 2)] ?? 0
  return (index) => (steps[index] ?? 0) > gapFactor * usual
}

/** Lines have gaps where data is missing. */
export function lines(drawing: Sized): Drawn {
  const { groups, series } = drawing
  const { plotHeight } = plotOf(drawing)
  const [min, max] = axisBounds(drawing, false)
  const y = (value: number): number => 8 + plotHeight - ((value - min) / (max - min)) * plotHeight
  const x = groupPositions(drawing)
  const isGap = gapsOf(groups)
  const paths = series.map((_, seriesIndex) => {
    let hasPreviousMark = false
    const commands = groups.flatMap(({ marks }, index) => {
      const mark = marks[seriesIndex]
      const command = hasPreviousMark && !isGap(index) ? 'L' : 'M'
      hasPreviousMark = mark !== null && mark !== undefined
      return mark === null || mark === undefined
        ? []
        : [`${command}${round(x(index))} ${round(y(mark.value))}`]
    })
    const line = (d: string, attributes: Readonly<Record<string, string>>): string =>
      element('path', '', {
        d,
        fill: 'none',
        stroke: colours[seriesIndex] ?? ink,
        'stroke-linejoin': 'round',
        'stroke-linecap': 'round',
        class: `l${seriesIndex}`,
        ...attributes,
      })
    if (commands.length === 1) return line(`${commands.join('')}h0.1`, { 'stroke-width': '6' })
    const hasLastPeriod = groups.at(-1)?.marks[seriesIndex] != null
    if (!drawing.isPartial || !hasLastPeriod) return line(commands.join(''), { 'stroke-width': '2' })
    // The last period is incomplete, so the segment that leads to it is dashed.
    const lastSegment = commands.slice(-2).join('').replace(/^L/, 'M')
    return (
      line(commands.slice(0, -1).join(''), { 'stroke-width': '2' }) +
      line(lastSegment, { 'stroke-width': '2', 'stroke-dasharray': '2 5' })
    )
  })
  return {
    height: plotHeight + 32,
    body: axes(drawing, y, x, min, max) + paths.join('') + endLabels(drawing, y, x) + hoverAreas(drawing, x),
  }
}

function endLabels(drawing: Sized, y: (value: number) => number, x: (index: number) => number): string {
  if (!hasEndLabels(drawing)) return ''
  const ends = drawing.series.flatMap((name, place) => {
    const index = drawing.groups.findLastIndex(({ marks }) => marks[place] != null)
    const mark = drawing.groups[index]?.marks[place]
    return mark == null ? [] : [{ name, place, left: x(index), top: y(mark.value) }]
  })
  let baselineMin = 0
  const labels = ends
    .toSorted((a, b) => a.top - b.top)
    .map(({ name, place, left, top }) => {
      const baseline = Math.max(top + 4, baselineMin)
      baselineMin = baseline + lineHeight - 2
      return rect(left + 8, baseline - 9, 10, 10, place) + textAt(shortName(name), left + 22, baseline)
    })
  return labels.join('')
}

const reachMin = 3

function hoverAreas(drawing: Sized, x: (index: number) => number): string {
  const { plotWidth, plotHeight } = plotOf(drawing)
  const { groups, series } = drawing
  const step = Math.ceil((groups.length * reachMin) / plotWidth)
  const targets = groups.flatMap((group, index) =>
    (groups.length - 1 - index) % step === 0 ? [{ group, at: x(index) }] : [],
  )
  const areas = targets.map(({ group, at }, index) => {
    const values = group.marks.flatMap((mark, place) =>
      mark === null ? [] : series.length === 1 ? mark.text : `${series[place] ?? ''}: ${mark.text}`,
    )
    const [previousAt, nextAt] = [targets[index - 1]?.at ?? at, targets[index + 1]?.at ?? at]
    const area = {
      x: round((previousAt + at) / 2),
      y: '0',
      width: round((nextAt - previousAt) / 2 + 1),
      height: String(plotHeight),
      class: 'reach',
      fill: 'none',
      'pointer-events': 'all',
    }
    return element('rect', element('title', xmlText([group.fullName, ...values].join('\n'))), area)
  })
  return areas.join('')
}

export function columns(drawing: Sized): Drawn {
  const { groups } = drawing
  const { plotWidth, plotHeight } = plotOf(drawing)
  const [min, max] = axisBounds(drawing, true)
  const y = (value: number): number => 8 + plotHeight - ((value - min) / (max - min)) * plotHeight
  const distances = groups.slice(1).map(({ at }, index) => at - (groups[index]?.at ?? at))
  const distanceMin = distances.reduce((least, distance) => Math.min(least, distance), Infinity)
  const span = (groups.at(-1)?.at ?? 0) - (groups[0]?.at ?? 0)
  // Half a slot extends beyond the first and the last position.
  const slotWidth =
    groups.length === 1 ? plotWidth / 2 : Math.max(1, (plotWidth * distanceMin) / (span + distanceMin))
  const x = groupPositions(drawing, slotWidth / 2)
  const body = groups.map((group, index) =>
    stack(drawing, group, (from, to, seriesIndex) =>
      rect(
        x(index) - slotWidth * 0.4,
        y(Math.max(from, to)),
        slotWidth * 0.8,
        y(Math.min(from, to)) - y(Math.max(from, to)),
        seriesIndex,
      ),
    ),
  )
  return { height: plotHeight + 32, body: axes(drawing, y, x, min, max) + body.join('') }
}
