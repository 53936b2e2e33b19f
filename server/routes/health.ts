import type { RequestHandler } from 'express'
import type { BrowseText } from '../http/resource.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Runtime } from './runtime.ts'
import { isStale } from '../snapshots/status.ts'
import { sentenceOf } from '../http/limits.ts'
import type { Readiness } from '../snapshots/readiness.ts'

/**
 * How the service is: `degraded` where a table is served from an older snapshot than the published one, or not at all
 * though it is published, because files are damaged; where the source of one is older than the catalog wants it to be; and where
 * the catalog that was written last has faults.
 * Answers 200 all the same, since it answers.
 */
export function health({ snapshots, catalogFault }: Runtime, browse: BrowseText): RequestHandler {
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

/** How the client that asks stands with every limit. It counts nothing. */
export function limitsOf({ limiter, client }: Runtime, browse: BrowseText): RequestHandler {
  return async (req, res) => {
    const standings = (await limiter?.standings(client(req))) ?? []
    const text = JSON.stringify({
      limits: standings.map(({ policy, left, resetMs }) => ({
        policy: policy.name,
        of: policy.limits,
        quota: policy.quota,
        unit: policy.limits === 'share' ? 'ms' : 'requests',
        window_seconds: policy.windowMs / 1000,
        remaining: left,
        reset_seconds: Math.ceil(resetMs / 1000),
        meaning: `${sentenceOf(policy)}.`,
      })),
    })
    res.setHeader('Cache-Control', 'no-store')
    if (!browse(req, res, 'Limits', text)) sendBytes(res, jsonType, [text])
  }
}

/** That the process answers at all: what does not should be started anew. */
export function livez(): RequestHandler {
  return async (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    sendBytes(res, jsonType, [JSON.stringify({ status: 'ok' })])
  }
}

/** Whether readers should be sent here: 503 until every published table is loaded, and from the moment it is told to stop. */
export function readyz(readiness: Readiness): RequestHandler {
  return async (_req, res) => {
    const { state, missing } = readiness.now()
    res.setHeader('Cache-Control', 'no-store')
    if (state !== 'ready') {
      res.statusCode = 503
      res.setHeader('Retry-After', 1)
    }
    sendBytes(res, jsonType, [JSON.stringify({ status: state, missing })])
  }
}
