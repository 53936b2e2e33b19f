import { tableId } from '../../../core/catalog/catalog.ts'
import { costOfRows } from '../../limits/costs.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { tablePage } from '../../pages/table/table.ts'
import { answerAsk } from './ask.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { rowsPage, viewOf } from './rows.ts'

/** Rows that people look at. */
const pageSize = { default: 50, max: 200 }

/** A table to look at, by the same parameters as its rows have in the API. */
export function table(service: PageService): Resource {
  const { setting, responder } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table', 'Table'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerAsk(service, request, res, { without: ['format'], pageSize }, async (asked) => {
        const { snapshot, query } = asked
        const page = rowsPage(snapshot, query)
        await responder.send(req, res, {
          ...named(service, ['table', tableId(asked.table), page.key, [...query.parameters]]),
          // Of a selection, its rows are paid for when they are known.
          cost: costOfRows((page.range?.rows ?? 0) * snapshot.rowBytes),
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(asked, page, service, request, signal)
            return { pieces: [textOf(tablePage(setting, view))], serverTiming }
          },
        })
      }),
  }
}
