import type { Response } from 'express'
import type { Family } from '../../core/catalog/catalog.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { addressesOf } from '../http/addresses.ts'
import { sendJson } from '../http/answers.ts'
import { negotiate } from '../http/negotiation.ts'
import { Problem } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { parseRowAsk } from '../rows/ask.ts'
import { pageBody } from '../rows/page.ts'
import { findDataset, findTable } from './find.ts'
import type { RowService } from './services.ts'

const retryAfterSeconds = 60

/** The rows of a table in pages (spec: Endpoints 3 and 6, Page envelope, Row). */
export function tableRows(family: Family, service: RowService): Resource {
  const { catalog, publicUrl, limits, snapshots, connections } = service
  const addresses = addressesOf(family, publicUrl)
  return {
    path: '/dataset/:dataset/:table/data',
    name: 'Table Rows',
    description: `The rows of a table, in pages and in its declared order. ${catalog.notice}`,
    limits,
    get: async (req, res) => {
      const dataset = findDataset(catalog, req.params)
      const table = findTable(dataset, req.params)
      const ask = parseRowAsk(table, req.url)
      negotiate(req, ask.given.get('format'))
      const snapshot = snapshots.current(table)
      if (snapshot === null) throw notPublished(tableId(table))
      const address = addresses.data(dataset, table)
      const path = inFormOf(req.path, address)
      const { count, pieces } = await pageBody(snapshot, ask, path, connections, untilGone(res))
      res.setHeader('Acervo-Snapshot', snapshot.manifest.snapshot)
      res.setHeader('Acervo-Count', count)
      sendJson(res, pieces)
    },
  }
}

/** Aborts when the reader goes away before the answer is sent. */
function untilGone(res: Response): AbortSignal {
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  return gone.signal
}

/** Links to other pages have the same path (spec: Page envelope), so also its final slash or its lack. */
function inFormOf(path: string, address: string): string {
  const bare = address.replace(/\/$/, '')
  return path.endsWith('/') ? `${bare}/` : bare
}

function notPublished(id: string): Problem {
  const detail = `The table ${id} is not published: the operator runs \`make ingest TABLES=${id}\`.`
  return new Problem('not-published', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}
