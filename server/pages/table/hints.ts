import type { Setting } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { equalTo, queryLink, titleOf, withoutField, type TableView } from './view.ts'

/** Sentences that lead from a text that no row has to the nearest value of its field. */
export function hintsPart({ words }: Setting, view: TableView): Html[] {
  return view.hints.map(({ field, missing, nearest }) => {
    const parameters = new Map(withoutField(view, field))
    const condition = equalTo(field, nearest)
    if (condition !== null) parameters.set(...condition)
    const address = queryLink(parameters)
    return html`<p class="hint">
      ${words.nearestTo(titleOf(field), missing)} <a href="${address}">${nearest}</a>
    </p>`
  })
}
