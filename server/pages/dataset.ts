import { titleOf } from '../documents/words/titles.ts'
import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { Cited } from '../documents/citation.ts'
import { citationsPart, citedDataset, subscribePart } from './cite.ts'
import { framed, type PageContext } from './frame.ts'
import { html, stackedTable, type Html, partyPart } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { freshnessPart, provenancePart, type TableProvenance } from './provenance.ts'
import { schemaOrgOf } from '../documents/dataset/schema-org.ts'
import { linkHeader, signposts } from '../documents/links.ts'
import { descriptions } from '../documents/registry.ts'
import type { Resource } from '../http/resource.ts'
import { parseQuery } from '../query/parameters.ts'
import { describeDataset } from '../routes/documents/service.ts'
import { findDataset } from '../routes/find.ts'
import { sparkOf } from './chart/spark.ts'
import { allCovered, coverageOf, coverageText, plausibleCollection } from './coverage.ts'
import { webPageOf, pageAt, type PageService } from './service.ts'

type ShownTable = TableProvenance & { readonly spark: Html | null }

function datasetHtml(service: PageService, cited: Cited, shownTables: readonly ShownTable[]): Html {
  const { context, snapshots, writing, files } = service
  const { addresses, language, words } = context
  const { dataset } = cited
  const feed = writing.documents.datasetFeed(dataset, language)
  const main = html`
    <div class="head">
      <h1>${dataset.name}</h1>
      <div class="actions">
        <details class="menu end">
          <summary>${words.citeIt}</summary>
          <div>
            ${citationsPart(context, cited)}
            <p><a href="${addresses.citation(language, dataset)}" download>${words.download} BibTeX</a></p>
          </div>
        </details>
        ${subscribePart(context, feed)}
      </div>
    </div>
    <p class="lead">${dataset.description}</p>
    ${shownTables.length === 0 && html`<p role="status">${words.nothingPublished}</p>`}
    ${summaryPart(context, cited, shownTables)}
    ${dataset.tables.size > 0 && tablesPart(service, dataset, shownTables)}
    ${provenancePart(context, shownTables)}
    ${
      dataset.links.length > 0 &&
      html`<details>
        <summary>${words.links} (${dataset.links.length})</summary>
        <ul>
          ${dataset.links.map(({ title, url }) => html`<li>${partyPart({ name: title, url })}</li>`)}
        </ul>
      </details>`
    }
    ${
      shownTables.length > 0 &&
      html`<section>
        <h2>${words.files}</h2>
        <p>
          <a href="${addresses.files(language, dataset)}">${words.filesOf}</a> ·
          <a href="${files.sums(dataset)}">${words.sums}</a>
        </p>
      </section>`
    }
  `
  return framed(context, {
    title: dataset.name,
    description: dataset.description,
    main,
    data: schemaOrgOf(writing, describeDataset(snapshots, dataset), language),
    feed,
    inLanguage: (target) => addresses.dataset(target, dataset),
    trail: [],
  })
}

function summaryPart(
  context: PageContext,
  { dataset, today }: Cited,
  shownTables: readonly ShownTable[],
): Html {
  const { words } = context
  const { day } = writtenIn(words)
  const { codeUrl } = dataset
  const tables = [...dataset.tables.values()]
  const meanings = tables.flatMap((table) => {
    const { rowMeaning } = table
    return rowMeaning === null ? [] : [tables.length === 1 ? rowMeaning : `${titleOf(table)}: ${rowMeaning}`]
  })
  const period = allCovered(shownTables.map(({ table, report }) => coverageOf(table, report)))
  const collectionDate = plausibleCollection(dataset.collectedAt, period)
  return html`<dl class="facts-list">
    ${factPart(words.oneRow, meanings.length > 0 && html`${meanings.map((meaning) => html`<div>${meaning}</div>`)}`)}
    ${factPart(words.period, period && coverageText(words, period))}
    ${factPart(words.updates, shownTables.length > 0 && freshnessPart(context, dataset, shownTables, today))}
    ${factPart(words.author, dataset.author && partyPart(dataset.author))}
    ${factPart(words.source, dataset.source && partyPart(dataset.source))}
    ${factPart(words.license, dataset.license && partyPart(dataset.license))}
    ${factPart(words.collected, collectionDate && html`<time datetime="${collectionDate}">${day(collectionDate)}</time>`)}
    ${factPart(words.code, codeUrl !== null && partyPart({ name: codeUrl, url: codeUrl }))}
  </dl>`
}

