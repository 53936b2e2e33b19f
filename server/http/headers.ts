import { IncomingMessage, ServerResponse, type OutgoingHttpHeader } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/** What every resource allows (spec: What the service does 3). */
export const allowedMethods = 'GET, HEAD, OPTIONS'

/** Headers of ours that scripts on other sites may read. */
const exposed = [
  'Accept-Ranges',
  'Acervo-Snapshot',
  'Acervo-Count',
  'Acervo-Hint',
  'Acervo-Moved',
  'Acervo-Notice',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'X-Request-Id',
]
const preflightSeconds = 86_400

type Headers = readonly (readonly [name: string, value: OutgoingHttpHeader])[]

/** A year; browsers come by TLS alone from then on. */
const strictTransport = 'max-age=31536000'

/** Sets the headers of every answer. */
export function commonHeaders(
  notice: string,
  publicUrl: URL,
): (req: IncomingMessage, res: ServerResponse) => void {
  const always: Headers = [
    ...helmetHeaders(),
    ...(publicUrl.protocol === 'https:' ? ([['Strict-Transport-Security', strictTransport]] as const) : []),
    ['Allow', allowedMethods],
    ['Vary', 'Accept, Accept-Encoding'],
    ['Acervo-Notice', notice],
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Expose-Headers', exposed.join(', ')],
  ]
  const preflight: Headers = [
    ['Access-Control-Allow-Methods', allowedMethods],
    // The one that * does not mean.
    ['Access-Control-Allow-Headers', '*, Authorization'],
    ['Access-Control-Max-Age', preflightSeconds],
  ]
  return (req, res) => {
    for (const [name, value] of always) res.setHeader(name, value)
    if (req.method === 'OPTIONS') for (const [name, value] of preflight) res.setHeader(name, value)
  }
}

/** What helmet sets; the same for every request, so it is asked once. */
export function helmetHeaders(): Headers {
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Public data may be used from any site.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Where the public address has TLS, whoever ends it in front of us.
    strictTransportSecurity: false,
    // Only browsers that nobody uses any more read these.
    xDownloadOptions: false,
    xXssProtection: false,
    xPermittedCrossDomainPolicies: false,
    xDnsPrefetchControl: false,
  })
  protect(req, res, () => undefined)
  return res.getHeaderNames().flatMap((name) => {
    const value = res.getHeader(name)
    return value === undefined ? [] : [[name, value] as const]
  })
}
