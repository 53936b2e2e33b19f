import type { RequestHandler } from 'express'
import helmet from 'helmet'

/** What every resource allows (spec: What the service does 3). */
export const allowedMethods = 'GET, HEAD, OPTIONS'

/** Headers of ours that scripts on other sites may read. */
const exposed = [
  'Acervo-Snapshot',
  'Acervo-Count',
  'Acervo-Notice',
  'ETag',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'X-Request-Id',
]
const preflightSeconds = 86_400

/** The headers of every answer. */
export function commonHeaders(notice: string): RequestHandler[] {
  return [
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      },
      // Public data may be used from any site, and TLS is the business of whoever ends it in front of us.
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      strictTransportSecurity: false,
    }),
    (req, res, next) => {
      res.setHeader('Allow', allowedMethods)
      res.setHeader('Vary', 'Accept, Accept-Encoding')
      res.setHeader('Acervo-Notice', notice)
      res.setHeader('Access-Control-Allow-Origin', '*')
      res.setHeader('Access-Control-Expose-Headers', exposed.join(', '))
      if (req.method === 'OPTIONS') {
        res.setHeader('Access-Control-Allow-Methods', allowedMethods)
        res.setHeader('Access-Control-Allow-Headers', '*')
        res.setHeader('Access-Control-Max-Age', preflightSeconds)
      }
      next()
    },
  ]
}
