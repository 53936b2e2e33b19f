import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import type { Limit } from '../../core/catalog/catalog.ts'
import { Problem } from './problems.ts'

/**
 * The sparing-use limits (spec: Limits 1), per client address; all must let a request pass. They count in
 * the memory of the process.
 *
 * @param kind what is limited, part of the policy's name in the RateLimit headers
 * @param advice a sentence on what to do instead
 */
export function sparingUse(kind: string, limits: readonly Limit[], advice: string): RequestHandler[] {
  return limits.map(({ requests, per, windowMs }) =>
    rateLimit({
      limit: requests,
      windowMs,
      identifier: `${kind}-${per}`,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      // Any client can send X-Forwarded-For, junk too; TRUST_PROXY says whether it counts.
      validate: { xForwardedForHeader: false, ip: false },
      handler: (_req, res, next) => {
        const seconds = Number(res.getHeader('Retry-After'))
        const allowed = `At most ${requests} requests in ${per} are allowed here`
        next(new Problem('too-many-requests', `${allowed}; try again in ${seconds} s. ${advice}`))
      },
    }),
  )
}
