import { titleOf } from '../documents/words/titles.ts'
import { listedDatasets, type Dataset, type Table, allTables } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed, type PageContext } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import type { RequestHandler } from 'express'
import { themeNames, type Language } from '../../core/catalog/names.ts'
import type { NamedResponse } from '../http/responder.ts'
import { unacceptableParameters } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { languageFor } from '../documents/words/all.ts'
import { parseQuery } from '../query/parameters.ts'
import { searchTerms, wordsMax } from '../query/search-terms.ts'
import type { findApiIndex } from '../routes/api-index.ts'
import { varyByBrowser, wantsPage } from '../http/negotiation.ts'
import { searchForm, searchPage } from './search/results.ts'
import { sparkOf } from './chart/spark.ts'
import { subscribePart } from './cite.ts'
import { allCovered, coverageOf, timeText } from './coverage.ts'
import { webPageOf, pageAt, type PageService } from './service.ts'

const [latelyMax, updatesMax] = [5, 200]

interface PublishedDataset {
  readonly dataset: Dataset
  readonly tables: readonly { readonly table: Table; readonly snapshot: Snapshot }[]
}

function rowsOf({ tables }: PublishedDataset): number {
  return tables.reduce((sum, { snapshot }) => sum + snapshot.manifest.rows, 0)
}

function publishedDatasets({ context, snapshots }: PageService): PublishedDataset[] {
  const datasets = listedDatasets(context.catalog)
  const order = writtenIn(context.words).inOrder(datasets.map(({ name }) => name))
  return datasets
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((dataset) => ({
      dataset,
      tables: [...dataset.tables.values()]
        .flatMap((table) => {
          const snapshot = snapshots.current(table)
          return snapshot === null ? [] : [{ table, snapshot }]
        })
        .toSorted((a, b) => b.snapshot.manifest.rows - a.snapshot.manifest.rows),
    }))
    .filter(({ tables }) => tables.length > 0)
}

const sparksMax = 60

async function sparksOf(
  service: PageService,
  published: readonly PublishedDataset[],
): Promise<ReadonlyMap<string, Html | null>> {
  const sparks = new Map<string, Html | null>()
  // One after the other, since all at once could fill the queue.
  for (const { dataset, tables } of published.slice(0, sparksMax)) {
    for (const { table, snapshot } of tables.slice(0, 1))
      sparks.set(dataset.slug, await sparkOf(service, dataset, table, snapshot))
  }
  return sparks
}

function homeHtml(
  { context, writing }: PageService,
  published: readonly PublishedDataset[],
  sparks: ReadonlyMap<string, Html | null>,
  theme: Theme | null,
): Html {
  const { catalog, addresses, language, words } = context
  const unpublishedDatasets = listedDatasets(catalog).filter(
    ({ slug }) => !published.some(({ dataset }) => dataset.slug === slug),
  )
  const shownDatasets = published.filter(({ dataset }) => theme === null || dataset.themes.includes(theme))
  const main = html`
    <section class="hero">
      <h1>${catalog.title}</h1>
      <p class="lead">${catalog.description}</p>
      ${searchForm(context, '')} ${figuresPart(context, published)}
    </section>
    <section>
      <h2 class="unseen">${words.datasets}</h2>
      ${themesPart(context, published, theme)}
      <ul class="cards">
        ${shownDatasets.map((item) => card(context, item, sparks.get(item.dataset.slug) ?? null))}
      </ul>
    </section>
    ${latelyPart(context, published, writing.documents.feed(language))}
    ${
      unpublishedDatasets.length > 0 &&
      html`<section>
        <h2>${words.unpublished}</h2>
        <ul>
          ${unpublishedDatasets.map((dataset) => html`<li><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></li>`)}
        </ul>
      </section>`
    }
  `
  return framed(context, {
    title: catalog.title,
    description: catalog.description,
    main,
    hasSearchForm: true,
    feed: writing.documents.feed(language),
    inLanguage: (target) => addresses.home(target) + themeQuery(theme),
  })
}

