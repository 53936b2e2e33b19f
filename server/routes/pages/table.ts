import { tableId } from '../../../core/catalog/catalog.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { tablePage } from '../../pages/table/table.ts'
import { parseRowQuery } from '../../query/query.ts'
import { findDataset, findTable, notPublished } from '../find.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { rowsPage, viewOf } from './rows.ts'
import { leadToTidy } from './tidy.ts'

/** Rows that people look at, where they do not say how many. */
const pageSize = 50

/** A table to look at, by the same parameters as its rows have in the API. */
export function table(service: PageService): Resource {
  const { catalog, snapshots, setting, responder } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table', 'Table'),
    respond: async ({ params, target, client }, req, res) => {
      const dataset = findDataset(catalog, params)
      const found = findTable(dataset, params)
      if (leadToTidy(target, res)) return
      const query = parseRowQuery(found, target, ['format'], pageSize)
      const pinned = query.snapshot === 'current' ? null : query.snapshot
      await snapshots.use(found, pinned, async (snapshot) => {
        if (snapshot === null) throw notPublished(found, snapshots.fault(found))
        const page = rowsPage(snapshot, query)
        await responder.send(req, res, {
          ...named(service, ['table', tableId(found), page.key, [...query.parameters]]),
          lastModified: snapshot.lastModified,
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(dataset, found, page, service, client, signal)
            return { pieces: [textOf(tablePage(setting, view))], serverTiming }
          },
        })
      })
    },
  }
}
