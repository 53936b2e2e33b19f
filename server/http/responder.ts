import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestWork } from '../base/request-work.ts'
import {
  CompressionGate,
  acceptedEncodings,
  identity,
  type ContentCoding,
  matchingTag,
  type EntityTag,
} from './negotiation.ts'
import { beginRange } from './range.ts'
import { SingleFlight } from '../base/single-flight.ts'
import { accountFor } from './limits.ts'
import { type CachedBody, type CacheStats, ResponseCache } from '../base/cache.ts'
import { disconnectSignal, sendBytes, sendNotModified, type SendBudget } from './send.ts'

export interface Body {
  readonly pieces: readonly (string | Uint8Array)[]
  /** Headers that are known only after the body. */
  readonly headers?: Readonly<Record<string, string>>
  readonly serverTiming?: string
  /** Processor time in ms; absent if it is charged elsewhere. */
  readonly ms?: number
  /** True if the pieces are a gzip file. */
  readonly isGzip?: boolean
}

export function timed(write: () => string | Uint8Array): Body {
  const begin = performance.now()
  const text = write()
  return { pieces: [text], ms: performance.now() - begin }
}

/** A response named before its body is built. */
export interface NamedResponse {
  /** Equal names mean equal bytes. */
  readonly name: string
  readonly cacheControl: string
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  /** Work known in advance; the rest is charged afterwards. */
  readonly work?: RequestWork
  readonly hasRanges?: boolean
  /** The body is in memory, and costs nothing more. */
  readonly isAtHand: boolean
  /** A gzip body may cost less, since most of it is already compressed. */
  readonly isStoredAsGzip?: boolean
  /**
   * Builds the body unless it is cached. The signal fires when no client waits any more.
   * @param mayBeGzip true if the body may be in gzip; requires `isStoredAsGzip`
   */
  readonly body: (signal: () => AbortSignal, mayBeGzip: boolean) => Promise<Body> | Body
}

