import type { Setting } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../numbers.ts'
import { hiddenInputs } from './conditions.ts'
import { queryLink, type TableView } from './view.ts'

/** First, last, next, previous, and any page by its number. */
export function pagerPart({ words, addresses, language }: Setting, view: TableView): Html | null {
  const { range, query, table } = view
  if (range.lastPage === 1) return null
  const { count } = writtenIn(words)
  const link = (name: string, page: number): Html =>
    page < 1 || page > range.lastPage || page === range.page
      ? html`<span class="off">${name}</span>`
      : html`<a href="${queryLink(query.parameters, page)}">${name}</a>`
  return html`<nav class="pager" aria-label="${words.page}">
    ${link(words.first, 1)} ${link(words.previous, range.page - 1)}
    <form action="${addresses.table(language, table)}" method="get">
      ${hiddenInputs(view, new Set())}
      <label>${words.page} <input name="page" inputmode="numeric" size="6" value="${range.page}" /></label>
      ${words.of} ${count(range.lastPage)}
      <button>${words.go}</button>
    </form>
    ${link(words.next, range.page + 1)} ${link(words.last, range.lastPage)}
  </nav>`
}
