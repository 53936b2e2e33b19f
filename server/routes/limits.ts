import type { RequestHandler } from 'express'
import type { ClientOf } from '../http/client.ts'
import { sentenceOf } from '../http/limits.ts'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { BrowseText } from './pages/browse.ts'

/** How the client that asks stands with every limit. It counts nothing. */
export function limitsOf(limiter: Limiter | null, client: ClientOf, browse: BrowseText): RequestHandler {
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
