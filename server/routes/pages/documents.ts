import type { Catalog, CatalogTexts } from '../../../core/catalog/catalog.ts'
import { fileAddresses, type FileAddresses } from '../../http/addresses.ts'
import { nameOf, type NamedResponse, type Responder } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { pageAddresses } from '../../pages/addresses.ts'
import type { Setting } from '../../pages/frame.ts'
import { textOf, type Html } from '../../pages/html.ts'
import { styleName } from '../../pages/style.ts'
import { wordsOf } from '../../pages/words/all.ts'
import type { Language } from '../../../core/catalog/languages.ts'
import type { RowService } from '../services.ts'

/** Raised when pages are written in another way, so that no cache takes old ones for new. */
const representation = 1

/** No script and no style but ours, no frame, no form to elsewhere. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

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
  return {
    ...service,
    catalog: setting.catalog,
    responder,
    setting,
    files: fileAddresses(service.publicUrl),
  }
}

export function settingIn(language: Language, catalog: Catalog, publicUrl: URL): Setting {
  const texts = catalog.inLanguage.get(language)
  if (texts === undefined) throw new Error('a catalog is in all languages')
  return {
    catalog: texts,
    addresses: pageAddresses(publicUrl, styleName),
    language,
    words: wordsOf[language],
  }
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
  { setting, freshness, startedAt }: PageService,
  key: readonly unknown[],
): Omit<NamedResponse, 'body'> {
  return {
    name: nameOf(JSON.stringify([representation, styleName, setting.language, ...key])),
    lastModified: startedAt.toUTCString(),
    cacheControl: freshness.changing,
    mediaType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': pagePolicy, 'Content-Language': setting.words.locale },
    isAtHand: false,
  }
}

export function document(service: PageService, key: readonly unknown[], page: () => Html): NamedResponse {
  return { ...named(service, key), body: () => ({ pieces: [textOf(page())] }) }
}
