import type { RequestHandler } from 'express'
import type { BrowseText } from '../http/resource.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Runtime } from './runtime.ts'
import { isStale } from '../snapshots/status.ts'
import { sentenceOf } from '../http/limits.ts'
import type { Readiness } from '../snapshots/readiness.ts'

/**
 * Always 200. `degraded` if nothing is published, damaged files keep a published snapshot from being served, a
 * source is older than declared, or the catalog is faulty.
 */
export function health({ snapshots, catalogFault }: Runtime, sendPageToBrowser: BrowseText): RequestHandler {
  return async (req, res) => {
    const { statuses } = snapshots
    const faults = statuses.filter(({ fault }) => fault !== null)
    const stale = statuses.filter((status) => isStale(status, Date.now()))
    const published = statuses.filter(({ snapshot }) => snapshot !== null).length
    const isOk = published > 0 && faults.length + stale.length === 0 && catalogFault() === null
    res.setHeader('Cache-Control', 'no-store')
    const text = JSON.stringify({
      status: isOk ? 'ok' : 'degraded',
      published,
      unpublished: statuses.filter(({ snapshot, fault }) => snapshot === null && fault === null).length,
      catalog_fault: catalogFault(),
      faults: faults.map(({ table, snapshot, fault }) => ({ table, serving: snapshot, fault })),
      stale: stale.map(({ table, refreshed, sourceFrom }) => ({
        table,
        refreshed,
        source_from: sourceFrom?.toISOString(),
      })),
    })
    if (!sendPageToBrowser(req, res, 'Health', text)) sendBytes(res, jsonType, [text])
  }
}

/** Returns the client's quotas without counting the request. */
export function limitsOf({ limiter, client }: Runtime, sendPageToBrowser: BrowseText): RequestHandler {
  return async (req, res) => {
    const standings = (await limiter?.standings(client(req))) ?? []
    const text = JSON.stringify({
      limits: standings.map(({ policy, remaining, resetMs }) => ({
        policy: policy.name,
        of: policy.limitClass,
        quota: policy.quota,
        unit: policy.limitClass === 'share' ? 'ms' : 'requests',
        window_seconds: policy.windowMs / 1000,
        remaining,
        reset_seconds: Math.ceil(resetMs / 1000),
        meaning: `${sentenceOf(policy)}.`,
      })),
    })
    res.setHeader('Cache-Control', 'no-store')
    if (!sendPageToBrowser(req, res, 'Limits', text)) sendBytes(res, jsonType, [text])
  }
}

/** A process that does not answer should be restarted. */
export function livez(): RequestHandler {
  return async (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    sendBytes(res, jsonType, [JSON.stringify({ status: 'ok' })])
  }
}

/** 503 until every published table is loaded, and as soon as the service stops. */
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
