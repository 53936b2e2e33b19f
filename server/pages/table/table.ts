import { framed, type Setting } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../numbers.ts'
import { codesPart } from './codes.ts'
import { columnsForm } from './columns.ts'
import { chipsPart, filterForm } from './conditions.ts'
import { downloadsPart } from './downloads.ts'
import { gridPart } from './grid.ts'
import { pagerPart } from './pager.ts'
import { tabsPart, trailTo } from './tabs.ts'
import { askOf, type TableView } from './view.ts'

/** A table to look at: rows in their order, what they are like, and ways to fewer of them, or to all of them as a file. */
export function tablePage(setting: Setting, view: TableView): Html {
  const { addresses, language, words } = setting
  const { dataset, table, query, range, rows, snapshot } = view
  const { count, day } = writtenIn(words)
  const title = `${dataset.name}: ${table.name}`
  const { changed_at: changed, import_date: imported } = snapshot.manifest
  const main = html`
    <h1>${title}</h1>
    <p class="lead folded">${table.description ?? dataset.description}</p>
    <p class="facts">
      ${changed === undefined ? words.importedOn(day(imported)) : words.changedLast(day(changed))}
      ${words.allRows}
      <a href="${addresses.dataset(language, dataset)}#cite">${words.cite}</a>
    </p>
    ${tabsPart(setting, table, 'table', askOf(view))} ${filterForm(setting, view)} ${chipsPart(setting, view)}
    <div class="above">
      <p class="count" role="status">
        ${
          range.count === 0
            ? words.nothing
            : words.showing(count(range.first + 1), count(range.first + rows.length), count(range.count))
        }
      </p>
      ${columnsForm(setting, view)} <a href="#downloads">${words.download}</a>
    </div>
    ${gridPart(setting, view)} ${pagerPart(setting, view)} ${downloadsPart(setting, view)}
    ${codesPart(setting, view)}
  `
  return framed(setting, {
    title,
    description: table.description ?? dataset.description,
    main,
    inLanguage: (other) => addresses.table(other, table, query.parameters, range.page),
    trail: trailTo(setting, dataset),
  })
}
