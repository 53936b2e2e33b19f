import { html, type Html } from '../html.ts'

interface Point {
  /** In any unit that grows. */
  readonly at: number
  readonly value: number
  /** What it is, in words. */
  readonly said: string
}

const [width, height] = [800, 240]

/** A line over time, from 0 up; what it says in numbers stands beside it, so that no text shrinks with it. */
export function linePart(points: readonly Point[], label: string, short: (value: number) => string): Html {
  const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  const most = Math.max(0, ...points.map(({ value }) => value))
  const least = Math.min(0, ...points.map(({ value }) => value))
  const x = ({ at }: Point): number => round(to === from ? width / 2 : (width * (at - from)) / (to - from))
  const y = (value: number): number =>
    round(most === least ? height : height - (height * (value - least)) / (most - least))
  const path = points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point)} ${y(point.value)}`)
    .join('')
  const steps = [1, 0.5, 0].map((share) => least + share * (most - least))
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

/** What is under the pointer says its number. */
function reachPart(at: number, next: number, before: number, { said }: Point): Html {
  const [left, right] = [round((before + at) / 2), round((at + next) / 2)]
  return html`<rect
    class="reach"
    x="${left}"
    y="0"
    width="${Math.max(1, round(right - left))}"
    height="${height}"
    ><title>${said}</title></rect
  >`
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}
