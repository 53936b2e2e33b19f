import type { Table } from '../../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { framed, type Setting } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../numbers.ts'
import { codesPart } from './codes.ts'
import { columnsForm } from './columns.ts'
import { chipsPart, filterForm } from './conditions.ts'
import { hintsPart } from './hints.ts'
import { downloadsPart } from './downloads.ts'
import { gridPart } from './grid.ts'
import { pagerPart } from './pager.ts'
import { tabsPart, trailTo } from './tabs.ts'
import { askOf, isTime, titleOf, type TableView } from './view.ts'

/** A table to look at: rows in their order, what they are like, and ways to fewer of them, or to all of them as a file. */
export function tablePage(setting: Setting, view: TableView): Html {
  const { addresses, language, words } = setting
  const { dataset, table, query, range, rows, snapshot } = view
  const { count, day } = writtenIn(words)
  const title = `${dataset.name}: ${table.name}`
  const { changed_at: changed, import_date: imported } = snapshot.manifest
  const isFiltered = query.conditions.length > 0 || query.words.length > 0
  const covered = coverageOf(table, snapshot.report)
  const main = html`
    <h1>${title}</h1>
    <p class="lead folded">${table.description ?? dataset.description}</p>
    <p class="facts">
      ${covered !== null && words.covers(covered.name, day(covered.from), day(covered.to))}
      ${changed === undefined ? words.importedOn(day(imported)) : words.changedLast(day(changed))}
      ${words.allRows}
      <a href="${addresses.dataset(language, dataset)}#cite">${words.cite}</a>
    </p>
    ${tabsPart(setting, table, 'table', askOf(view))}
    ${filterForm(setting, view, addresses.table(language, table))} ${chipsPart(setting, view)}
    <div class="above">
      <p class="count" role="status">
        ${
          range.count === 0
            ? words.nothing
            : words.showing(count(range.first + 1), count(range.first + rows.length), count(range.count))
        }
      </p>
      ${hintsPart(setting, view)} ${columnsForm(setting, view)} <a href="#downloads">${words.download}</a>
    </div>
    ${isFiltered && html`<p class="facts">${words.profilesOfAll}</p>`} ${gridPart(setting, view)}
    ${pagerPart(setting, view)} ${downloadsPart(setting, view)} ${codesPart(setting, view)}
  `
  return framed(setting, {
    title,
    description: table.description ?? dataset.description,
    main,
    inLanguage: (other) => addresses.table(other, table, query.parameters, range.page),
    trail: trailTo(setting, dataset),
  })
}

/** The first and the last day of the rows, where a field of days is among those that order them. */
function coverageOf(
  { fields, order }: Table,
  report: SnapshotReport | null,
): { readonly name: string; readonly from: string; readonly to: string } | null {
  const field = fields.find((one) => isTime(one) && order.some((key) => key.field === one.name))
  const found = report?.fields.find(({ name }) => name === field?.name)
  const [from = '', to = ''] = [found?.min, found?.max].map((text) => (text ?? '').slice(0, 10))
  const areDays = [from, to].every((text) => !Number.isNaN(Date.parse(text)))
  return field === undefined || !areDays ? null : { name: titleOf(field), from, to }
}
