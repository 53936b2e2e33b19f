import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import { isSnapshotId } from '../../core/warehouse/layout.ts'
import { cells } from '../formats/cells.ts'
import { addressesOf, fileAddresses, withQuery } from '../http/addresses.ts'
import { Problem } from '../http/problems.ts'
import { nameOf, type NamedResponse, type Responder } from '../http/responder.ts'
import type { Resource } from '../http/resource.ts'
import { pageAddresses } from '../pages/addresses.ts'
import { datasetPage } from '../pages/dataset.ts'
import { fieldsPage } from '../pages/fields.ts'
import type { Setting } from '../pages/frame.ts'
import { homePage } from '../pages/home.ts'
import { textOf, type Html } from '../pages/html.ts'
import { rowPage } from '../pages/row.ts'
import { style, styleName } from '../pages/style.ts'
import { tablePage } from '../pages/table.ts'
import type { TableView } from '../pages/view.ts'
import { wordsOf } from '../pages/words/all.ts'
import type { Language } from '../pages/words/words.ts'
import { InvalidPage } from '../query/errors.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { parametersOf, parseQuery } from '../query/string.ts'
import type { PageLinks } from '../representations/envelope.ts'
import { pageBody, pageOf, type Page, type PageBody } from '../representations/page.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { findDataset, findTable, notPublished } from './find.ts'
import { problemOf } from './problem-of.ts'
import type { RowService } from './services.ts'

/** Raised when pages are written in another way, so that no cache takes old ones for new. */
const representation = 1

/** Rows that people look at, where they do not say how many. */
const pageSize = 50

/** No script or style but ours, no frame, no form to elsewhere. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Links are those of the page, not of its answer. */
const noLinks: PageLinks = { to: () => '', alternates: () => [], wholeFile: '' }

/** The pages for people in a language: what there is, a dataset, a table, its fields, a row. */
export function pagesIn(language: Language, service: RowService, responder: Responder): Resource[] {
  const { catalog, publicUrl, snapshots, freshness, startedAt } = service
  const addresses = pageAddresses(publicUrl, styleName)
  const files = fileAddresses(publicUrl)
  const setting: Setting = { catalog, addresses, language, words: wordsOf[language] }
  const current = (table: Table): Snapshot | null => snapshots.current(table)
  const idOf = (table: Table): string => current(table)?.manifest.snapshot ?? 'none'
  const named = (key: readonly unknown[]): Omit<NamedResponse, 'body'> => ({
    name: nameOf(JSON.stringify([representation, styleName, language, ...key])),
    lastModified: startedAt.toUTCString(),
    cacheControl: freshness.changing,
    mediaType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy, 'Content-Language': setting.words.locale },
    isAtHand: false,
  })
  const document = (key: readonly unknown[], page: () => Html): NamedResponse => ({
    ...named(key),
    body: async () => ({ pieces: [await textOf(page())] }),
  })
  const common = (path: string, name: string): Omit<Resource, 'find' | 'respond'> => ({
    path: `/${language}${path}`,
    name,
    description: `A page for people. ${catalog.notice}`,
    limiter: service.limiter,
  })
  return [
    {
      ...common('', 'Home'),
      find: ({ target }) => {
        const sought = (parseQuery(target, ['q']).get('q') ?? '').trim()
        const all = [...catalog.datasets.values()].flatMap(({ tables }) => [...tables.values()])
        return document(['home', sought, all.map(idOf)], () => homePage(setting, { sought, current }))
      },
    },
    {
      ...common('/dataset/:dataset', 'Dataset'),
      find: ({ params, target }) => {
        const dataset = findDataset(catalog, params)
        parseQuery(target, [])
        const address = `${publicUrl.origin}${addresses.dataset(language, dataset)}`
        const today = new Date().toISOString().slice(0, 10)
        const key = ['dataset', dataset.slug, [...dataset.tables.values()].map(idOf), today]
        return document(key, () => datasetPage(setting, { dataset, current, files, address, today }))
      },
    },
    {
      ...common('/dataset/:dataset/:table/fields', 'Fields'),
      find: ({ params, target }) => {
        const dataset = findDataset(catalog, params)
        const table = findTable(dataset, params)
        parseQuery(target, [])
        return document(['fields', dataset.slug, table.name, idOf(table)], () =>
          fieldsPage(setting, { dataset, table, report: current(table)?.report ?? null }),
        )
      },
    },
    {
      ...common('/dataset/:dataset/:table', 'Table'),
      respond: async ({ params, target, client }, req, res) => {
        const dataset = findDataset(catalog, params)
        const table = findTable(dataset, params)
        const tidy = tidied(target)
        if (tidy !== null) {
          res.statusCode = 303
          // Relative, so it holds behind any proxy.
          res.setHeader('Location', `./${tidy}`)
          res.end()
          return
        }
        const query = parseRowQuery(table, target, ['format'], pageSize)
        await service.snapshots.use(table, pinnedBy(query), async (snapshot) => {
          if (snapshot === null) throw notPublished(table, snapshots.fault(table))
          const page = pageOf(snapshot, query, cells, noLinks)
          await responder.send(req, res, {
            ...named(['table', table.dataset, page.key, query.page, query.key]),
            lastModified: snapshot.lastModified,
            body: async (signal) => {
              const body = await bodyOf(page, service, client, signal, files.download(table))
              const html = tablePage(setting, viewOf(dataset, page, body, service))
              return { pieces: [await textOf(html)], serverTiming: body.serverTiming }
            },
          })
        })
      },
    },
    {
      ...common('/dataset/:dataset/:table/row/:number', 'Row'),
      respond: async ({ params, target, client }, req, res) => {
        const dataset = findDataset(catalog, params)
        const table = findTable(dataset, params)
        const id = parseQuery(target, ['snapshot']).get('snapshot')
        const number = Number(/^[1-9]\d{0,14}$/.exec(String(params['number']))?.[0] ?? 0)
        if (number === 0) throw new InvalidPage()
        await snapshots.use(table, id !== undefined && isSnapshotId(id) ? id : null, async (snapshot) => {
          if (snapshot === null) throw notPublished(table, snapshots.fault(table))
          const query = parseRowQuery(table, `?page_size=1&page=${number}`)
          const page = pageOf(snapshot, query, cells, noLinks)
          await responder.send(req, res, {
            ...named(['row', table.dataset, page.key]),
            lastModified: snapshot.lastModified,
            body: async (signal) => {
              const body = await bodyOf(page, service, client, signal, files.download(table))
              const { rows, range } = viewOf(dataset, page, body, service)
              const html = rowPage(setting, {
                dataset,
                table,
                snapshot: snapshot.manifest.snapshot,
                number,
                count: range.count,
                values: rows[0] ?? [],
              })
              return { pieces: [await textOf(html)], serverTiming: body.serverTiming }
            },
          })
        })
      },
    },
  ]
}

