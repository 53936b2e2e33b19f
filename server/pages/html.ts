import { html as template, raw } from 'hono/html'
import type { Party } from '../../core/catalog/catalog.ts'

/** Markup: what is put into it is escaped, whatever it is, unless it is markup itself. */
export type Html = ReturnType<typeof template>

/** Templates without the white space by which they are indented in our files. */
const packed = new WeakMap<TemplateStringsArray, TemplateStringsArray>()

/** A template of markup. Arrays follow each other, and null, undefined and booleans are nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return template(packedOf(strings), ...values)
}

function packedOf(strings: TemplateStringsArray): TemplateStringsArray {
  const known = packed.get(strings)
  if (known !== undefined) return known
  const texts = strings.map(unindented)
  const made = Object.assign(texts, { raw: texts })
  packed.set(strings, made)
  return made
}

/** Removes white space around the line breaks of a template. */
function unindented(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const last = rest.pop()
  if (last === undefined) return text
  const inner = rest.map((line) => line.trim()).filter((line) => line !== '')
  return [first.trimEnd(), ...inner, last.trimStart()].join('\n')
}

/** Markup that was made of escaped texts piece by piece. */
export function markup(text: string): Html {
  return raw(text)
}

/** The characters of a whole document. */
export function textOf(document: Html): string {
  // Nothing that is put into a page is waited for.
  if (document instanceof Promise) throw new TypeError('a page holds a promise')
  return `<!doctype html>\n${document.toString()}`
}

/** A link out of a text that strangers wrote; null where it is no address that a browser should follow. */
export function safeAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return null
  try {
    return new URL(text).href
  } catch {
    return null
  }
}

/** A name that leads to its address, where that is one. */
export function partyPart({ name, url }: Party): Html {
  const address = safeAddress(url)
  return address === null ? html`${name}` : html`<a href="${address}" rel="nofollow">${name}</a>`
}

/** What can be copied: without a script it can be marked, and with one there is a button. */
export function codePart(text: string, words: { readonly copy: string; readonly copied: string }): Html {
  return html`<pre
    tabindex="0"
  ><code data-copy="${words.copy}" data-copied="${words.copied}">${text}</code></pre>`
}

/**
 * A table that scrolls sideways where there is no room, and stacks the cells of a line on a narrow page.
 *
 * @param heads of the columns; those of numbers in a list of their own
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
