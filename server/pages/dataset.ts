import { titleOf } from '../documents/words/titles.ts'
import type { Dataset, Originator, Table } from '../../core/catalog/catalog.ts'
import { citationsPart, citedDataset, type Cited } from './cite.ts'
import { framed, type PageContext } from './frame.ts'
import { html, stackedTable, type Html, partyPart } from './html.ts'
import { writtenIn } from './number-formats.ts'
import { provenancePart, type TableProvenance } from './provenance.ts'
import { schemaOrgOf } from '../documents/dataset/schema-org.ts'
import { linkHeader, signposts } from '../documents/links.ts'
import { describing } from '../documents/registry.ts'
import type { Resource } from '../http/resource.ts'
import { parseQuery } from '../query/parameters.ts'
import { describeDataset } from '../routes/documents/service.ts'
import { findDataset } from '../routes/find.ts'
import { webPage, pageAt, type PageService } from './service.ts'

/** @param truths dates and ingest report of each published table */
function datasetHtml(service: PageService, cited: Cited, truths: readonly TableProvenance[]): Html {
  const { context, snapshots, writing } = service
  const { addresses, language, words } = context
  const { dataset, today } = cited
  const main = html`
    <div class="head">
      <h1>${dataset.name}</h1>
      <div class="actions">
        <a class="button" href="#cite">${words.citeIt}</a>
        <a class="button" href="${writing.documents.datasetFeed(dataset)}">${words.subscribe}</a>
      </div>
    </div>
    <p class="lead">${dataset.description}</p>
    ${tablesPart(service, dataset)} ${citePart(context, cited)}
    ${provenancePart(context, dataset, truths, today)} ${factsPart(context, dataset)}
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
  return framed(context, {
    title: dataset.name,
    description: dataset.description,
    main,
    data: schemaOrgOf(writing, describeDataset(snapshots, dataset), language),
    feed: writing.documents.datasetFeed(dataset),
    inLanguage: (other) => addresses.dataset(other, dataset),
    trail: [],
  })
}

function tablesPart(service: PageService, dataset: Dataset): Html {
  const { context, files } = service
  const { addresses, language, words, catalog } = context
  const tables = [...dataset.tables.values()]
  return html`<section>
    <h2>${words.tables}</h2>
    ${stackedTable(
      words.tables,
      [words.table, [words.rowsHead], words.imported, words.wholeTable],
      tables.map((table) => tableLine(service, table)),
    )}
    <p>
      <a href="${addresses.files(language, dataset)}">${words.filesOf}</a> ·
      <a href="${files.sums(dataset)}">${words.sums}</a>
    </p>
    <p class="facts">${catalog.notice}</p>
  </section>`
}

function tableLine({ context, snapshots, files }: PageService, table: Table): Html {
  const { addresses, language, words } = context
  const snapshot = snapshots.current(table)
  const { count, bytes, day } = writtenIn(words)
  const name = html`<th scope="row">
    ${snapshot === null ? titleOf(table) : html`<a href="${addresses.table(language, table)}">${titleOf(table)}</a>`}
    ${table.rowMeaning !== null && html`<p class="facts">${words.eachRow(table.rowMeaning)}</p>`}
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
    </td>
  </tr>`
}

function citePart(context: PageContext, cited: Cited): Html {
  const { addresses, language, words } = context
  return html`<section id="cite">
    <h2>${words.cite}</h2>
    ${citationsPart(context, cited)}
    <p><a href="${addresses.citation(language, cited.dataset)}" download>${words.download} BibTeX</a></p>
  </section>`
}

function factsPart({ words }: PageContext, dataset: Dataset): Html {
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

function factPart(what: string, party: Originator | null): Html {
  return party === null
    ? html``
    : html`<dt>${what}</dt>
        <dd>${partyPart(party)}</dd>`
}

/** Page of a dataset: description, tables, sources, dates, citation. */
export function datasetPage(service: PageService): Resource {
  const { catalog, snapshots, context, writing } = service
  return {
    ...pageAt(service, '/dataset/:dataset', 'Dataset'),
    find: async ({ params, target }) => {
      const found = findDataset(catalog, params)
      parseQuery(target, [])
      const cited = citedDataset(service, found)
      const truths = await truthsOf(service, found)
      const key = [cited.today, truths.map(({ manifest, lastCheck }) => [manifest.snapshot, lastCheck])]
      const view = describeDataset(snapshots, found)
      const answer = webPage(service, ['dataset', found.slug, ...key], () =>
        datasetHtml(service, cited, truths),
      )
      const linksetAddress = writing.documents.ofDataset(found, 'linkset.json')
      const Link = linkHeader(signposts(writing, view, context.language, describing), linksetAddress)
      return { ...answer, headers: { ...answer.headers, Link } }
    },
  }
}

async function truthsOf({ snapshots }: PageService, dataset: Dataset): Promise<TableProvenance[]> {
  const truths: TableProvenance[] = []
  for (const table of dataset.tables.values()) {
    const snapshot = snapshots.current(table)
    if (snapshot === null) continue
    const { manifest, report } = snapshot
    truths.push({ table, manifest, report, lastCheck: await snapshots.lastCheck(table) })
  }
  return truths
}
