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

/** What a browser may not do on our pages, as OWASP lists it: they need none of it. */
const denied = [
  'accelerometer',
  'autoplay',
  'camera',
  'cross-origin-isolated',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'keyboard-map',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'sync-xhr',
  'usb',
  'web-share',
  'xr-spatial-tracking',
]

/** What pages have that are looked at, besides the headers of every answer. */
export function pageHeaders(policy: string, language: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy,
    'Content-Language': language,
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Permissions-Policy': denied.map((feature) => `${feature}=()`).join(', '),
  }
}

/** For how long caches may answer in our place, as Cache-Control. */
export interface Freshness {
  /** Of what a refresh changes. */
  readonly changing: string
  /** Of what never changes, since its address names a snapshot. */
  readonly immutable: string
}

const yearSeconds = 31_536_000
/** A cache that answers with old bytes while it fetches new ones spares readers the wait. */
const staleFactor = 10

export function freshnessOf(maxAgeSeconds: number): Freshness {
  return {
    changing: `public, max-age=${maxAgeSeconds}, stale-while-revalidate=${staleFactor * maxAgeSeconds}`,
    immutable: `public, max-age=${yearSeconds}, immutable`,
  }
}
