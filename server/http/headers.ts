import { IncomingMessage, ServerResponse, type OutgoingHttpHeader } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/** Spec: What the service does 3. */
export const allowedMethods = 'GET, HEAD, OPTIONS'

const exposedHeaders = [
  'Accept-Ranges',
  'Acervo-Snapshot',
  'Acervo-Count',
  'Acervo-Hint',
  'Acervo-Moved',
  'Acervo-Notice',
  'Acervo-Rows',
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

/** Makes browsers use only TLS for one year. */
const strictTransport = 'max-age=31536000'

export function commonHeaders(
  notice: string,
  publicUrl: URL,
): (req: IncomingMessage, res: ServerResponse) => void {
  const responseHeaders: Headers = [
    ...helmetHeaders(),
    ...(publicUrl.protocol === 'https:' ? ([['Strict-Transport-Security', strictTransport]] as const) : []),
    ['Allow', allowedMethods],
    ['Vary', 'Accept, Accept-Encoding'],
    ['Acervo-Notice', notice],
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Expose-Headers', exposedHeaders.join(', ')],
  ]
  const preflightHeaders: Headers = [
    ['Access-Control-Allow-Methods', allowedMethods],
    // `*` does not include Authorization.
    ['Access-Control-Allow-Headers', '*, Authorization'],
    ['Access-Control-Max-Age', preflightSeconds],
  ]
  return (req, res) => {
    for (const [name, value] of responseHeaders) res.setHeader(name, value)
    if (req.method === 'OPTIONS') for (const [name, value] of preflightHeaders) res.setHeader(name, value)
  }
}

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
    // `commonHeaders` sets this header, and only if PUBLIC_URL is https.
    strictTransportSecurity: false,
    // Only outdated browsers read these headers; the directive `frame-ancestors` replaces X-Frame-Options.
    xFrameOptions: false,
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

/** Browser features that our pages do not need; from a list of OWASP. */
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

export function pageHeaders(policy: string, language: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy,
    'Content-Language': language,
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Permissions-Policy': denied.map((feature) => `${feature}=()`).join(', '),
  }
}

/** Cache-Control by how long caches may reuse a response. */
export interface Freshness {
  /** Resources that a refresh changes. */
  readonly changing: string
  /** Resources of a snapshot, which never changes. */
  readonly immutable: string
}

const yearSeconds = 31_536_000
/**
 * Ratio of stale-while-revalidate to max-age: caches answer with a stale response while they fetch a new one.
 */
const staleFactor = 10

export function freshnessOf(maxAgeSeconds: number): Freshness {
  return {
    changing: `public, max-age=${maxAgeSeconds}, stale-while-revalidate=${staleFactor * maxAgeSeconds}`,
    immutable: `public, max-age=${yearSeconds}, immutable`,
  }
}
