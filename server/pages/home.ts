import { titleOf } from '../documents/words/titles.ts'
import { listedDatasets, type Dataset, allTables } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './number-formats.ts'
import type { RequestHandler } from 'express'
import type { Language } from '../../core/catalog/names.ts'
import type { NamedResponse } from '../http/responder.ts'
import { unacceptableParameters } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { languageFor } from '../documents/words/all.ts'
import { parseQuery } from '../query/parameters.ts'
import { searchTerms, wordsMax } from '../query/search-terms.ts'
import type { findIndex } from '../routes/api-index.ts'
import { varyByBrowser, wantsPage } from '../http/negotiation.ts'
import { searchForm, searchPage } from './search/results.ts'
import { webPage, pageAt, type PageService } from './service.ts'

/** Number of recently changed tables on the home page. */
const latelyMax = 5

function homeHtml(service: PageService): Html {
  const { context, writing } = service
  const { catalog, addresses, language, words } = context
  const order = writtenIn(words).inOrder(listedDatasets(catalog).map(({ name }) => name))
  const datasets = listedDatasets(catalog).toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  const isPublished = ({ tables }: Dataset): boolean =>
    [...tables.values()].some((table) => service.snapshots.current(table) !== null)
  const published = datasets.filter(isPublished)
  const others = datasets.filter((dataset) => !isPublished(dataset))
  const main = html`
    <section class="hero">
      <h1>${catalog.title}</h1>
      <p class="lead">${catalog.description}</p>
      ${searchForm(context, '')}
    </section>
    <section>
      <h2>${words.datasets}</h2>
      <ul class="cards">
        ${published.map((dataset) => card(service, dataset))}
      </ul>
    </section>
    ${latelyPart(service)}
    ${
      others.length > 0 &&
      html`<section>
        <h2>${words.unpublished}</h2>
        <ul>
          ${others.map(({ slug, name }) => html`<li><a href="${addresses.dataset(language, { slug })}">${name}</a></li>`)}
        </ul>
      </section>`
    }
  `
  return framed(context, {
    title: catalog.title,
    description: catalog.description,
    main,
    hasSearch: true,
    feed: writing.documents.feed(),
    inLanguage: (other) => addresses.home(other),
  })
}

function card({ context, snapshots }: PageService, dataset: Dataset): Html {
  const { addresses, language, words } = context
  const tables = [...dataset.tables.values()]
  const published = tables.filter((table) => snapshots.current(table) !== null)
  const rows = published.reduce((sum, table) => sum + (snapshots.current(table)?.manifest.rows ?? 0), 0)
  const { count } = writtenIn(words)
  return html`<li class="card">
    <h3><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></h3>
    <p class="folded">${dataset.description}</p>
    <p class="facts">${words.tablesCount(tables.length, published.length)} · ${words.rows(count(rows))}</p>
  </li>`
}

function latelyPart({ context, snapshots }: PageService): Html | null {
  const { catalog, addresses, language, words } = context
  const changes = listedDatasets(catalog)
    .flatMap((dataset) =>
      [...dataset.tables.values()].map((table) => ({ dataset, table, snapshot: snapshots.current(table) })),
    )
    .flatMap(({ snapshot, ...rest }) => (snapshot === null ? [] : [{ ...rest, ...changeOf(snapshot) }]))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, latelyMax)
  if (changes.length === 0) return null
  const { day, count } = writtenIn(words)
  return html`<section>
    <h2>${words.lately}</h2>
    <ul class="lately">
      ${changes.map(
        ({ dataset, table, at, rows }) =>
          html`<li>
            <time datetime="${at}">${day(at)}</time>
            <a href="${addresses.table(language, table)}">${dataset.name}: ${titleOf(table)}</a>
            <span class="facts">${words.rows(count(rows))}</span>
            <a href="${addresses.files(language, dataset)}#${table.name}">${words.versions}</a>
          </li>`,
      )}
    </ul>
  </section>`
}

function changeOf({ manifest }: Snapshot): { at: string; rows: number } {
  return { at: manifest.changed_at ?? manifest.import_date, rows: manifest.rows }
}

/** Home page: all datasets, or the tables and values that a search finds. */
export function homePage(service: PageService): Resource {
  return { ...pageAt(service, '', 'Home'), find: ({ target }) => homeFor(service, target) }
}

/** Answers requests to `/`: browsers get the home page in their language, programs the index of the API. */
export function root(
  services: ReadonlyMap<Language, PageService>,
  index: ReturnType<typeof findIndex>,
): RequestHandler {
  return async (req, res) => {
    const service = services.get(languageFor(req.headers['accept-language']))
    if (service === undefined) throw new Error('there are no pages in this language')
    varyByBrowser(req, res)
    const answer = wantsPage(req.headers, req.url)
      ? homeFor(service, req.originalUrl)
      : index(req.originalUrl, req.headers)
    await service.responder.send(req, res, answer)
  }
}

function homeFor(service: PageService, target: string): NamedResponse {
  const { catalog, snapshots, writing } = service
  const text = parseQuery(target, ['q']).get('q') ?? ''
  const sought = [...new Set(searchTerms(text))]
  if (sought.length > wordsMax) {
    const message = `The parameter "q" holds more than ${wordsMax} words.`
    throw unacceptableParameters([{ parameter: 'q', message }])
  }
  const ids = allTables(catalog).map((table) => snapshots.current(table)?.manifest.snapshot ?? null)
  const answer =
    sought.length === 0
      ? webPage(service, ['home', ids], () => homeHtml(service))
      : searchPage(service, ['search', text, ids], text)
  const { documents } = writing
  const Link = [
    `<${documents.ofService('.well-known/api-catalog')}>; rel="api-catalog"`,
    `<${documents.catalog('jsonld')}>; rel="describedby"; type="application/ld+json"`,
  ].join(', ')
  return { ...answer, headers: { ...answer.headers, Link } }
}
