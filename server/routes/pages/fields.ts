import { tableId } from '../../../core/catalog/catalog.ts'
import type { Resource } from '../../http/resource.ts'
import { fieldsPage } from '../../pages/fields.ts'
import { parseQuery } from '../../query/string.ts'
import { findDataset, findTable } from '../find.ts'
import { document, pageAt, type PageService } from './documents.ts'

/** What each field of a table is. */
export function fields(service: PageService): Resource {
  const { catalog, snapshots, setting } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/fields', 'Fields'),
    find: ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      parseQuery(target, [])
      const snapshot = snapshots.current(table)
      return document(service, ['fields', tableId(table), snapshot?.manifest.snapshot], () =>
        fieldsPage(setting, { dataset, table, report: snapshot?.report ?? null }),
      )
    },
  }
}
