import { promisify } from 'node:util'
import zlib from 'node:zlib'
import Negotiator from 'negotiator'

export interface Encoding {
  /** As in Content-Encoding. */
  readonly name: string
  /** Works off the event loop, on a thread of Node's pool; null leaves the body as it is. */
  readonly compress: ((body: Uint8Array) => Promise<Uint8Array>) | null
}

export const identity: Encoding = { name: 'identity', compress: null }

// Pages of our tables shrink to about a ninth by each; higher levels cost several times as much for a tenth less.
const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }
const gzipOptions = { level: 4 }

const brotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)
type Compress = (body: Uint8Array, done: (error: Error | null, compressed: Uint8Array) => void) => void
// Node has it from 22.15 on, and the types that we build with are those of Node 20.
const { zstdCompress } = zlib as { readonly zstdCompress?: Compress }

/** The content codings on offer, the first one preferred where a reader has no preference. */
const offered: readonly Encoding[] = [
  ...(zstdCompress === undefined ? [] : [{ name: 'zstd', compress: promisify(zstdCompress) }]),
  { name: 'br', compress: (body) => brotli(body, brotliOptions) },
  { name: 'gzip', compress: (body) => gzip(body, gzipOptions) },
  identity,
]

const byName = new Map(offered.map((encoding) => [encoding.name, encoding]))
const names = [...byName.keys()]

/** Longer ones are no reader's, and cost more to parse than an answer. */
const headerLengthMax = 500

type Preferring = Negotiator & {
  encodings: (available: readonly string[], options: { readonly preferred: readonly string[] }) => string[]
}

/**
 * The codings that an `Accept-Encoding` allows, best first (RFC 9110, section 12.5.3). A reader who excludes all
 * of them still gets identity, which is better than nothing.
 */
export function acceptedEncodings(acceptEncoding: string | undefined): readonly Encoding[] {
  if (acceptEncoding === undefined || acceptEncoding.length > headerLengthMax) return [identity]
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as Preferring
  const accepted = negotiator.encodings(names, { preferred: names })
  return accepted.length === 0 ? [identity] : accepted.flatMap((name) => byName.get(name) ?? [])
}
