import type { Catalog } from '../../../core/catalog/catalog.ts'
import { languages } from '../../../core/catalog/languages.ts'
import type { Freshness } from '../../http/freshness.ts'
import type { Browse } from '../../http/resource.ts'
import { nameOf, type NamedResponse, type Responder } from '../../http/responder.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { jsonPage } from '../../pages/json.ts'
import { languageFor } from '../../pages/words/all.ts'
import { parametersOf } from '../../query/string.ts'
import { named, settingIn } from './documents.ts'
import { wantsPage } from './problem.ts'

interface BrowseService {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly freshness: Freshness
  readonly startedAt: Date
}

/** Shows whoever asks with a browser what programs get at an address of JSON; `format=` always wins. */
export function browsing({ catalog, publicUrl, ...service }: BrowseService, responder: Responder): Browse {
  const settings = new Map(languages.map((language) => [language, settingIn(language, catalog, publicUrl)]))
  return ({ name }, { target, headers }, find) => {
    if (!wantsPage(headers) || parametersOf(target).some(([parameter]) => parameter === 'format')) return null
    const setting = settings.get(languageFor(headers['accept-language']))
    if (setting === undefined) throw new Error('pages are in all languages')
    const address = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}${target}`
    return find({ ...headers, accept: 'application/json' }).then((answer) =>
      pageOf({ ...service, setting }, { name, address, answer }, responder),
    )
  }
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
    headers: { ...answer.headers, ...page.headers, Vary: 'Accept, Accept-Encoding, Accept-Language' },
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
