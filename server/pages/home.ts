import { titleOf } from './table/view.ts'
import { listedDatasets, type Dataset, type Table, allTables } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './number-formats.ts'
import type { RequestHandler } from 'express'
import type { Language } from '../../core/catalog/names.ts'
import type { NamedResponse } from '../http/responder.ts'
import { unacceptableParameters } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { languageFor } from './words/all.ts'
import { foldText } from '../../core/folding.ts'
import { parseQuery } from '../query/parameters.ts'
import { formatWords, matcher, searchTerm, searchTerms, wordsMax } from '../query/search-terms.ts'
import type { findIndex } from '../routes/api-index.ts'
import { varyByBrowser, wantsPage } from '../http/negotiation.ts'
import { webPage, pageAt, type PageService } from './service.ts'

/** Number of recently changed tables on the home page. */
const latelyMax = 5
/** Maximum number of tables and fields of a dataset in a search result. */
const placesMax = 8

/** @param sought search words; none for all datasets */
function homeHtml(service: PageService, sought: readonly string[]): Html {
  const { context, writing } = service
  const { catalog, addresses, language, words } = context
  const matchers = sought.map(matcherOf)
  const text = formatWords(sought)
  const order = writtenIn(words).inOrder(listedDatasets(catalog).map(({ name }) => name))
  const found = listedDatasets(catalog)
    .filter((dataset) => isFound(dataset, matchers))
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  const main = html`
    <section class="hero">
      <h1>${catalog.title}</h1>
      <p class="lead">${catalog.description}</p>
      <form class="find" role="search" action="${addresses.home(language)}" method="get">
        <label for="q" class="unseen">${words.findHint}</label>
        <input id="q" name="q" type="search" value="${text}" placeholder="${words.findHint}" />
        <button>${words.find}</button>
      </form>
    </section>
    ${sought.length === 0 && latelyPart(service)}
    <section>
      <h2>${sought.length === 0 ? words.datasets : words.found(found.length)}</h2>
      ${
        sought.length > 0 &&
        html`<p>
          ${found.length === 0 && words.nothingFound}
          <a href="${addresses.home(language)}">${words.backHome}</a>
        </p>`
      }
      <ul class="cards">
        ${found.map((dataset) => card(service, dataset, matchers))}
      </ul>
    </section>
  `
  return framed(context, {
    title: catalog.title,
    description: catalog.description,
    main,
    feed: writing.documents.feed(),
    inLanguage: (other) =>
      addresses.home(other) + (sought.length === 0 ? '' : `?${new URLSearchParams({ q: text }).toString()}`),
  })
}

function card({ context, snapshots }: PageService, dataset: Dataset, matchers: readonly Matcher[]): Html {
  const { addresses, language, words } = context
  const tables = [...dataset.tables.values()]
  const published = tables.filter((table) => snapshots.current(table) !== null)
  const rows = published.reduce((sum, table) => sum + (snapshots.current(table)?.manifest.rows ?? 0), 0)
  const { count } = writtenIn(words)
  const places = matchers.length === 0 ? [] : placesOf(published, matchers)
  return html`<li class="card">
    <h3><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></h3>
    <p class="folded">${dataset.description}</p>
    <p class="facts">
      ${words.tablesCount(tables.length, published.length)} ·
      ${published.length === 0 ? words.notPublished : words.rows(count(rows))}
    </p>
    ${
      places.length > 0 &&
      html`<ul class="places">
        ${places.map(
          ({ table, field }) =>
            html`<li>
              <a
                href="${field === null ? addresses.table(language, table) : addresses.aspect(language, table, 'fields')}"
                >${titleOf(table)}${field !== null && ` › ${field}`}</a
              >
            </li>`,
        )}
      </ul>`
    }
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

/** Returns whether the texts of a dataset contain every word. */
/** Test of folded texts. */
type Matcher = (text: string) => boolean

function matcherOf(word: string): Matcher {
  const term = searchTerm(word)
  return matcher(term, foldText(term.text))
}

function isFound(dataset: Dataset, matchers: readonly Matcher[]): boolean {
  const foldedTexts = [
    dataset.slug,
    dataset.name,
    dataset.description,
    dataset.author?.name ?? '',
    dataset.source?.name ?? '',
    ...[...dataset.tables.values()].flatMap((table) => [
      ...textsOfTable(table),
      ...table.fields.flatMap(textsOfField),
    ]),
  ].map(foldText)
  return matchers.every((matches) => foldedTexts.some(matches))
}

interface Place {
  readonly table: Table
  /** Title of a matching field; null if the texts of the table itself match. */
  readonly field: string | null
}

/** Returns published tables and fields with a text that contains one of the words. */
function placesOf(tables: readonly Table[], matchers: readonly Matcher[]): Place[] {
  const hasWord = (texts: readonly string[]): boolean => {
    const foldedTexts = texts.map(foldText)
    return matchers.some((matches) => foldedTexts.some(matches))
  }
  const places: Place[] = []
  for (const table of tables) {
    if (hasWord(textsOfTable(table))) places.push({ table, field: null })
    for (const field of table.fields) {
      if (places.length >= placesMax) return places
      if (hasWord(textsOfField(field))) places.push({ table, field: titleOf(field) })
    }
  }
  return places
}

function textsOfTable({ name, title, description }: Table): string[] {
  return [name, title ?? '', description ?? '']
}

function textsOfField({ name, title, description }: Table['fields'][number]): string[] {
  return [name, title ?? '', description ?? '']
}

/** Home page: all datasets, or those found by a search in their texts, tables and fields. */
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
  const answer = webPage(service, ['home', sought, ids], () => homeHtml(service, sought))
  const { documents } = writing
  const Link = [
    `<${documents.ofService('.well-known/api-catalog')}>; rel="api-catalog"`,
    `<${documents.catalog('jsonld')}>; rel="describedby"; type="application/ld+json"`,
  ].join(', ')
  return { ...answer, headers: { ...answer.headers, Link } }
}
