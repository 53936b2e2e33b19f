import {
  tableId,
  type Dataset,
  type Table,
  type Catalog,
  type CatalogTexts,
} from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { findDataset, findTable } from '../routes/find.ts'
import { parseQuery } from '../query/parameters.ts'
import type { ResourceRequest, Resource } from '../http/resource.ts'
import { mainFamily } from '../routes/documents/service.ts'
import type { Runtime } from '../routes/runtime.ts'
import type { Language } from '../../core/catalog/names.ts'
import { addressesOf, type Addresses, type FileAddresses } from '../http/addresses.ts'
import { pageHeaders } from '../http/headers.ts'
import { contentName, timed, type Body, type NamedResponse } from '../http/responder.ts'
import type { Offer } from '../http/negotiation.ts'
import { pageAddresses } from '../documents/page-addresses.ts'
import { assetsIn } from './assets.ts'
import type { Writing } from '../documents/description.ts'
import type { PageContext } from './frame.ts'
import { textOf, type Html } from './html.ts'
import { wordsOf } from '../documents/words/all.ts'
import { sourceHash } from '../routes/source-hash.ts'

const writtenByThese = sourceHash('pages', 'formats', 'documents')

const strict = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** Our scripts, styles and data; no frames, no forms to other sites. */
export const pagePolicy = [...strict, "connect-src 'self'"].join('; ')

export const consolePolicy = `${pagePolicy}; worker-src 'self'`

/** Other sites may show these pages in a frame. */
export const embedPolicy = strict
  .map((rule) => rule.replace("frame-ancestors 'none'", 'frame-ancestors *'))
  .join('; ')

export interface PageService extends Omit<Runtime, 'catalog'> {
  readonly catalog: CatalogTexts
  readonly context: PageContext
  readonly files: FileAddresses
  readonly writing: Writing
}

export function pageService(context: PageContext, service: Runtime, writing: Writing): PageService {
  return { ...service, catalog: context.catalog, context, files: writing.files, writing }
}

export type PageContexts = ReadonlyMap<Language, PageContext>

export function contextsOf(catalog: Catalog, publicUrl: URL): PageContexts {
  const addresses = pageAddresses(publicUrl)
  const assets = assetsIn(catalog)
  const translations = [...catalog.inLanguage.values()]
  return new Map(
    [...catalog.inLanguage].map(([language, texts]) => {
      const name = contentName(JSON.stringify([language, publicUrl.href, catalog.hash]))
      return [
        language,
        { name, catalog: texts, translations, addresses, assets, language, words: wordsOf[language] },
      ]
    }),
  )
}

/** @throws Error for an unknown language, which no catalog contains */
export function contextFor(contexts: PageContexts, language: Language): PageContext {
  const context = contexts.get(language)
  if (context === undefined) throw new Error('there are no pages in this language')
  return context
}

/** Addresses in the family that pages link to. */
export function rowAddresses({ catalog, publicUrl }: Pick<PageService, 'catalog' | 'publicUrl'>): Addresses {
  return addressesOf(mainFamily(catalog, publicUrl), publicUrl)
}

type Common = Pick<Resource, 'path' | 'name' | 'description' | 'offers'>

const htmlOffer: Offer = { name: 'html', mediaTypes: ['text/html'] }

export function pageAt({ context, catalog }: PageService, path: string, name: string): Common {
  return {
    path: `/${context.language}${path}`,
    name,
    description: `An HTML page. ${catalog.notice}`,
    offers: [htmlOffer],
  }
}

export interface RequestedTable {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest | null
  readonly report: SnapshotReport | null
  readonly key: readonly unknown[]
}

/** Refuses query parameters. */
export function requestedTable(
  { catalog, snapshots }: PageService,
  { params, target }: ResourceRequest,
): RequestedTable {
  const dataset = findDataset(catalog, params)
  const table = findTable(dataset, params)
  parseQuery(target, [])
  const snapshot = snapshots.current(table)
  const key = [tableId(table), snapshot?.manifest.snapshot]
  return { dataset, table, manifest: snapshot?.manifest ?? null, report: snapshot?.report ?? null, key }
}

export function named(
  { context, freshness }: Pick<PageService, 'context' | 'freshness'>,
  key: readonly unknown[],
  policy = pagePolicy,
): Omit<NamedResponse, 'body'> {
  return {
    name: contentName(JSON.stringify([writtenByThese, context.name, ...key])),
    cacheControl: freshness.changing,
    mediaType: 'text/html; charset=utf-8',
    headers: pageHeaders(policy, context.words.locale),
    isAtHand: false,
  }
}

export function webPage(service: PageService, key: readonly unknown[], page: () => Html): NamedResponse {
  return { ...named(service, key), body: () => timed(() => textOf(page())) }
}

export function webPageOf<T>(
  service: PageService,
  key: readonly unknown[],
  find: () => Promise<T>,
  page: (content: T) => Html,
): NamedResponse {
  const body = async (): Promise<Body> => {
    const content = await find()
    return timed(() => textOf(page(content)))
  }
  return { ...named(service, key), body }
}

export function textFile(
  service: PageService,
  key: readonly unknown[],
  mediaType: string,
  text: () => string,
): NamedResponse {
  return { ...named(service, key), mediaType, body: () => timed(text) }
}
