import { tableId } from '../../../core/catalog/catalog.ts'
import type { Resource } from '../../http/resource.ts'
import { textOf } from '../../pages/html.ts'
import { sqlPage } from '../../pages/sql.ts'
import { withQuery, addressesOf } from '../../http/addresses.ts'
import { parseRowQuery } from '../../query/query.ts'
import { findDataset, findTable, notPublished } from '../find.ts'
import { problemOf } from '../problem-of.ts'
import { consolePolicy, named, pageAt, type PageService } from './documents.ts'
import { engineAddresses } from './engine.ts'
import { leadToTidy } from './tidy.ts'

/** SQL on the rows of an ask, in the reader's own browser. */
export function sql(service: PageService): Resource {
  const { catalog, snapshots, setting, responder, engine, pageBytesMax, files, publicUrl } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/sql', 'SQL'),
    respond: async ({ params, target, client }, req, res) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      if (leadToTidy(target, res)) return
      const query = parseRowQuery(table, target, ['format', 'page', 'page_size'])
      const [family] = catalog.families
      if (family === undefined) throw new Error('a catalog has a family')
      const exported = new URL(addressesOf(family, publicUrl).export(dataset, table)).pathname
      const pinned = query.snapshot === 'current' ? null : query.snapshot
      await snapshots.use(table, pinned, async (snapshot) => {
        if (snapshot === null) throw notPublished(table, snapshots.fault(table))
        const key = [tableId(table), snapshot.manifest.snapshot, [...query.parameters]]
        await responder.send(req, res, {
          ...named(service, ['sql', ...key], consolePolicy),
          lastModified: snapshot.lastModified,
          body: async (signal) => {
            const requester = { client, pageBytesMax, signal }
            const { count } = await engine.selections
              .find(snapshot, query, requester)
              .catch((error: unknown) => {
                throw problemOf(error, files.download(table))
              })
            const rowsAddress = withQuery(exported, new Map([...query.parameters, ['format', 'arrow']]), 1)
            const view = { dataset, table, snapshot, query, count, rowsAddress }
            return { pieces: [textOf(sqlPage(setting, { ...view, engine: engineAddresses(publicUrl) }))] }
          },
        })
      })
    },
  }
}
