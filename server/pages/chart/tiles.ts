import { html, type Html } from '../html.ts'

/** Where each state of Brazil stands among the others, by row and column from 1: a tile each, whatever its area. */
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

/** From the fewest to the most. */
const shades = 5

interface Tile {
  readonly uf: string
  readonly address: string | null
  readonly value: number
  readonly said: string
  /** The same in a few characters. */
  readonly short: string
}

/** A tile map: the darker, the more. As many tiles have each shade, so that one great value does not pale all others. */
export function tilesPart(
  tiles: readonly Tile[],
  label: string,
  words: { readonly fewest: string; readonly mostOf: string },
): Html {
  const ranked = tiles.map(({ value }) => value).toSorted((a, b) => a - b)
  const shadeOf = (value: number): number => 1 + Math.floor((shades * ranked.indexOf(value)) / ranked.length)
  return html`<ul class="tiles" aria-label="${label}">
      ${tiles.map(({ uf, address, value, said, short }) => {
        const text = html`${uf}<span class="short" aria-hidden="true">${short}</span
          ><span class="unseen">: ${said}</span>`
        return html`<li class="tile tile-${uf} shade-${shadeOf(value)}" title="${uf}: ${said}">
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

/** The place of each tile, and its shade: what an attribute may not say under our policy. */
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
