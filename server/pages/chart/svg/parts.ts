import { firstCharacters } from '../../../../core/text.ts'
import { element, xmlText } from '../../../documents/xml.ts'

export interface Drawing {
  readonly shape: 'line' | 'columns' | 'bars' | 'tiles' | 'states'
  readonly label: string
  /** One name if groups have one value each. */
  readonly series: readonly string[]
  readonly groups: readonly DrawnGroup[]
  /** The last period has not ended; its line is dashed. */
  readonly isPartial: boolean
  /** Short form of a number, for axes and tiles. */
  readonly short: (value: number) => string
  /** Sentence about groups that are not drawn; empty if all are. */
  readonly note: string
}

export interface DrawnGroup {
  readonly name: string
  /** Text like `week of May 18, 2020`. */
  readonly fullName: string
  readonly key: string
  /** Time in ms; NaN for groups that are no dates. */
  readonly at: number
  /** A value of each series; null if there is none. */
  readonly marks: readonly (Mark | null)[]
}

export interface Mark {
  readonly value: number
  readonly text: string
  readonly address: string | null
}

export interface Caption {
  readonly title: string
  readonly facts: readonly string[]
}

/** Widths for phones and other screens. */
export const chartWidths = { narrow: 400, wide: 960 } as const

export type Sized = Drawing & { readonly width: number }

export const lineHeight = 18
/** Colours on white; the stylesheet of a page replaces them. */
export const colours = ['#0a6b57', '#c8702f', '#8a5aa8', '#2f74b5', '#b04a5a', '#6b7580']
export const seriesMax = colours.length
export const [ink, soft, rule] = ['#1b1f23', '#4d5963', '#d5dade']

export interface Drawn {
  readonly height: number
  readonly body: string
}

export function atOffset(x: number, y: number, content: string): string {
  return content === '' ? '' : element('g', content, { transform: `translate(${x} ${y})` })
}

export function textAt(
  content: string,
  x: number,
  y: number,
  attributes: Readonly<Record<string, string>> = {},
): string {
  return element('text', xmlText(content), { x: round(x), y: round(y), fill: ink, ...attributes })
}

export function round(number: number): string {
  return String(Math.round(number * 10) / 10)
}

export function rect(x: number, y: number, w: number, h: number, series: number): string {
  return element('rect', '', {
    x: round(x),
    y: round(y),
    width: round(Math.max(0, w)),
    height: round(Math.max(0, h)),
    fill: colours[series] ?? ink,
    class: `s${series}`,
  })
}

export function withTitle(
  content: string,
  description: string,
  { address }: Pick<Mark, 'address'>,
  hasText = false,
): string {
  const body = element('title', xmlText(description)) + content
  return address === null
    ? element('g', body)
    : element('a', body, { href: address, ...(!hasText && { 'aria-label': description }) })
}

export function descriptionOf({ series }: Drawing, { name }: DrawnGroup, index: number, mark: Mark): string {
  return series.length === 1 ? `${name}: ${mark.text}` : `${name}, ${series[index] ?? ''}: ${mark.text}`
}

const nameMax = 17
/** Approximate widths of a character in text and in a title. */
export const [characterWidth, titleCharacter] = [7, 8.7]
export function shortName(name: string, max = nameMax): string {
  return name.length <= max ? name : `${firstCharacters(name, max - 1)}…`
}

export function boundsOf(drawing: Drawing, isStacked: boolean): [min: number, max: number] {
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

/** Stacks negative values on the other side of 0. */
export function stack(
  drawing: Drawing,
  group: DrawnGroup,
  draw: (from: number, to: number, series: number) => string,
): string {
  let [below, above] = [0, 0]
  const rectangles = group.marks.map((mark, index) => {
    if (mark === null || mark.value === 0) return ''
    const from = mark.value < 0 ? below : above
    const to = from + mark.value
    if (mark.value < 0) below = to
    else above = to
    return withTitle(draw(from, to, index), descriptionOf(drawing, group, index, mark), mark)
  })
  return rectangles.join('')
}

/** Names at the ends of lines replace a legend. */
export function hasEndLabels({ shape, series, width }: Sized): boolean {
  return shape === 'line' && series.length > 1 && width === chartWidths.wide
}
