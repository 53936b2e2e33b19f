import { tableId } from '../../../core/catalog/catalog.ts'
import { isSnapshotId } from '../../../core/warehouse/layout.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { rowPage } from '../../pages/row.ts'
import { InvalidPage } from '../../query/errors.ts'
import { parseRowQuery } from '../../query/query.ts'
import { parseQuery } from '../../query/string.ts'
import { findDataset, findTable, notPublished } from '../find.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { rowsPage, viewOf } from './rows.ts'

/** One row, at an address of its own: its number in a snapshot. */
export function row(service: PageService): Resource {
  const { catalog, snapshots, setting, responder } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/row/:number', 'Row'),
    respond: async ({ params, target, client }, req, res) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      const asked = parseQuery(target, ['snapshot']).get('snapshot') ?? ''
      const number = Number(/^[1-9]\d{0,14}$/.exec(String(params['number']))?.[0] ?? 0)
      if (number === 0) throw new InvalidPage()
      await snapshots.use(table, isSnapshotId(asked) ? asked : null, async (snapshot) => {
        if (snapshot === null) throw notPublished(table, snapshots.fault(table))
        const page = rowsPage(snapshot, parseRowQuery(table, `?page_size=1&page=${number}`))
        await responder.send(req, res, {
          ...named(service, ['row', tableId(table), page.key]),
          lastModified: snapshot.lastModified,
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(dataset, table, page, service, client, signal)
            const document = rowPage(setting, {
              dataset,
              table,
              snapshot: snapshot.manifest.snapshot,
              number,
              count: view.range.count,
              values: view.rows[0] ?? [],
            })
            return { pieces: [textOf(document)], serverTiming }
          },
        })
      })
    },
  }
}
