import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { FileAddresses } from '../http/addresses.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed, type Setting } from './frame.ts'
import { html, safeAddress, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

export interface DatasetView {
  readonly dataset: Dataset
  readonly current: (table: Table) => Snapshot | null
  readonly files: FileAddresses
  /** Absolute address of this page. */
  readonly address: string
  /** `YYYY-MM-DD`. */
  readonly today: string
}

/** What a dataset is, whose, and how to have it. */
export function datasetPage(setting: Setting, view: DatasetView): Html {
  const { addresses, language, words } = setting
  const { dataset, files, address, today } = view
  const { day } = writtenIn(words)
  const year = dataset.collectedAt.slice(0, 4)
  const main = html`
    <h1>${dataset.name}</h1>
    <p class="lead">${dataset.description}</p>
    <section>
      <h2>${words.tables}</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="${words.tables}">
        <table>
          <thead>
            <tr>
              <th scope="col">${words.table}</th>
              <th scope="col" class="number">${words.rowsHead}</th>
              <th scope="col">${words.imported}</th>
              <th scope="col">${words.download}</th>
            </tr>
          </thead>
          <tbody>
            ${[...dataset.tables.values()].map((table) => tableLine(setting, view, table))}
          </tbody>
        </table>
      </div>
      <p><a href="${files.sums(dataset)}">${words.sums}</a></p>
    </section>
    <section>
      <h2>${words.dataset}</h2>
      <dl class="facts-list">
        <dt>${words.author}</dt>
        <dd>${party(dataset.author)}</dd>
        <dt>${words.source}</dt>
        <dd>${party(dataset.source)}</dd>
        <dt>${words.license}</dt>
        <dd>${party(dataset.license)}</dd>
        <dt>${words.collected}</dt>
        <dd><time datetime="${dataset.collectedAt}">${day(dataset.collectedAt)}</time></dd>
        <dt>${words.code}</dt>
        <dd>${party({ name: dataset.codeUrl, url: dataset.codeUrl })}</dd>
      </dl>
    </section>
    <section>
      <h2>${words.cite}</h2>
      <blockquote class="cite">
        ${words.citation(dataset.author.name, dataset.name, year, address, day(today))}
      </blockquote>
    </section>
    ${
      dataset.links.length > 0 &&
      html`<details>
        <summary>${words.links} (${dataset.links.length})</summary>
        <ul>
          ${dataset.links.map(({ title, url }) => html`<li>${party({ name: title, url })}</li>`)}
        </ul>
      </details>`
    }
  `
  return framed(setting, {
    title: dataset.name,
    main,
    inLanguage: (other) => addresses.dataset(other, dataset),
    trail: [{ name: words.home, address: addresses.home(language) }],
  })
}

function tableLine(
  { addresses, language, words }: Setting,
  { current, files }: DatasetView,
  table: Table,
): Html {
  const snapshot = current(table)
  const { count, bytes, day } = writtenIn(words)
  const name = html`<th scope="row">
    <a href="${addresses.table(language, table)}">${table.name}</a>
    ${table.description !== null && html`<p class="facts">${table.description}</p>`}
  </th>`
  if (snapshot === null)
    return html`<tr>
      ${name}
      <td colspan="3">${words.notPublished}</td>
    </tr>`
  const { manifest } = snapshot
  const download = manifest.files[0]
  return html`<tr>
    ${name}
    <td class="number">${count(manifest.rows)}</td>
    <td><time datetime="${manifest.import_date}">${day(manifest.import_date)}</time></td>
    <td><a href="${files.download(table)}">CSV (gzip), ${bytes(download?.bytes ?? 0)}</a></td>
  </tr>`
}

function party({ name, url }: { readonly name: string; readonly url: string }): Html {
  const address = safeAddress(url)
  return address === null ? html`${name}` : html`<a href="${address}" rel="nofollow">${name}</a>`
}
