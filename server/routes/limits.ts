import type { RequestHandler } from 'express'
import { limitClasses } from '../../core/catalog/catalog.ts'
import type { ClientOf } from '../http/client.ts'
import { accountFor, sentenceOf } from '../http/limits.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Limiter, Standing } from '../limits/limiter.ts'
import type { BrowseText } from './pages/browse.ts'

/** How the client that asks stands with every limit. It counts nothing. */
export function limitsOf(limiter: Limiter | null, client: ClientOf, browse: BrowseText): RequestHandler {
  return async (req, res) => {
    await accountFor(res).show()
    const standings = new Map<string, Standing>()
    for (const asked of limiter === null ? [] : limitClasses) {
      for (const standing of (await limiter?.look(client(req), asked)) ?? []) {
        standings.set(standing.policy.name, standing)
      }
    }
    const text = JSON.stringify({
      limits: [...standings.values()].map(({ policy, left, resetMs }) => ({
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
