import express, { type Router } from 'express'
import { mount, mountHandler, type Resource, type Serving } from '../../http/resource.ts'
import { Problem } from '../../http/problems.ts'
import { style, styleName } from '../../pages/style.ts'
import { languages } from '../../../core/catalog/languages.ts'
import type { RowService } from '../services.ts'
import { dataset } from './dataset.ts'
import { pageService } from './documents.ts'
import { fields } from './fields.ts'
import { home, root } from './home.ts'
import { row } from './row.ts'
import { table } from './table.ts'

/** The pages for people, in each language. */
export function pagesRouter(service: RowService, serving: Serving): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  mountHandler(router, '/', { name: 'Home', description: 'What there is.' }, root(service, serving.responder))
  for (const language of languages) {
    const made = pageService(language, service, serving.responder)
    const resources = [home(made), dataset(made), fields(made), table(made), row(made)]
    for (const resource of resources) mount(router, resource, true, serving)
  }
  mount(router, styleSheet(service), false, serving)
  return router
}

/** The stylesheet, under a name that changes with it. */
function styleSheet({ limiter, freshness, startedAt }: RowService): Resource {
  const sheet = {
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
