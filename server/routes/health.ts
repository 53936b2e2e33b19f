import type { RequestHandler } from 'express'
import type { BrowseText } from './pages/browse.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'

/**
 * How the service is: `degraded` where a table is served from an older snapshot than the published one, or not at all
 * though it is published, because files are damaged. Answers 200 all the same, since it answers.
 */
export function health(snapshots: Snapshots, browse: BrowseText): RequestHandler {
  return (req, res) => {
    const { statuses } = snapshots
    const faults = statuses.filter(({ fault }) => fault !== null)
    res.setHeader('Cache-Control', 'no-store')
    const text = JSON.stringify({
      status: faults.length === 0 ? 'ok' : 'degraded',
      published: statuses.filter(({ snapshot }) => snapshot !== null).length,
      unpublished: statuses.filter(({ snapshot, fault }) => snapshot === null && fault === null).length,
      faults: faults.map(({ table, snapshot, fault }) => ({ table, serving: snapshot, fault })),
    })
    if (!browse(req, res, 'Health', text)) sendBytes(res, jsonType, [text])
  }
}
