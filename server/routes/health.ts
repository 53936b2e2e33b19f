import type { RequestHandler } from 'express'
import type { BrowseText } from './pages/browse.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import { isStale } from '../snapshots/status.ts'

/**
 * How the service is: `degraded` where a table is served from an older snapshot than the published one, or not at all
 * though it is published, because files are damaged; where the source of one is older than the catalog wants it to be; and where
 * the catalog that was written last has faults.
 * Answers 200 all the same, since it answers.
 */
export function health(
  snapshots: Snapshots,
  catalogFault: () => string | null,
  browse: BrowseText,
): RequestHandler {
  return async (req, res) => {
    const { statuses } = snapshots
    const faults = statuses.filter(({ fault }) => fault !== null)
    const stale = statuses.filter((status) => isStale(status, Date.now()))
    res.setHeader('Cache-Control', 'no-store')
    const text = JSON.stringify({
      status: faults.length + stale.length === 0 && catalogFault() === null ? 'ok' : 'degraded',
      published: statuses.filter(({ snapshot }) => snapshot !== null).length,
      unpublished: statuses.filter(({ snapshot, fault }) => snapshot === null && fault === null).length,
      catalog_fault: catalogFault(),
      faults: faults.map(({ table, snapshot, fault }) => ({ table, serving: snapshot, fault })),
      stale: stale.map(({ table, refreshed, sourceFrom }) => ({
        table,
        refreshed,
        source_from: sourceFrom?.toISOString(),
      })),
    })
    if (!browse(req, res, 'Health', text)) sendBytes(res, jsonType, [text])
  }
}
