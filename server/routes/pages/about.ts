import type { Resource } from '../../http/resource.ts'
import { aboutPage, limitsPage } from '../../pages/about.ts'
import { parseQuery } from '../../query/parameters.ts'
import { document, pageAt, type PageService } from './documents.ts'

/** What this service is. */
export function about(service: PageService): Resource {
  return {
    ...pageAt(service, '/about', 'About'),
    find: ({ target }) => {
      parseQuery(target, [])
      return document(service, ['about'], () => aboutPage(service.setting, service.publicUrl))
    },
  }
}

/** How much one reader may ask for. */
export function limits(service: PageService): Resource {
  return {
    ...pageAt(service, '/limits', 'Limits'),
    find: ({ target }) => {
      parseQuery(target, [])
      return document(service, ['limits'], () => limitsPage(service.setting, service.limiter !== null))
    },
  }
}
