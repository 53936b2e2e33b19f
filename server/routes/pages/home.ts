import type { RequestHandler } from 'express'
import { allTables } from '../../../core/catalog/catalog.ts'
import type { NamedResponse, Responder } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { homePage } from '../../pages/home.ts'
import { languageFor } from '../../pages/words/all.ts'
import { parseQuery } from '../../query/string.ts'
import type { RowService } from '../services.ts'
import { wantsPage } from './problem.ts'
import { document, pageAt, pageService, type PageService } from './documents.ts'

/** What there is, and what a search of it finds. */
export function home(service: PageService): Resource {
  return { ...pageAt(service, '', 'Home'), find: ({ target }) => homeFor(service, target) }
}

/** The same at the address that people type, in the language that their browser asks for; programs find nothing there. */
export function root(service: RowService, responder: Responder): RequestHandler {
  return async (req, res, next) => {
    if (!wantsPage(req.headers)) {
      next('route')
      return
    }
    await service.limiter?.(req, res)
    const language = languageFor(req.headers['accept-language'])
    res.setHeader('Vary', 'Accept, Accept-Encoding, Accept-Language')
    await responder.send(req, res, homeFor(pageService(language, service, responder), req.originalUrl))
  }
}

function homeFor(service: PageService, target: string): NamedResponse {
  const { catalog, snapshots, setting } = service
  const sought = (parseQuery(target, ['q']).get('q') ?? '').trim()
  const ids = allTables(catalog).map((table) => snapshots.current(table)?.manifest.snapshot ?? null)
  return document(service, ['home', sought, ids], () =>
    homePage(setting, { sought, current: (table) => snapshots.current(table) }),
  )
}
