import { mainFamily } from '../documents/service.ts'
import type { Runtime } from '../runtime.ts'
import type { Catalog, CatalogTexts } from '../../../core/catalog/catalog.ts'
import type { Language } from '../../../core/catalog/names.ts'
import { addressesOf, type Addresses, type FileAddresses } from '../../http/addresses.ts'
import { pageHeaders } from '../../http/headers.ts'
import { nameOf, timed, type NamedResponse } from '../../http/responder.ts'
import type { Offer } from '../../http/negotiation.ts'
import type { Resource } from '../../http/resource.ts'
import { pageAddresses } from '../../pages/addresses.ts'
import { assetsIn } from '../../pages/assets.ts'
import type { Writing } from '../../documents/view.ts'
import type { Setting } from '../../pages/frame.ts'
import { textOf, type Html } from '../../pages/html.ts'
import { wordsOf } from '../../pages/words/all.ts'
import { writtenBy } from '../written-by.ts'

const writtenByThese = writtenBy('pages', 'formats', 'documents')

const strict = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** No script and no style but ours, no frame, no form to elsewhere. */
export const pagePolicy = strict.join('; ')

/** The same for a page that asks our own address for more, by a script and by a worker. */
export const consolePolicy = [...strict, "connect-src 'self'", "worker-src 'self'"].join('; ')

/** What the pages of a language are made with. */
export interface PageService extends Omit<Runtime, 'catalog'> {
  /** In the language of the pages. */
  readonly catalog: CatalogTexts
  readonly setting: Setting
  readonly files: FileAddresses
  /** Documents for machines. */
  readonly writing: Writing
}

export function pageService(setting: Setting, service: Runtime, writing: Writing): PageService {
  return { ...service, catalog: setting.catalog, setting, files: writing.files, writing }
}

/** What pages are written with, in each language. */
export type Settings = ReadonlyMap<Language, Setting>

export function settingsOf(catalog: Catalog, publicUrl: URL): Settings {
  const addresses = pageAddresses(publicUrl)
  const assets = assetsIn(catalog.colours)
  return new Map(
    [...catalog.inLanguage].map(([language, texts]) => {
      const name = nameOf(JSON.stringify([language, publicUrl.href, catalog.hash]))
      return [language, { name, catalog: texts, addresses, assets, language, words: wordsOf[language] }]
    }),
  )
}

/** @throws Error where there is no such language, which no catalog comes to */
export function settingFor(settings: Settings, language: Language): Setting {
  const setting = settings.get(language)
  if (setting === undefined) throw new Error('there are no pages in this language')
  return setting
}

/** Of rows for programs. */
export function rowAddresses({ catalog, publicUrl }: Pick<PageService, 'catalog' | 'publicUrl'>): Addresses {
  return addressesOf(mainFamily(catalog, publicUrl), publicUrl)
}

type Common = Pick<Resource, 'path' | 'name' | 'description' | 'offers'>

const htmlOffer: Offer = { name: 'html', mediaTypes: ['text/html'] }

export function pageAt({ setting, catalog }: PageService, below: string, name: string): Common {
  return {
    path: `/${setting.language}${below}`,
    name,
    description: `A page for people. ${catalog.notice}`,
    offers: [htmlOffer],
  }
}

/** @param key alike for all pages of the same characters, in one language */
export function named(
  { setting, freshness }: Pick<PageService, 'setting' | 'freshness'>,
  key: readonly unknown[],
  policy = pagePolicy,
): Omit<NamedResponse, 'body'> {
  return {
    name: nameOf(JSON.stringify([writtenByThese, setting.name, ...key])),
    cacheControl: freshness.changing,
    mediaType: 'text/html; charset=utf-8',
    headers: pageHeaders(policy, setting.words.locale),
    isAtHand: false,
  }
}

export function document(service: PageService, key: readonly unknown[], page: () => Html): NamedResponse {
  return { ...named(service, key), body: () => timed(() => textOf(page())) }
}

/** A file that pages offer, made from the catalog and the snapshots. */
export function textFile(
  service: PageService,
  key: readonly unknown[],
  mediaType: string,
  text: () => string,
): NamedResponse {
  return { ...named(service, key), mediaType, body: () => timed(text) }
}
