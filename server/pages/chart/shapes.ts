import { html, type Html } from '../html.ts'

interface Bar {
  readonly name: string
  /** Address of its rows; null if no filter matches them. */
  readonly address: string | null
  readonly value: number
  readonly valueText: string
}

/** Draws bars below each other, with names and numbers as text. */
export function barsPart(bars: readonly Bar[], label: string): Html {
  const max = Math.max(...bars.map(({ value }) => Math.abs(value)), 1)
  return html`<ol class="bar-list" aria-label="${label}">
    ${bars.map(
      ({ name, address, value, valueText }) =>
        html`<li>
          <span class="name" dir="auto"
            >${address === null ? name : html`<a href="${address}">${name}</a>`}</span
          >
          <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width="${Math.round((1000 * Math.abs(value)) / max)}" height="10" />
          </svg>
          <span class="number">${valueText}</span>
        </li>`,
    )}
  </ol>`
}

interface Point {
  /** Position in any increasing unit. */
  readonly at: number
  readonly value: number
  /** Description in words. */
  readonly description: string
}

const [width, height] = [800, 240]

/**
 * Draws a line over time, on a scale that includes 0. The labels are outside the SVG, whose scaling would
 * distort text.
 */
export function linePart(points: readonly Point[], label: string, short: (value: number) => string): Html {
  const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  const max = Math.max(0, ...points.map(({ value }) => value))
  const min = Math.min(0, ...points.map(({ value }) => value))
  const x = ({ at }: Point): number => round(to === from ? width / 2 : (width * (at - from)) / (to - from))
  const y = (value: number): number =>
    round(max === min ? height : height - (height * (value - min)) / (max - min))
  const path = points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point)} ${y(point.value)}`)
    .join('')
  const steps = [1, 0.5, 0].map((share) => min + share * (max - min))
  return html`<div class="plot">
    <ul class="scale facts" aria-hidden="true">
      ${steps.map((value) => html`<li>${short(value)}</li>`)}
    </ul>
    <svg
      class="line"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${label}"
    >
      <path class="zero" d="M0 ${y(0)}H${width}M0 ${height / 2}H${width}M0 0H${width}" />
      <path class="value" d="${path}" />
      ${points.length === 1 && html`<path class="value" d="M0 ${y(points[0]?.value ?? 0)}H${width}" />`}
      ${points.map((point, index) => reachPart(x(point), x(points[index + 1] ?? point), x(points[index - 1] ?? point), point))}
    </svg>
  </div>`
}

/** Shows the number under the pointer. */
function reachPart(at: number, next: number, before: number, { description }: Point): Html {
  const [left, right] = [round((before + at) / 2), round((at + next) / 2)]
  return html`<rect
    class="reach"
    x="${left}"
    y="0"
    width="${Math.max(1, round(right - left))}"
    height="${height}"
    ><title>${description}</title></rect
  >`
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}

/** Row and column of each Brazilian state in a tile map, from 1; tiles are equal in size. */
export const tilePlaces: Readonly<Record<string, readonly [row: number, column: number]>> = {
  RR: [1, 2],
  AP: [1, 4],
  AM: [2, 2],
  PA: [2, 3],
  MA: [2, 4],
  CE: [2, 5],
  RN: [2, 6],
  AC: [3, 1],
  RO: [3, 2],
  TO: [3, 3],
  PI: [3, 4],
  PE: [3, 5],
  PB: [3, 6],
  MT: [4, 2],
  GO: [4, 3],
  BA: [4, 4],
  SE: [4, 5],
  AL: [4, 6],
  MS: [5, 2],
  DF: [5, 3],
  MG: [5, 4],
  ES: [5, 5],
  SP: [6, 3],
  RJ: [6, 4],
  PR: [7, 3],
  SC: [8, 3],
  RS: [9, 3],
}

/** Number of shades, from the least to the greatest values. */
const shades = 5

interface Tile {
  readonly uf: string
  readonly address: string | null
  readonly value: number
  readonly valueText: string
  /** Short form of the value. */
  readonly short: string
}

/**
 * Draws a tile map: darker means more. Each shade has equally many tiles, so that one great value does not
 * pale all others.
 */
export function tilesPart(
  tiles: readonly Tile[],
  label: string,
  words: { readonly fewest: string; readonly mostOf: string },
): Html {
  const ranked = tiles.map(({ value }) => value).toSorted((a, b) => a - b)
  const shadeOf = (value: number): number => 1 + Math.floor((shades * ranked.indexOf(value)) / ranked.length)
  return html`<ul class="tiles" aria-label="${label}">
      ${tiles.map(({ uf, address, value, valueText, short }) => {
        const text = html`${uf}<span class="short" aria-hidden="true">${short}</span
          ><span class="unseen">: ${valueText}</span>`
        return html`<li class="tile tile-${uf} shade-${shadeOf(value)}" title="${uf}: ${valueText}">
          ${address === null ? text : html`<a href="${address}">${text}</a>`}
        </li>`
      })}
    </ul>
    <p class="legend facts">
      ${words.fewest}
      ${Array.from({ length: shades }, (_, index) => html`<span class="shade-${index + 1}"></span>`)}
      ${words.mostOf}
    </p>`
}

/** Returns CSS rules for places and shades, since our Content-Security-Policy forbids style attributes. */
export function tileStyle(): string {
  const places = Object.entries(tilePlaces).map(
    ([uf, [row, column]]) => `.tile-${uf} { grid-area: ${row} / ${column}; }`,
  )
  const tones = Array.from(
    { length: shades },
    (_, index) =>
      `.shade-${index + 1} { background: color-mix(in srgb, var(--accent) ${6 + 11 * index}%, var(--paper)); }`,
  )
  return [...places, ...tones].join('\n')
}