export function contentName(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

interface ResponderLimits {
  /** Bytes of all cached bodies together. */
  readonly cachedBytesMax: number
  /** Concurrent compressions; further bodies are sent uncompressed. */
  readonly compressionsMax: number
}

interface Form extends Body {
  readonly encoding: ContentCoding
}

/** Smaller bodies fit into one packet. */
const compressedMin = 1000
/** Cached bodies up to this size need no room in the send budget: buffers of the system take them at once. */
const freeBytesMax = 500_000

/**
 * Sends named responses: 304, cached bytes, or a new body. Bodies are cached at their second request,
 * compressed forms always.
 */
export class Responder {
  readonly #cache: ResponseCache
  readonly #gate: CompressionGate
  readonly #budget: SendBudget
  readonly #making = new SingleFlight<Body>()
  readonly #compressions = new SingleFlight<Form>()

  constructor({ cachedBytesMax, compressionsMax }: ResponderLimits, budget: SendBudget) {
    this.#cache = new ResponseCache(cachedBytesMax)
    this.#gate = new CompressionGate(compressionsMax)
    this.#budget = budget
  }

  /** Sends a response or 304 in the best accepted coding, and charges the client. */
  async send(req: IncomingMessage, res: ServerResponse, response: NamedResponse): Promise<void> {
    const account = accountFor(res)
    const encodings = encodingsFor(req, response)
    // No Last-Modified: two imports may share a second, and a rollback goes back in time.
    const tag = matchingTag(
      req.headers['if-none-match'],
      encodings.map((encoding) => tagOf(response, encoding)),
    )
    if (tag !== null) {
      describe(res, response, tag)
      sendNotModified(res)
      return
    }
    const encoding = this.#choose(response, encodings)
    const cachedBody = this.#cache.get(keyOf(response, encoding))
    const { work = {} } = response
    const isCached = cachedBody !== undefined || this.#cachedPlainBody(response, encoding) !== undefined
    await (isCached ? account.count() : account.spend(work))
    const form: Form = cachedBody
      ? { encoding, pieces: [cachedBody.bytes], headers: cachedBody.headers }
      : await this.#make(response, encoding, res, encodings)
    if (form.ms !== undefined) await account.charge(form.ms, work)
    // Other slow clients may have filled the budget meanwhile. Cached bytes count too, since they may be
    // evicted while this response holds them.
    const heldObject = cachedBody?.bytes ?? form.pieces
    const isFree = response.isAtHand || (cachedBody !== undefined && cachedBody.bytes.length <= freeBytesMax)
    if (!isFree && !this.#budget.isShared(heldObject)) this.#budget.requireRoom()
    describe(res, response, tagOf(response, form.encoding))
    if (form.encoding.compress !== null) res.setHeader('Content-Encoding', form.encoding.name)
    if (form.serverTiming !== undefined) res.setHeader('Server-Timing', form.serverTiming)
    for (const [name, value] of Object.entries(form.headers ?? {})) res.setHeader(name, value)
    const isPart =
      response.hasRanges === true && form.encoding === identity && req.headers.range !== undefined
    const pieces = isPart ? partOf(req, res, response, form.pieces) : form.pieces
    const bytes = sendBytes(res, response.mediaType, pieces)
    if (!res.writableFinished && (res.socket?.writableLength ?? 0) > 0)
      this.#budget.hold(res, bytes, heldObject)
  }

  get stats(): CacheStats {
    return this.#cache.stats
  }

  /** Uncompressed body, for building another response. */
  async bodyOf(response: NamedResponse, signal: () => AbortSignal): Promise<Body> {
    const cachedBody = this.#cache.get(response.name)
    return cachedBody === undefined
      ? this.#body(response, signal)
      : { pieces: [cachedBody.bytes], headers: cachedBody.headers }
  }

  /** Best coding; while too many compressions run, one that needs none. */
  #choose(response: NamedResponse, encodings: readonly ContentCoding[]): ContentCoding {
    const isCheap = (encoding: ContentCoding): boolean =>
      encoding.compress === null ||
      hasStoredGzip(response, encoding) ||
      this.#cache.has(keyOf(response, encoding))
    const [best = identity] = encodings
    if (!this.#gate.isFull) return best
    return encodings.find(isCheap) ?? best
  }

  /** Returns the body in the best coding: cached, compressed, or as it is while too many compressions run. */
  async #make(
    response: NamedResponse,
    encoding: ContentCoding,
    res: ServerResponse,
    encodings: readonly ContentCoding[],
  ): Promise<Form> {
    const cachedBody = this.#cachedPlainBody(response, encoding)
    if (cachedBody === undefined && !response.isAtHand) this.#budget.requireRoom()
    const signal = disconnectSignal(res)
    if (encoding.compress === null) {
      const body = await this.#body(response, signal)
      this.#cacheIfRequestedAgain(response.name, body)
      return { ...body, encoding }
    }
    // Clients that refuse uncompressed bodies share work only with each other.
    const refusesPlain = !encodings.includes(identity)
    const key = keyOf(response, encoding)
    const mayBeGzip = hasStoredGzip(response, encoding)
    return this.#compressions.join(refusesPlain ? `${key} only` : key, signal, async (sharedSignal) => {
      const body: Body =
        cachedBody === undefined
          ? await this.#body(response, sharedSignal, mayBeGzip)
          : { pieces: [cachedBody.bytes], headers: cachedBody.headers }
      if (body.isGzip === true) {
        this.#cacheIfRequestedAgain(key, body)
        return { ...body, encoding }
      }
      const bytes = joinPieces(body.pieces)
      // Other requests may have filled the limit while this one waited for its rows.
      if (bytes.length < compressedMin || (this.#gate.isFull && !refusesPlain)) {
        this.#cacheIfRequestedAgain(response.name, { ...body, pieces: [bytes] })
        return { ...body, pieces: [bytes], encoding: identity }
      }
      const compressed = await this.#gate.compress(bytes, encoding)
      this.#cache.keep(key, { bytes: compressed, headers: body.headers ?? {} })
      return { ...body, pieces: [compressed], encoding }
    })
  }

  /** A body stored in gzip is not compressed again, since its bytes would differ. */
  #cachedPlainBody(response: NamedResponse, encoding: ContentCoding): CachedBody | undefined {
    const cachedBody = this.#cache.getAgain(response.name)
    const isOther = hasStoredGzip(response, encoding) && (cachedBody?.bytes.length ?? 0) >= compressedMin
    return isOther ? undefined : cachedBody
  }

  /** Builds the body once for concurrent requests in any coding, but separately if it may be gzip. */
  async #body(response: NamedResponse, signal: () => AbortSignal, mayBeGzip = false): Promise<Body> {
    if (response.isAtHand) return response.body(signal, mayBeGzip)
    const name = mayBeGzip ? `${response.name} gzip` : response.name
    return this.#making.join(name, signal, async (stop) => response.body(stop, mayBeGzip))
  }

  #cacheIfRequestedAgain(name: string, { pieces, headers = {} }: Body): void {
    if (this.#cache.isWanted(name, lengthOf(pieces)))
      this.#cache.keep(name, { bytes: joinPieces(pieces), headers })
  }
}

function hasStoredGzip({ isStoredAsGzip }: NamedResponse, { name }: ContentCoding): boolean {
  return isStoredAsGzip === true && name === 'gzip'
}

/** A range refers to the uncompressed body, if the client accepts that. */
function encodingsFor(
  { headers }: IncomingMessage,
  { hasRanges, isStoredAsGzip }: NamedResponse,
): readonly ContentCoding[] {
  const accepted = acceptedEncodings(headers['accept-encoding'], isStoredAsGzip)
  return hasRanges === true && headers.range !== undefined && accepted.includes(identity)
    ? [identity]
    : accepted
}

function partOf(
  req: IncomingMessage,
  res: ServerResponse,
  response: NamedResponse,
  pieces: Body['pieces'],
): Body['pieces'] {
  const parts = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const { start, end } = beginRange(req, res, tagOf(response, identity), lengthOf(parts))
  let offset = 0
  return parts.flatMap((part) => {
    const from = offset
    offset += part.length
    return offset <= start || from > end ? [] : [part.subarray(Math.max(0, start - from), end + 1 - from)]
  })
}

/** Each coding has its own tag, since the bytes differ. */
function tagOf({ name }: NamedResponse, { compress, name: encoding }: ContentCoding): EntityTag {
  return compress === null ? `"${name}"` : `"${name}-${encoding}"`
}

function keyOf({ name }: NamedResponse, { compress, name: encoding }: ContentCoding): string {
  return compress === null ? name : `${name}-${encoding}`
}

function describe(res: ServerResponse, { cacheControl, headers }: NamedResponse, tag: EntityTag): void {
  res.setHeader('ETag', tag)
  res.setHeader('Cache-Control', cacheControl)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

function lengthOf(pieces: Body['pieces']): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** Copies the pieces, so that a cached body retains no other memory. */
function joinPieces(pieces: Body['pieces']): Uint8Array {
  const parts = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