/** The stylesheet, under a name that changes with it. */
export function styleSheet({ limiter, freshness, startedAt }: RowService): Resource {
  const sheet: NamedResponse = {
    name: styleName,
    lastModified: startedAt.toUTCString(),
    cacheControl: freshness.immutable,
    mediaType: 'text/css; charset=utf-8',
    headers: {},
    isAtHand: true,
    body: () => ({ pieces: [style] }),
  }
  return {
    path: '/style/:name',
    name: 'Style',
    description: 'How pages look.',
    limiter,
    find: ({ params }) => {
      if (params['name'] === `${styleName}.css`) return sheet
      throw new Problem('unknown-address', 'There is no such style sheet.')
    },
  }
}

function pinnedBy({ snapshot }: RowQuery) {
  return snapshot === 'current' ? null : snapshot
}

async function bodyOf(
  page: Page,
  { engine, pageBytesMax }: RowService,
  client: string,
  signal: () => AbortSignal,
  wholeFile: string,
): Promise<PageBody> {
  return pageBody(page, engine, { signal, client, pageBytesMax }).catch((error: unknown) => {
    throw problemOf(error, wholeFile)
  })
}

/** What forms send, in the one way in which addresses are written; null where it is so already. */
function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filled = pairs.filter(([, value]) => value !== '')
  const fields = filled.filter(([name]) => name === 'fields').map(([, value]) => value)
  if (filled.length === pairs.length && fields.length < 2) return null
  const tidy = new URLSearchParams(filled.filter(([name]) => name !== 'fields'))
  if (fields.length > 0) tidy.set('fields', fields.join(','))
  return `?${tidy.toString()}`
}

function viewOf(dataset: Dataset, page: Page, body: PageBody, { catalog, publicUrl }: RowService): TableView {
  const { snapshot, query } = page
  const { table } = snapshot
  const shown = table.fields.filter((field) => query.fields.includes(field))
  // Rows are read in the alphabetical order of their fields.
  const places = shown.map((field) => query.fields.indexOf(field))
  const texts = JSON.parse(
    Buffer.concat(
      body.pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
    ).toString(),
  ) as (string | null)[][]
  const [family] = catalog.families
  if (family === undefined) throw new Error('a catalog has a family')
  const exported = addressesOf(family, publicUrl).export(dataset, table)
  return {
    dataset,
    table,
    snapshot,
    query,
    range: body.range,
    fields: shown,
    rows: texts.map((row) => places.map((place) => row[place] ?? null)),
    positions: body.positions,
    files: fileAddresses(publicUrl),
    exportAddress: (parameters) => withQuery(exported, parameters, 1),
  }
}
