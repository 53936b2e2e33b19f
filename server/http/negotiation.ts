import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import Negotiator from 'negotiator'
import { didYouMean } from '../../core/text.ts'
import { Problem, unacceptableParameters } from './problems.ts'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

export interface Offer {
  readonly name: string
  /** The canonical one first, without parameters, then aliases. */
  readonly mediaTypes: readonly [string, ...string[]]
}

export const jsonOffer: Offer = { name: 'json', mediaTypes: ['application/json'] }

/**
 * Chooses by `format=`, or else by `Accept`.
 * @param offers the default one first
 * @throws Problem invalid-parameter, or not-acceptable with the list of offers
 */
export function negotiate<T extends Offer>(
  headers: IncomingHttpHeaders,
  format: string | undefined,
  offers: readonly [T, ...T[]],
): T {
  if (format !== undefined) {
    const byName = offers.find(({ name }) => name === format)
    if (byName !== undefined) return byName
    const names = offers.map(({ name }) => name)
    const message = `The parameter "format" must be one of: ${names.join(', ')}${didYouMean(format, names)}.`
    throw unacceptableParameters([{ parameter: 'format', message }])
  }
  const acceptedOffer = acceptable(headers, offers)
  if (acceptedOffer !== undefined) return acceptedOffer
  const offeredFormats = offers
    .map(({ name, mediaTypes: [mediaType] }) => `${mediaType} (format=${name})`)
    .join(', ')
  throw new Problem('not-acceptable', `The Accept header excludes all available types: ${offeredFormats}.`)
}

/** Undefined if `Accept` excludes all offers. */
export function acceptable<T extends Offer>(
  { accept }: IncomingHttpHeaders,
  offers: readonly [T, ...T[]],
): T | undefined {
  if (accept === undefined || accept === '' || accept === '*/*') return offers[0]
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept) } })
  const best = bestOf(negotiator, offers)
  if (best === undefined) return undefined
  // A wildcard selects the default: `application/json;q=0.9, */*` means JSON, not CSV.
  const namedTypes = negotiator.mediaTypes()
  const isNamed = best.mediaTypes.some((type) => namedTypes.includes(type))
  return isNamed ? best : (bestOf(negotiator, [offers[0]]) ?? best)
}

function bestOf<T extends Offer>(negotiator: Negotiator, offers: readonly T[]): T | undefined {
  const [best] = negotiator.mediaTypes(offers.flatMap(({ mediaTypes }) => mediaTypes))
  return offers.find(({ mediaTypes }) => mediaTypes.some((type) => type === best))
}

function acceptedTypes({ accept = '' }: IncomingHttpHeaders): string[] {
  return accept === ''
    ? []
    : new Negotiator({ headers: { accept: withoutParameters(accept) } })
        .mediaTypes()
        .map((type) => type.toLowerCase())
}

// Clients send parameters such as `charset=utf-8`, and clients of Brasil.IO `indent=4`.
function withoutParameters(accept: string): string {
  return accept.replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, '')
}

export interface ContentCoding {
  readonly name: string
  /** Runs on a thread of Node's pool; null leaves the body unchanged. */
  readonly compress: ((body: Uint8Array) => Promise<Uint8Array>) | null
}

export const identity: ContentCoding = { name: 'identity', compress: null }

// Level 4 shrinks pages to a ninth; higher levels take several times longer to save another tenth.
const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }
const gzipOptions = { level: 4 }

const brotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)
type Compress = (body: Uint8Array, done: (error: Error | null, compressed: Uint8Array) => void) => void
// Node has zstd from 22.15 on; our types are those of Node 20.
const { zstdCompress } = zlib as { readonly zstdCompress?: Compress }

const offered: readonly ContentCoding[] = [
  ...(zstdCompress === undefined ? [] : [{ name: 'zstd', compress: promisify(zstdCompress) }]),
  { name: 'br', compress: (body) => brotli(body, brotliOptions) },
  { name: 'gzip', compress: (body) => gzip(body, gzipOptions) },
  identity,
]

const byName = new Map(offered.map((encoding) => [encoding.name, encoding]))
const names = [...byName.keys()]
const gzipFirst = ['gzip', ...names.filter((name) => name !== 'gzip')]

/** Real clients send shorter headers; parsing longer ones would cost more than a response. */
const headerLengthMax = 500

type Preferring = Negotiator & {
  encodings: (available: readonly string[], options: { readonly preferred: readonly string[] }) => string[]
}

/**
 * Codings of `Accept-Encoding`, best first (RFC 9110, section 12.5.3). A client that excludes all gets
 * identity.
 * @param prefersGzip true if gzip comes first among equals
 */
export function acceptedEncodings(
  acceptEncoding: string | undefined,
  prefersGzip = false,
): readonly ContentCoding[] {
  if (acceptEncoding === undefined || acceptEncoding.length > headerLengthMax) return [identity]
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as Preferring
  const acceptedNames = negotiator.encodings(names, { preferred: prefersGzip ? gzipFirst : names })
  return acceptedNames.length === 0 ? [identity] : acceptedNames.flatMap((name) => byName.get(name) ?? [])
}

/** Limits concurrent compressions; further bodies are sent uncompressed. */
export class CompressionGate {
  readonly #max: number
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#running >= this.#max
  }

  async compress(body: Uint8Array, { compress }: ContentCoding): Promise<Uint8Array> {
    if (compress === null) return body
    this.#running += 1
    try {
      // Copied: zlib returns a slice of a larger buffer, which a cache would keep.
      return new Uint8Array(await compress(body))
    } finally {
      this.#running -= 1
    }
  }
}

/** Headers that decide between page and JSON for a client that accepts HTML. */
const variedPage = 'Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Mode'

/** Vary of a page, or of a response that could have been one. */
export function varyByBrowser({ headers }: IncomingMessage, res: ServerResponse): void {
  if (acceptsHtml(headers)) res.setHeader('Vary', variedPage)
}

const acceptsHtml = ({ accept = '' }: IncomingHttpHeaders): boolean => /html/i.test(accept)

/**
 * Programs also accept HTML, but only browsers accept XHTML or navigate. A request with a format never wants
 * a page.
 */
export function wantsPage(headers: IncomingHttpHeaders, target: string): boolean {
  if (/[?&]format=[^&]/.test(target)) return false
  // Most requests come from programs, and need no parsing.
  if (!acceptsHtml(headers)) return false
  const typesInAccept = acceptedTypes(headers)
  if (typesInAccept.includes('application/xhtml+xml')) return true
  const [best] = typesInAccept
  const isHtml = best === 'text/html'
  if (headers['sec-fetch-mode'] === 'navigate') return isHtml
  return isHtml && !typesInAccept.includes('application/json') && !typesInAccept.includes('*/*')
}

/** Strong: equal tags mean equal bytes (RFC 9110, section 8.8.3). */
export type EntityTag = `"${string}"`

/** Weak comparison of RFC 9110 (section 13.1.2), with lists and `*`. A malformed header has no tag. */
export function matchingTag(ifNoneMatch: string | undefined, tags: readonly EntityTag[]): EntityTag | null {
  if (ifNoneMatch === undefined) return null
  if (ifNoneMatch.trim() === '*') return tags[0] ?? null
  const knownTags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? []
  return tags.find((tag) => knownTags.includes(tag)) ?? null
}
