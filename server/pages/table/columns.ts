import { titleOf } from '../../documents/words/titles.ts'
import { formatFields } from '../../query/parameters.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { hiddenInputs } from './conditions.ts'
import { withParameters, queryLink, type TableView } from './view.ts'

export function columnsForm({ words, addresses, language }: PageContext, view: TableView): Html {
  const { table, fields } = view
  const visibleNames = new Set(fields.map(({ name }) => name))
  return html`<details class="menu end columns">
    <summary>${words.columns} <span>(${visibleNames.size}/${table.fields.length})</span></summary>
    <form action="${addresses.table(language, table)}" method="get" autocomplete="off">
      ${hiddenInputs(view, new Set(['fields']))}
      <ul>
        ${table.fields.map(
          (field) =>
            html`<li>
              <label
                ><input
                  type="checkbox"
                  name="fields"
                  value="${formatFields([field])}"
                  ${visibleNames.has(field.name) ? 'checked' : ''}
                />
                ${titleOf(field)}</label
              >
            </li>`,
        )}
      </ul>
      <button>${words.apply}</button>
      <a href="${queryLink(withParameters(view, { fields: formatFields(table.fields) }))}"
        >${words.allColumns}</a
      >
    </form>
  </details>`
}
