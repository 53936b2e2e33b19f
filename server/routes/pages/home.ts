import type { RequestHandler } from 'express'
import { allTables } from '../../../core/catalog/catalog.ts'
import type { Language } from '../../../core/catalog/names.ts'
import type { NamedResponse } from '../../http/responder.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import type { Resource } from '../../http/resource.ts'
import { homePage } from '../../pages/home.ts'
import { languageFor } from '../../pages/words/all.ts'
import { wordsMax, parseQuery } from '../../query/parameters.ts'
import type { findIndex } from '../api-index.ts'
import { wantsPage } from '../../http/negotiation.ts'
import { document, pageAt, type PageService } from './documents.ts'

/** What there is, and what a search of it finds. */
export function home(service: PageService): Resource {
  return { ...pageAt(service, '', 'Home'), find: ({ target }) => homeFor(service, target) }
}

/** Answers at the address that people type: a page in the language of the browser, or the index of the API to programs. */
export function root(
  services: ReadonlyMap<Language, PageService>,
  index: ReturnType<typeof findIndex>,
): RequestHandler {
  return async (req, res) => {
    const service = services.get(languageFor(req.headers['accept-language']))
    if (service === undefined) throw new Error('there are no pages in this language')
    res.setHeader('Vary', 'Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Mode')
    const answer = wantsPage(req.headers, req.url)
      ? homeFor(service, req.originalUrl)
      : index(req.originalUrl, req.headers)
    await service.responder.send(req, res, answer)
  }
}

function homeFor(service: PageService, target: string): NamedResponse {
  const { catalog, snapshots, setting, writing } = service
  const text = parseQuery(target, ['q']).get('q') ?? ''
  const sought = [...new Set(text.split(/\s+/))].filter((word) => word !== '')
  if (sought.length > wordsMax) {
    const message = `The parameter "q" holds more than ${wordsMax} words.`
    throw unacceptableParameters([{ parameter: 'q', message }])
  }
  const ids = allTables(catalog).map((table) => snapshots.current(table)?.manifest.snapshot ?? null)
  const answer = document(service, ['home', sought, ids], () =>
    homePage(setting, {
      sought,
      current: (table) => snapshots.current(table),
      feed: writing.documents.feed(),
    }),
  )
  const { documents } = writing
  const Link = [
    `<${documents.whole('.well-known/api-catalog')}>; rel="api-catalog"`,
    `<${documents.catalog('jsonld')}>; rel="describedby"; type="application/ld+json"`,
  ].join(', ')
  return { ...answer, headers: { ...answer.headers, Link } }
}
