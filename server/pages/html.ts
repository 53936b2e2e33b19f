import type { Originator } from '../../core/catalog/catalog.ts'
import { escapeMarkup } from '../../core/text.ts'

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | boolean | null | undefined | readonly Part[]

/** Templates without the indentation of source files. */
const packedStrings = new WeakMap<TemplateStringsArray, readonly string[]>()

/**
 * Escapes values, unless they are markup. Concatenates arrays; null, undefined and booleans produce nothing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let texts = packedStrings.get(strings)
  if (texts === undefined) packedStrings.set(strings, (texts = strings.map(unindented)))
  let text = texts[0] ?? ''
  for (const [index, value] of values.entries()) text += partOf(value) + (texts[index + 1] ?? '')
  return new Html(text)
}

const isList: (value: Part) => value is readonly Part[] = Array.isArray

function partOf(value: Part): string {
  if (value instanceof Html) return value.text
  if (isList(value)) return value.map(partOf).join('')
  return value === null || value === undefined || typeof value === 'boolean'
    ? ''
    : escapeMarkup(String(value))
}

function unindented(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const last = rest.pop()
  if (last === undefined) return text
  const inner = rest.map((line) => line.trim()).filter((line) => line !== '')
  return [first.trimEnd(), ...inner, last.trimStart()].join('\n')
}

/** Frames a text where content is missing, with links that lead on. */
export function noticePart(text: string, links: readonly (readonly [name: string, address: string])[]): Html {
  return html`<div class="notice" role="status">
    <p>${text}</p>
    <p class="actions">
      ${links.map(([name, address]) => html`<a class="button" href="${address}">${name}</a> `)}
    </p>
  </div>`
}

/** Marks a text as markup that is already escaped. */
export function markup(text: string): Html {
  return new Html(text)
}

export function textOf(document: Html): string {
  return `<!doctype html>\n${document.text}`
}

/** Null unless the address is http or https, since `javascript:` would run code. */
export function safeAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return null
  try {
    return new URL(text).href
  } catch {
    return null
  }
}

export function partyPart({ name, url }: Originator): Html {
  const address = url === null ? null : safeAddress(url)
  return address === null ? html`${name}` : html`<a href="${address}" rel="nofollow">${name}</a>`
}

export function codePart(text: string, words: { readonly copy: string; readonly copied: string }): Html {
  return html`<pre
    tabindex="0"
  ><code data-copy="${words.copy}" data-copied="${words.copied}">${text}</code></pre>`
}

/**
 * Scrolls sideways; on narrow screens, the cells of each row are stacked.
 * @param heads titles; a title inside an array marks a numeric column
 */
export function stackedTable(
  label: string,
  heads: readonly (string | [string])[],
  lines: readonly Html[],
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="stacked">
      <thead>
        <tr>
          ${heads.map((head) => (typeof head === 'string' ? html`<th scope="col">${head}</th>` : html`<th scope="col" class="number">${head}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`
}
