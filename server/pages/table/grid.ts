import { isNumber, isTime, valueText } from '../../documents/words/value-text.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { titleOf } from '../../documents/words/titles.ts'
import { isAmount, type Field } from '../../../core/catalog/catalog.ts'
import { formatOrdering } from '../../query/parameters.ts'
import type { PageContext } from '../frame.ts'
import { html, safeAddress, type Html } from '../html.ts'
import { isUnfiltered } from '../../table/selection/selections.ts'
import { profilePart } from './profile.ts'
import { withParameters, queryLink, type TableView } from './view.ts'
import { firstCharacters, shorten } from '../../../core/text.ts'

/** Maximum in characters; the row's page shows the whole value. */
const cellShownMax = 300
const cellShortMax = 24
const cellUncollapsedMax = 120

export function gridPart(context: PageContext, view: TableView): Html {
  const { words } = context
  const { fields, rows, positions, range, snapshot } = view
  // The page of a row goes on to the next one of the same query.
  const rowQuery = queryLink(
    withParameters(view, {
      page_size: null,
      format: null,
      fields: null,
      snapshot: snapshot.manifest.snapshot,
    }),
  )
  const { count } = writtenIn(words)
  return html`<div class="scroll grid" tabindex="0" role="region" aria-label="${words.table}">
    <table>
      <thead>
        <tr>
          <th scope="col"><abbr title="${words.rowHead}">#</abbr></th>
          ${fields.map((field) => headerPart(context, view, field))}
        </tr>
        ${
          // Statistics are of the whole table, so they would contradict a selection.
          snapshot.report !== null &&
          isUnfiltered(view.query) &&
          html`<tr class="profiles">
            <td></td>
            ${fields.map((field) => html`<td>${profilePart(context, view, field)}</td>`)}
          </tr>`
        }
      </thead>
      <tbody>
        ${rows.map((row, index) => {
          const number = (positions[index] ?? 0) + 1
          return html`<tr>
            <th scope="row"><a href="row/${range.first + index + 1}/${rowQuery}">${count(number)}</a></th>
            ${row.map((value, column) => cellPart(context, fields[column], value))}
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}

function headerPart(context: PageContext, view: TableView, field: Field): Html {
  const { words } = context
  const [key] = view.query.ordering.length > 0 ? view.query.ordering : view.table.order
  const sortDirection = key?.field === field.name ? key.direction : null
  const title = titleOf(field)
  const kind = isNumber(field) ? 'number' : ''
  const aria = sortDirection === null ? 'none' : sortDirection === 'asc' ? 'ascending' : 'descending'
  return html`<th scope="col" class="${kind}" aria-sort="${aria}">
    <a class="sort" href="${sortLink(view, field, sortDirection)}" title="${words.sortBy(title)}"
      >${title}${sortDirection !== null && html`&nbsp;<span aria-hidden="true">${sortDirection === 'asc' ? '↑' : '↓'}</span>`}</a
    >
    ${unitPart(field)}
  </th>`
}

/** Unit; null if there is none, or the title names it. */
export function unitOf(field: Field): string | null {
  const { unit } = field
  const isInTitle = unit !== null && titleOf(field).toLowerCase().includes(unit.toLowerCase())
  return isInTitle ? null : unit
}

export function unitPart(field: Field): Html | null {
  const unit = unitOf(field)
  return unit === null ? null : html`<span class="unit">${unit}</span>`
}

function sortLink(view: TableView, field: Field, sortDirection: 'asc' | 'desc' | null): string {
  const [first, second] = isAmount(field) ? (['desc', 'asc'] as const) : (['asc', 'desc'] as const)
  const direction = sortDirection === first ? second : first
  return queryLink(withParameters(view, { ordering: formatOrdering([{ field: field.name, direction }]) }))
}

export function cellPart(context: PageContext, field: Field | undefined, value: string | null): Html {
  const content = contentOf(context, field, value)
  const isNumeric = field !== undefined && isNumber(field)
  // The classes are short, since most cells of a page have one.
  if (value === null) return isNumeric ? html`<td class="null n">–</td>` : html`<td class="null">–</td>`
  if (isNumeric) return html`<td class="n">${content}</td>`
  if (field !== undefined && isTime(field)) return html`<td class="d">${content}</td>`
  const isMedium = value.length > cellShortMax && value.length <= cellUncollapsedMax
  return isMedium ? html`<td class="t">${content}</td>` : html`<td>${content}</td>`
}

/** Null as a dash, addresses as links, and long texts collapsed and cut. */
export function contentOf(
  { words }: PageContext,
  field: Field | undefined,
  value: string | null,
): Html | string {
  if (value === null) return '–'
  const text = field === undefined || value === '' ? value : valueText(words, field, value)
  if (field !== undefined && isNumber(field)) return text
  if (field !== undefined && isTime(field) && text !== value)
    return html`<time datetime="${value}">${text}</time>`
  const address = safeAddress(value)
  if (address !== null && value.length <= cellShownMax)
    return html`<a href="${address}" rel="nofollow noopener">${value}</a>`
  if (value.length <= cellUncollapsedMax) return text
  const excerpt = shorten(value, cellShownMax)
  return html`<details class="long">
    <summary>${firstCharacters(value, cellUncollapsedMax / 2)}…</summary>
    ${excerpt}
  </details>`
}
