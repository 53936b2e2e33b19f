import { tableId } from '../../../core/catalog/catalog.ts'
import { withQuery } from '../../http/addresses.ts'
import { costOfRows } from '../../limits/costs.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { rowPage } from '../../pages/row.ts'
import { InvalidPage } from '../../query/errors.ts'
import { parseRowQuery } from '../../query/query.ts'
import { parseQuery } from '../../query/parameters.ts'
import { findDataset, findTable } from '../find.ts'
import { withSnapshot } from './ask.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { rowsPage, viewOf } from './rows.ts'

/** One row, at an address of its own: its number in a snapshot. */
export function row(service: PageService): Resource {
  const { catalog, setting, responder } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/row/:number', 'Row'),
    countsAs: 'rows',
    isEndless: true,
    respond: async (request, req, res) => {
      const { params, target } = request
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      const pin = parseQuery(target, ['snapshot'])
      const number = Number(/^[1-9]\d{0,14}$/.exec(String(params['number']))?.[0] ?? 0)
      if (number === 0) throw new InvalidPage()
      const query = parseRowQuery(table, withQuery('', new Map([...pin, ['page_size', '1']]), number))
      await withSnapshot(service, table, query.snapshot, async (snapshot) => {
        const asked = { dataset, table, snapshot, query }
        const page = rowsPage(snapshot, query)
        await responder.send(req, res, {
          ...named(service, ['row', tableId(table), page.key]),
          cost: costOfRows(query.pageSize * snapshot.rowBytes),
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(asked, page, service, request, signal)
            const { range, rows } = view
            const [values] = rows
            // An empty table has a first page, but no row.
            if (values === undefined) throw new InvalidPage()
            const shown = rowPage(setting, { ...asked, number, count: range.count, values })
            return { pieces: [textOf(shown)], serverTiming }
          },
        })
      })
    },
  }
}
