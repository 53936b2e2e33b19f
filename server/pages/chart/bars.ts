import { html, type Html } from '../html.ts'

interface Bar {
  readonly name: string
  /** Where its rows are; null where they cannot be asked for. */
  readonly address: string | null
  readonly value: number
  readonly said: string
}

/** Bars under each other, each with its name and number as text. */
export function barsPart(bars: readonly Bar[], label: string): Html {
  const most = Math.max(...bars.map(({ value }) => Math.abs(value)), 1)
  return html`<ol class="bar-list" aria-label="${label}">
    ${bars.map(
      ({ name, address, value, said }) =>
        html`<li>
          <span class="name" dir="auto"
            >${address === null ? name : html`<a href="${address}">${name}</a>`}</span
          >
          <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width="${Math.round((1000 * Math.abs(value)) / most)}" height="10" />
          </svg>
          <span class="number">${said}</span>
        </li>`,
    )}
  </ol>`
}