function factPart(name: string, value: Html | string | false | null): Html | null {
  return value === false || value === null
    ? null
    : html`<dt>${name}</dt>
        <dd>${value}</dd>`
}

function tablesPart(service: PageService, dataset: Dataset, shownTables: readonly ShownTable[]): Html {
  const { words } = service.context
  const numericHead: [string] = [words.rowsHead]
  return html`<section>
    <h2>${words.tables}</h2>
    ${stackedTable(
      words.tables,
      [words.table, words.aspects.chart, numericHead, words.wholeTable],
      [...dataset.tables.values()].map((table) =>
        tableLine(
          service,
          table,
          shownTables.find((item) => item.table === table),
        ),
      ),
    )}
  </section>`
}

function tableLine({ context, files }: PageService, table: Table, shownTable: ShownTable | undefined): Html {
  const { addresses, language, words } = context
  const { count, bytes } = writtenIn(words)
  const period = shownTable === undefined ? null : coverageOf(table, shownTable.report)
  const name = html`<th scope="row">
    ${shownTable === undefined ? titleOf(table) : html`<a href="${addresses.table(language, table)}">${titleOf(table)}</a>`}
    ${period !== null && html`<p class="facts">${coverageText(words, period)}</p>`}
    ${table.description !== null && html`<p class="facts">${table.description}</p>`}
  </th>`
  if (shownTable === undefined)
    return html`<tr>
      ${name}
      <td colspan="3">${words.notPublished}</td>
    </tr>`
  const { manifest, spark } = shownTable
  const [csvFile] = manifest.files
  return html`<tr>
    ${name}
    <td class="drawn">${spark}</td>
    <td class="number" data-label="${words.rowsHead}">${count(manifest.rows)}</td>
    <td>
      ${manifest.rows <= table.excelRowsMax && html`<a href="${addresses.workbook(language, table, new Map())}" rel="nofollow">${words.download} Excel</a><br />`}
      <a href="${files.download(table)}">${words.download} CSV (gzip), ${bytes(csvFile?.bytes ?? 0)}</a>
    </td>
  </tr>`
}

export function datasetPage(service: PageService): Resource {
  const { catalog, snapshots, context, writing } = service
  return {
    ...pageAt(service, '/dataset/:dataset', 'Dataset'),
    find: async ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      parseQuery(target, [])
      const cited = citedDataset(service, dataset)
      const provenances = await provenancesOf(service, dataset)
      const key = [cited.today, provenances.map(({ manifest, lastCheck }) => [manifest.snapshot, lastCheck])]
      const view = describeDataset(snapshots, dataset)
      const answer = webPageOf(
        service,
        ['dataset', dataset.slug, ...key],
        () => withSparks(service, dataset, provenances),
        (shownTables) => datasetHtml(service, cited, shownTables),
      )
      const linksetAddress = writing.documents.ofDataset(dataset, 'linkset.json')
      const Link = linkHeader(signposts(writing, view, context.language, descriptions), linksetAddress)
      return { ...answer, headers: { ...answer.headers, Link } }
    },
  }
}

async function provenancesOf({ snapshots }: PageService, dataset: Dataset): Promise<TableProvenance[]> {
  const provenances: TableProvenance[] = []
  for (const table of dataset.tables.values()) {
    const snapshot = snapshots.current(table)
    if (snapshot === null) continue
    const { manifest, report } = snapshot
    provenances.push({ table, manifest, report, lastCheck: await snapshots.lastCheck(table) })
  }
  return provenances
}

async function withSparks(
  service: PageService,
  dataset: Dataset,
  provenances: readonly TableProvenance[],
): Promise<ShownTable[]> {
  const shownTables: ShownTable[] = []
  for (const provenance of provenances) {
    const snapshot = service.snapshots.current(provenance.table)
    const isCurrent = snapshot?.manifest === provenance.manifest
    shownTables.push({
      ...provenance,
      spark: isCurrent ? await sparkOf(service, dataset, provenance.table, snapshot) : null,
    })
  }
  return shownTables
}
