import type { Field } from '../../core/catalog/catalog.ts'
import { formatFields, formatOrdering, orderable } from '../query/parameters.ts'
import { rowFormats } from '../formats/registry.ts'
import { chipsPart, filterForm, hiddenInputs } from './conditions.ts'
import { framed } from './frame.ts'
import { html, safeAddress, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'
import { profilePart } from './profile.ts'
import { changed, isNumber, queryLink, titleOf, type Setting, type TableView } from './view.ts'

/** In characters; the page of a row has all. */
const cellShownMax = 300
/** Longer ones fold. */
const cellLongMin = 120

/** A table to look at: rows in their order, what they are like, and ways to fewer of them, or to all of them as a file. */
export function tablePage(setting: Setting, view: TableView): Html {
  const { addresses, language, words } = setting
  const { dataset, table, query, range, rows } = view
  const { count, day } = writtenIn(words)
  const title = `${dataset.name}: ${table.name}`
  const { import_date: imported } = view.snapshot.manifest
  const main = html`
    <h1>${title}</h1>
    <p class="lead">${table.description ?? dataset.description}</p>
    <p class="facts">
      ${words.imported} <time datetime="${imported}">${day(imported)}</time> ·
      <a href="${addresses.fields(language, table)}">${words.fields}</a> · ${words.allRows}
    </p>
    ${filterForm(setting, view)} ${chipsPart(setting, view)}
    <p class="count" role="status">
      ${
        range.count === 0
          ? words.nothing
          : words.showing(count(range.first + 1), count(range.first + rows.length), count(range.count))
      }
    </p>
    ${gridPart(setting, view)} ${pagerPart(setting, view)} ${columnsForm(setting, view)}
    ${downloadsPart(setting, view)}
  `
  return framed(setting, {
    title,
    main,
    inLanguage: (other) => addresses.table(other, table, query.parameters, range.page),
    trail: [
      { name: words.home, address: addresses.home(language) },
      { name: dataset.name, address: addresses.dataset(language, dataset) },
    ],
  })
}

function gridPart(setting: Setting, view: TableView): Html {
  const { words, addresses, language } = setting
  const { table, fields, rows, range, positions, snapshot } = view
  const { count } = writtenIn(words)
  const numbers = rows.map((_row, index) => (positions?.[index] ?? range.first + index) + 1)
  const id = snapshot.manifest.snapshot
  return html`<div class="scroll grid" tabindex="0" role="region" aria-label="${words.table}">
    <table>
      <thead>
        <tr>
          <td></td>
          ${fields.map((field) => headerPart(setting, view, field))}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row, index) => {
          const number = numbers[index] ?? 0
          return html`<tr>
            <th scope="row"><a href="${addresses.row(language, table, number, id)}">${count(number)}</a></th>
            ${row.map((value, at) => cellPart(setting, fields[at], value))}
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}

function headerPart(setting: Setting, view: TableView, field: Field): Html {
  const { words } = setting
  const [key] = view.query.ordering.length > 0 ? view.query.ordering : view.table.order
  const sorted = key?.field === field.name ? key.direction : null
  const title = titleOf(field)
  const kind = isNumber(field) ? 'number' : ''
  const aria = sorted === null ? 'none' : sorted === 'asc' ? 'ascending' : 'descending'
  return html`<th scope="col" class="${kind}" aria-sort="${aria}">
    ${
      orderable(view.table).includes(field.name)
        ? html`<a class="sort" href="${sortLink(view, field, sorted)}" title="${words.sortBy(title)}"
            >${title}${
              sorted !== null && html` <span aria-hidden="true">${sorted === 'asc' ? '↑' : '↓'}</span>`
            }</a
          >`
        : title
    }
    ${profilePart(setting, view, field)}
  </th>`
}

/** Ascending first, then descending; the other way round where it is sorted already. */
function sortLink(view: TableView, field: Field, sorted: 'asc' | 'desc' | null): string {
  const ordering = formatOrdering([{ field: field.name, direction: sorted === 'asc' ? 'desc' : 'asc' }])
  return queryLink(changed(view, { ordering, 'order-by': null }))
}

/** A value as it is; what is no value is seen to be none. */
export function cellPart({ words }: Setting, field: Field | undefined, value: string | null): Html {
  if (value === null) return html`<td class="null" title="${words.null}">–</td>`
  if (field !== undefined && isNumber(field))
    return html`<td class="number">${writtenIn(words).digits(value)}</td>`
  const address = safeAddress(value)
  if (address !== null && value.length <= cellShownMax)
    return html`<td><a href="${address}" rel="nofollow noopener">${value}</a></td>`
  if (value.length <= cellLongMin) return html`<td dir="auto">${value}</td>`
  const shown = value.length > cellShownMax ? `${cut(value, cellShownMax)}…` : value
  return html`<td dir="auto">
    <details class="long">
      <summary>${cut(value, cellLongMin / 2)}…</summary>
      ${shown}
    </details>
  </td>`
}

/** The first characters of a text, none of them halved. */
function cut(text: string, length: number): string {
  return Array.from(text.slice(0, length * 2))
    .slice(0, length)
    .join('')
}

function pagerPart({ words, addresses, language }: Setting, view: TableView): Html | null {
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
      ${hiddenInputs(view, new Set(['page']))}
      <label>${words.page} <input name="page" inputmode="numeric" size="6" value="${range.page}" /></label>
      ${words.of} ${count(range.lastPage)}
      <button>${words.go}</button>
    </form>
    ${link(words.next, range.page + 1)} ${link(words.last, range.lastPage)}
  </nav>`
}

function columnsForm({ words, addresses, language }: Setting, view: TableView): Html {
  const { table, fields } = view
  const shown = new Set(fields.map(({ name }) => name))
  return html`<details class="columns">
    <summary>${words.columns} (${shown.size}/${table.fields.length})</summary>
    <form action="${addresses.table(language, table)}" method="get">
      ${hiddenInputs(view, new Set(['fields', 'page']))}
      <ul>
        ${table.fields.map(
          (field) =>
            html`<li>
              <label
                ><input
                  type="checkbox"
                  name="fields"
                  value="${formatFields([field])}"
                  ${shown.has(field.name) ? 'checked' : ''}
                />
                ${titleOf(field)}</label
              >
            </li>`,
        )}
      </ul>
      <button>${words.apply}</button>
    </form>
  </details>`
}

function downloadsPart({ words }: Setting, view: TableView): Html {
  const { table, query, range, files, snapshot } = view
  const { count, bytes } = writtenIn(words)
  const isFiltered = query.conditions.length > 0 || query.words.length > 0
  const parameters = changed(view, { page_size: null, snapshot: null })
  const download = snapshot.manifest.files[0]
  return html`<section>
    <h2>${words.thisView}</h2>
    <ul class="downloads">
      ${
        range.count <= table.exportRowsMax
          ? rowFormats.map(
              ({ name }) =>
                html`<li>
                  <a href="${view.exportAddress(new Map([...parameters, ['format', name]]))}" rel="nofollow"
                    >${words.asFile(name, count(range.count))}</a
                  >
                </li>`,
            )
          : html`<li>${words.tooMany(count(table.exportRowsMax))}</li>`
      }
      ${
        (isFiltered || range.count > table.exportRowsMax) &&
        html`<li>
          <a href="${files.download(table)}"
            >${words.wholeTable}: CSV (gzip), ${words.rows(count(snapshot.manifest.rows))},
            ${bytes(download?.bytes ?? 0)}</a
          >
        </li>`
      }
    </ul>
  </section>`
}
