import { tableId } from '../../../core/catalog/catalog.ts'
import { timed } from '../../http/responder.ts'
import type { Resource, ResourceRequest } from '../../http/resource.ts'
import { apiPage } from '../../pages/api.ts'
import { dictionaryCsv, fieldsPage, type FieldsView } from '../../pages/fields.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { parseQuery } from '../../query/parameters.ts'
import { textOf } from '../../pages/html.ts'
import { tableView } from '../documents/service.ts'
import { findDataset, findTable } from '../find.ts'
import { document, named, pageAt, rowAddresses, textFile, type PageService } from './documents.ts'

/** What each field of a table is. */
export function fields(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table/fields', 'Fields'),
    find: (request) => {
      const { key, view } = viewOf(service, request)
      return document(service, ['fields', ...key], () => fieldsPage(service.setting, view))
    },
  }
}

/** The same as a file. */
export function dictionary(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table/fields.csv', 'Field Dictionary'),
    find: (request) => {
      const { key, view } = viewOf(service, request)
      return textFile(service, ['dictionary', ...key], 'text/csv; charset=utf-8', () => dictionaryCsv(view))
    },
  }
}

/** How a program asks for the rows of a table. */
export function api(service: PageService): Resource {
  const { setting, files, snapshots, writing } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/api', 'API'),
    find: (request) => {
      const { key, view, snapshot } = viewOf(service, request)
      return {
        ...named(service, ['api', ...key]),
        body: async () => {
          const described = await tableView(snapshots, view.dataset, view.table)
          const { documents } = writing
          const shown = { ...view, snapshot, api: rowAddresses(service), files, described, documents }
          return timed(() => textOf(apiPage(setting, shown)))
        },
      }
    },
  }
}

interface Found {
  readonly key: readonly unknown[]
  readonly view: FieldsView
  readonly snapshot: Snapshot | null
}

function viewOf({ catalog, snapshots }: PageService, { params, target }: ResourceRequest): Found {
  const dataset = findDataset(catalog, params)
  const table = findTable(dataset, params)
  parseQuery(target, [])
  const snapshot = snapshots.current(table)
  return {
    key: [tableId(table), snapshot?.manifest.snapshot],
    view: { dataset, table, report: snapshot?.report ?? null },
    snapshot,
  }
}
