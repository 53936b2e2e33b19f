import type { Catalog, CatalogTexts } from '../../../core/catalog/catalog.ts'
import type { Language } from '../../../core/catalog/languages.ts'
import { addressesOf, fileAddresses, type Addresses, type FileAddresses } from '../../http/addresses.ts'
import { nameOf, type NamedResponse, type Responder } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { pageAddresses } from '../../pages/addresses.ts'
import { assetsIn } from '../../pages/assets.ts'
import type { Setting } from '../../pages/frame.ts'
import { textOf, type Html } from '../../pages/html.ts'
import { wordsOf } from '../../pages/words/all.ts'
import type { RowService } from '../services.ts'

/** Raised when pages are written in another way, so that no cache takes old ones for new. */
const representation = 1

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
export interface PageService extends Omit<RowService, 'catalog'> {
  /** In the language of the pages. */
  readonly catalog: CatalogTexts
  readonly responder: Responder
  readonly setting: Setting
  readonly files: FileAddresses
}

export function pageService(language: Language, service: RowService, responder: Responder): PageService {
  const setting = settingIn(language, service.catalog, service.publicUrl)
  const files = fileAddresses(service.publicUrl)
  return { ...service, catalog: setting.catalog, responder, setting, files }
}

export function settingIn(language: Language, catalog: Catalog, publicUrl: URL): Setting {
  const texts = catalog.inLanguage.get(language)
  if (texts === undefined) throw new Error('a catalog is in all languages')
  return {
    name: nameOf(JSON.stringify([language, publicUrl.href, texts], asLists)),
    catalog: texts,
    addresses: pageAddresses(publicUrl),
    assets: assetsIn(catalog.colours),
    language,
    words: wordsOf[language],
  }
}

/** Of rows for programs: in the family that the catalog names first. */
export function rowAddresses({ catalog, publicUrl }: Pick<PageService, 'catalog' | 'publicUrl'>): Addresses {
  const [family] = catalog.families
  if (family === undefined) throw new Error('a catalog has a family')
  return addressesOf(family, publicUrl)
}

/** Maps and sets as JSON has them. */
function asLists(_key: string, value: unknown): unknown {
  return value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value
}

type Common = Pick<Resource, 'path' | 'name' | 'description' | 'limiter'>

export function pageAt({ setting, catalog, limiter }: PageService, path: string, name: string): Common {
  return {
    path: `/${setting.language}${path}`,
    name,
    description: `A page for people. ${catalog.notice}`,
    limiter,
  }
}

/** @param key alike for all pages of the same characters, in one language */
export function named(
  { setting, freshness, startedAt }: Pick<PageService, 'setting' | 'freshness' | 'startedAt'>,
  key: readonly unknown[],
  policy = pagePolicy,
): Omit<NamedResponse, 'body'> {
  const { assets, words } = setting
  const look = [assets.style.file, assets.script.file, assets.console.file]
  return {
    name: nameOf(JSON.stringify([representation, setting.name, look, ...key])),
    lastModified: startedAt.toUTCString(),
    cacheControl: freshness.changing,
    mediaType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy, 'Content-Language': words.locale },
    isAtHand: false,
  }
}

export function document(
  service: PageService,
  key: readonly unknown[],
  page: () => Html,
  policy = pagePolicy,
): NamedResponse {
  return { ...named(service, key, policy), body: () => ({ pieces: [textOf(page())] }) }
}

/** A file that pages offer, made from the catalog and the snapshots. */
export function textFile(
  service: PageService,
  key: readonly unknown[],
  mediaType: string,
  text: () => string,
): NamedResponse {
  return { ...named(service, key), mediaType, body: () => ({ pieces: [text()] }) }
}
