import type { Dataset, Party, Table } from '../../core/catalog/catalog.ts'
import type { FileAddresses } from '../http/addresses.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { bibtex, citation } from './cite.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { codePart, partyPart } from './link.ts'
import { writtenIn } from './numbers.ts'
import { truthPart, type TableTruth } from './truth.ts'

interface DatasetView {
  readonly dataset: Dataset
  readonly current: (table: Table) => Snapshot | null
  readonly truths: readonly TableTruth[]
  readonly files: FileAddresses
  /** Absolute address of this page. */
  readonly address: string
  /** `YYYY-MM-DD`. */
  readonly today: string
  /** What it says to search engines. */
  readonly data: Readonly<Record<string, unknown>>
  readonly feed: string
}

/** What a dataset is, whose, how fresh, and how to have it. */
export function datasetPage(setting: Setting, view: DatasetView): Html {
  const { addresses, language, words } = setting
  const { dataset, truths, today, data, feed } = view
  const main = html`
    <h1>${dataset.name}</h1>
    <p class="lead">${dataset.description}</p>
    ${tablesPart(setting, view)} ${citePart(setting, view)} ${truthPart(setting, dataset, truths, today)}
    ${factsPart(setting, dataset)}
    ${
      dataset.links.length > 0 &&
      html`<details>
        <summary>${words.links} (${dataset.links.length})</summary>
        <ul>
          ${dataset.links.map(({ title, url }) => html`<li>${partyPart({ name: title, url })}</li>`)}
        </ul>
      </details>`
    }
  `
  return framed(setting, {
    title: dataset.name,
    description: dataset.description,
    main,
    data,
    feed,
    inLanguage: (other) => addresses.dataset(other, dataset),
    trail: [{ name: words.home, address: addresses.home(language) }],
  })
}

function tablesPart(setting: Setting, view: DatasetView): Html {
  const { addresses, language, words, catalog } = setting
  const { dataset, files } = view
  const tables = [...dataset.tables.values()]
  return html`<section>
    <h2>${words.tables}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.tables}">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">${words.table}</th>
            <th scope="col" class="number">${words.rowsHead}</th>
            <th scope="col">${words.imported}</th>
            <th scope="col">${words.wholeTable}</th>
          </tr>
        </thead>
        <tbody>
          ${tables.map((table) => tableLine(setting, view, table))}
        </tbody>
      </table>
    </div>
    <p>
      <a href="${addresses.files(language, dataset)}">${words.filesOf}</a> ·
      <a href="${files.sums(dataset)}">${words.sums}</a>
    </p>
    <p class="facts">${catalog.notice}</p>
  </section>`
}

function tableLine(
  { addresses, language, words }: Setting,
  { current, files }: DatasetView,
  table: Table,
): Html {
  const snapshot = current(table)
  const { count, bytes, day } = writtenIn(words)
  const name = html`<th scope="row">
    ${snapshot === null ? table.name : html`<a href="${addresses.table(language, table)}">${table.name}</a>`}
    ${table.description !== null && html`<p class="facts">${table.description}</p>`}
  </th>`
  if (snapshot === null)
    return html`<tr>
      ${name}
      <td colspan="3">${words.notPublished}</td>
    </tr>`
  const { manifest } = snapshot
  const [download] = manifest.files
  return html`<tr>
    ${name}
    <td class="number" data-label="${words.rowsHead}">${count(manifest.rows)}</td>
    <td data-label="${words.imported}">
      <time datetime="${manifest.import_date}">${day(manifest.import_date)}</time>
    </td>
    <td>
      <a href="${files.download(table)}">${words.download} CSV (gzip), ${bytes(download?.bytes ?? 0)}</a>
      <details>
        <summary>SHA-512</summary>
        <code class="sum">${download?.sha512}</code>
      </details>
    </td>
  </tr>`
}

function citePart({ addresses, language, words }: Setting, { dataset, address, today }: DatasetView): Html {
  const cited = { dataset, address, today }
  return html`<section id="cite">
    <h2>${words.cite}</h2>
    ${codePart(citation(cited, words), words)}
    <details>
      <summary>BibTeX</summary>
      ${codePart(bibtex(cited), words)}
      <p><a href="${addresses.citation(language, dataset)}" download>${words.download} BibTeX</a></p>
    </details>
  </section>`
}

function factsPart({ words }: Setting, dataset: Dataset): Html {
  const { day } = writtenIn(words)
  const { codeUrl } = dataset
  return html`<section>
    <h2>${words.dataset}</h2>
    <dl class="facts-list">
      ${factPart(words.author, dataset.author)} ${factPart(words.source, dataset.source)}
      ${factPart(words.license, dataset.license)}
      <dt>${words.collected}</dt>
      <dd><time datetime="${dataset.collectedAt}">${day(dataset.collectedAt)}</time></dd>
      ${factPart(words.code, codeUrl === null ? null : { name: codeUrl, url: codeUrl })}
    </dl>
  </section>`
}

function factPart(what: string, party: Party | null): Html {
  return party === null
    ? html``
    : html`<dt>${what}</dt>
        <dd>${partyPart(party)}</dd>`
}
