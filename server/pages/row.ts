import type { Dataset, Field, Table } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed, type Setting } from './frame.ts'
import { trailTo } from './table/tabs.ts'
import { html, safeAddress, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'
import { isNumber, titleOf } from './table/view.ts'

interface RowView {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  /** From 1, in the order of the table. */
  readonly number: number
  readonly count: number
  /** Of the fields as the table declares them. */
  readonly values: readonly (string | null)[]
}

/** One row, whole: a field a line, with what each means. */
export function rowPage(setting: Setting, view: RowView): Html {
  const { addresses, language, words } = setting
  const { dataset, table, number, count: rows, values } = view
  const { snapshot } = view.snapshot.manifest
  const { count } = writtenIn(words)
  const title = words.row(count(number))
  const link = (to: number, name: string): Html =>
    to < 1 || to > rows
      ? html`<span class="off">${name}</span>`
      : html`<a href="${addresses.row(language, table, to, snapshot)}">${name}</a>`
  const main = html`
    <h1>${dataset.name}: ${table.name}, ${title}</h1>
    <nav class="pager" aria-label="${words.page}">
      ${link(number - 1, words.previous)} ${words.row(count(number))} ${words.of} ${count(rows)}
      ${link(number + 1, words.next)}
    </nav>
    <dl class="facts-list row">
      ${table.fields.map(
        (field, index) =>
          html`<dt>
              ${titleOf(field)} ${field.description !== null && html`<small>${field.description}</small>`}
            </dt>
            <dd>${valuePart(setting, field, values[index] ?? null)}</dd>`,
      )}
    </dl>
  `
  return framed(setting, {
    title: `${table.name}, ${title}`,
    main,
    inLanguage: (other) => addresses.row(other, table, number, snapshot),
    trail: trailTo(setting, dataset, table),
  })
}

function valuePart({ words }: Setting, field: Field, value: string | null): Html {
  if (value === null) return html`<span class="null">${words.null}</span>`
  if (isNumber(field)) return html`<span class="number">${writtenIn(words).digits(value)}</span>`
  const address = safeAddress(value)
  if (address !== null) return html`<a href="${address}" rel="nofollow noopener">${value}</a>`
  return html`<span class="whole" dir="auto">${value}</span>`
}
