import type { Party } from '../../core/catalog/catalog.ts'
import { html, safeAddress, type Html } from './html.ts'

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
