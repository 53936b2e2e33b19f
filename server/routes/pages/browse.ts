import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Catalog } from '../../../core/catalog/catalog.ts'
import { languages } from '../../../core/catalog/languages.ts'
import type { Freshness } from '../../http/freshness.ts'
import type { Browse } from '../../http/resource.ts'
import { nameOf, type NamedResponse, type Responder } from '../../http/responder.ts'
import { sendBytes } from '../../http/send.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { jsonPage } from '../../pages/json.ts'
import { languageFor } from '../../pages/words/all.ts'
import { parametersOf } from '../../query/string.ts'
import { named, pagePolicy, settingIn } from './documents.ts'
import { wantsPage } from './problem.ts'

interface BrowseService {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly freshness: Freshness
  readonly startedAt: Date
}

/** Shows whoever asks with a browser what programs get at an address of JSON; `format=` always wins. */
export function browsing({ catalog, publicUrl, ...service }: BrowseService, responder: Responder): Browse {
  const settingFor = settingsIn(catalog, publicUrl)
  return ({ name }, { target, headers }, find) => {
    const setting = settingFor(target, headers)
    if (setting === null) return null
    const address = addressOf(publicUrl, target)
    return find({ ...headers, accept: 'application/json' }).then((answer) =>
      pageOf({ ...service, setting }, { name, address, answer }, responder),
    )
  }
}

/** Sends JSON that has no name as a page, where that is asked for; says whether it did. */
export type BrowseText = (req: IncomingMessage, res: ServerResponse, name: string, text: string) => boolean

export function browsingText({ catalog, publicUrl }: BrowseService): BrowseText {
  const settingFor = settingsIn(catalog, publicUrl)
  return (req, res, name, text) => {
    const target = req.url ?? ''
    const setting = settingFor(target, req.headers)
    if (setting === null) return false
    res.setHeader('Vary', varied)
    res.setHeader('Content-Security-Policy', pagePolicy)
    res.setHeader('Content-Language', setting.words.locale)
    const page = jsonPage(setting, { name, address: addressOf(publicUrl, target), text })
    sendBytes(res, 'text/html; charset=utf-8', [textOf(page)])
    return true
  }
}

const varied = 'Accept, Accept-Encoding, Accept-Language'

/** In which setting a page is asked for; null where JSON is. */
function settingsIn(
  catalog: Catalog,
  publicUrl: URL,
): (target: string, headers: IncomingHttpHeaders) => Setting | null {
  const settings = new Map(languages.map((language) => [language, settingIn(language, catalog, publicUrl)]))
  return (target, headers) =>
    wantsPage(headers) && parametersOf(target).every(([parameter]) => parameter !== 'format')
      ? (settings.get(languageFor(headers['accept-language'])) ?? null)
      : null
}

function addressOf({ origin, pathname }: URL, target: string): string {
  return `${origin}${pathname.replace(/\/$/, '')}${target}`
}

interface Browsed {
  readonly name: string
  readonly address: string
  readonly answer: NamedResponse
}

function pageOf(
  service: Pick<BrowseService, 'freshness' | 'startedAt'> & { readonly setting: Setting },
  { name, address, answer }: Browsed,
  responder: Responder,
): NamedResponse {
  const page = named(service, ['json', address, answer.name])
  return {
    ...page,
    name: nameOf(page.name),
    lastModified: answer.lastModified,
    cacheControl: answer.cacheControl,
    headers: { ...answer.headers, ...page.headers, Vary: varied },
    body: async (signal) => {
      const { pieces, headers, serverTiming } = await responder.bodyOf(answer, signal)
      const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
      const text = Buffer.concat(bytes).toString()
      return {
        pieces: [textOf(jsonPage(service.setting, { name, address, text }))],
        ...(headers !== undefined && { headers }),
        ...(serverTiming !== undefined && { serverTiming }),
      }
    },
  }
}