function figuresPart({ words }: PageContext, published: readonly PublishedDataset[]): Html | null {
  const [newest] = changesOf(published)
  if (newest === undefined) return null
  const { count, day } = writtenIn(words)
  const rows = published.reduce((sum, item) => sum + rowsOf(item), 0)
  const figures = [
    [count(published.length), words.datasets],
    [count(rows), words.rowsHead],
    [day(newest.at), words.latest],
  ]
  return html`<dl class="figures">
    ${figures.map(
      ([figure, name]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${figure}</dd>
        </div>`,
    )}
  </dl>`
}

type Theme = Dataset['themes'][number]

function themeQuery(theme: Theme | null): string {
  return theme === null ? '' : `?theme=${theme}`
}

function themesPart(
  { addresses, language, words }: PageContext,
  published: readonly PublishedDataset[],
  shownTheme: Theme | null,
): Html | null {
  const themes = [...new Set(published.flatMap(({ dataset }) => dataset.themes))]
  if (themes.length < 2) return null
  const link = (theme: Theme | null, name: string): Html =>
    html`<a
      href="${addresses.home(language)}${themeQuery(theme)}"
      ${theme === shownTheme && html`aria-current="true"`}
      >${name}</a
    >`
  return html`<nav class="themes" aria-label="${words.themes}">
    ${link(null, words.allThemes)} ${themes.map((theme) => link(theme, words.themeNames[theme]))}
  </nav>`
}

function card(context: PageContext, published: PublishedDataset, spark: Html | null): Html {
  const { addresses, language, words } = context
  const { dataset, tables } = published
  const { count } = writtenIn(words)
  const period = allCovered(tables.map(({ table, snapshot }) => coverageOf(table, snapshot.report)))
  return html`<li class="card">
    <p class="facts">${dataset.themes.slice(0, 1).map((theme) => words.themeNames[theme])}</p>
    <h3><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></h3>
    <p class="folded">${dataset.description}</p>
    ${spark}
    <p class="facts">
      <span
        >${words.tablesCount(dataset.tables.size, tables.length)} ·
        ${words.rows(count(rowsOf(published)))}</span
      >
      ${period !== null && html`<span>${words.until(timeText(words, period.to))}</span>`}
    </p>
  </li>`
}

function changesOf(published: readonly PublishedDataset[]) {
  return published
    .flatMap(({ dataset, tables }) =>
      tables.map(({ table, snapshot: { manifest } }) => ({
        dataset,
        table,
        at: manifest.changed_at ?? manifest.import_date,
        rows: manifest.rows,
      })),
    )
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

function latelyPart(context: PageContext, published: readonly PublishedDataset[], feed: string): Html | null {
  const { addresses, language, words } = context
  const changes = changesOf(published).slice(0, updatesMax)
  if (changes.length === 0) return null
  const { day, count } = writtenIn(words)
  const list = (listed: typeof changes): Html =>
    html`<ul class="lately">
      ${listed.map(
        ({ dataset, table, at, rows }) =>
          html`<li>
            <time datetime="${at}">${day(at)}</time>
            <a href="${addresses.table(language, table)}">${dataset.name}: ${titleOf(table)}</a>
            <span class="facts">${words.rows(count(rows))}</span>
            <a href="${addresses.aspect(language, table, 'changes')}">${words.versions}</a>
          </li>`,
      )}
    </ul>`
  return html`<section>
    <div class="head">
      <h2>${words.lately}</h2>
      <div class="actions">${subscribePart(context, feed)}</div>
    </div>
    ${list(changes.slice(0, latelyMax))}
    ${
      changes.length > latelyMax &&
      html`<details>
        <summary>${words.earlierUpdates(count(changes.length - latelyMax))}</summary>
        ${list(changes.slice(latelyMax))}
      </details>`
    }
  </section>`
}

export function homePage(service: PageService): Resource {
  return { ...pageAt(service, '', 'Home'), find: ({ target }) => homeFor(service, target) }
}

/** Browsers get the home page in their language, programs the index of the API. */
export function rootHandler(
  services: ReadonlyMap<Language, PageService>,
  index: ReturnType<typeof findApiIndex>,
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
  const parameters = parseQuery(target, ['q', 'theme'])
  const text = parameters.get('q') ?? ''
  const searchedTerms = [...new Set(searchTerms(text))]
  if (searchedTerms.length > wordsMax) {
    const message = `The parameter "q" holds more than ${wordsMax} words.`
    throw unacceptableParameters([{ parameter: 'q', message }])
  }
  const themeName = parameters.get('theme') ?? ''
  const theme = themeNames.find((name) => name === themeName) ?? null
  if (themeName !== '' && theme === null) {
    const message = `The parameter "theme" must be one of ${themeNames.join(', ')}.`
    throw unacceptableParameters([{ parameter: 'theme', message }])
  }
  const snapshotIds = allTables(catalog).map((table) => snapshots.current(table)?.manifest.snapshot ?? null)
  const answer =
    searchedTerms.length === 0
      ? webPageOf(
          service,
          ['home', snapshotIds, theme],
          async () => {
            const published = publishedDatasets(service)
            return { published, sparks: await sparksOf(service, published) }
          },
          ({ published, sparks }) => homeHtml(service, published, sparks, theme),
        )
      : searchPage(service, ['search', text, snapshotIds], text)
  const { documents } = writing
  const Link = [
    `<${documents.ofService('.well-known/api-catalog')}>; rel="api-catalog"`,
    `<${documents.catalog('jsonld')}>; rel="describedby"; type="application/ld+json"`,
  ].join(', ')
  return { ...answer, headers: { ...answer.headers, Link } }
}
