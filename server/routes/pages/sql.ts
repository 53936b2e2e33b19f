import { tableId } from '../../../core/catalog/catalog.ts'
import { withQuery } from '../../http/addresses.ts'
import { timed } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { sqlPage } from '../../pages/sql.ts'
import { answerAsk } from './ask.ts'
import { consolePolicy, named, pageAt, rowAddresses, type PageService } from './documents.ts'
import { engineAddresses } from './engine.ts'
import { requesterOf } from '../find.ts'

/** SQL on the rows of an ask, in the reader's own browser. */
export function sql(service: PageService): Resource {
  const { setting, responder, engine, pageBytesMax, publicUrl } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/sql', 'SQL'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerAsk(service, request, res, { without: ['format', 'page', 'page_size'] }, async (asked) => {
        const { dataset, table, snapshot, query } = asked
        const { snapshot: id } = snapshot.manifest
        const engineAt = engineAddresses(publicUrl)
        const key = [tableId(table), id, [...query.parameters], engineAt]
        await responder.send(req, res, {
          ...named(service, ['sql', ...key], consolePolicy),
          body: async (signal) => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const { count } = await engine.selections.find(snapshot, query, requester)
            const exported = new URL(rowAddresses(service).export(dataset, table)).pathname
            const rowsAddress = withQuery(
              exported,
              new Map([...query.parameters, ['format', 'arrow'], ['snapshot', id]]),
              1,
            )
            const view = { ...asked, count, rowsAddress, engine: engineAt }
            return timed(() => textOf(sqlPage(setting, view)))
          },
        })
      }),
  }
}
