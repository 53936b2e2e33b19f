import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { isFromMoment, matchingTag, type EntityTag } from './conditional.ts'
import { acceptedEncodings, identity, type Encoding } from './encodings.ts'
import { Flights } from './flights.ts'
import { busy } from './problems.ts'
import { sendJson } from './send.ts'

/** The bytes of an answer in pieces that follow each other. */
export interface Body {
  readonly pieces: readonly (string | Uint8Array)[]
  readonly serverTiming?: string
}

/** An answer that can be told apart before it is made. */
export interface NamedAnswer {
  /** The same name, the same bytes. */
  readonly name: string
  /** HTTP date. */
  readonly lastModified: string
  readonly cacheControl: string
  readonly headers: Readonly<Record<string, string>>
  /** Makes the bytes; called only where they are not kept. The signal fires when nobody wants them any more. */
  readonly body: (signal: () => AbortSignal) => Promise<Body> | Body
}

/** A name for what is known in full: 22 characters of a hash. */
export function nameOf(content: string): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

export interface AnswerLimits {
  /** Of all kept bodies together, in bytes. */
  readonly keptBytesMax: number
  /** Of bodies that were made and not yet taken by their readers, in bytes; past it nothing new is made. */
  readonly unsentBytesMax: number
  /** A reader who has not taken an answer after this long is cut off. */
  readonly sendTimeoutMs: number
  /** At the same time; past it readers get the bytes as they are. */
  readonly compressionsMax: number
}

/** A body as it goes out. */
interface Form extends Body {
  readonly encoding: Encoding
}

/** In bytes; less fits into one packet anyway. */
const compressedLeast = 1000
/** Names of answers asked for once, to know those that are asked for again. */
const askedOnceMax = 10_000

/**
 * Sends named answers: 304 where the reader has the bytes, kept bytes where there are some, and else what is
 * made now. What is asked for twice is kept, and so is every compressed form; the least recently used goes first.
 */
export class Answers {
  readonly #limits: AnswerLimits
  readonly #kept: LRUCache<string, Uint8Array> | null
  readonly #askedOnce = new LRUCache<string, true>({ max: askedOnceMax })
  readonly #compressions = new Flights<Form>()
  #compressing = 0
  #unsentBytes = 0

  constructor(limits: AnswerLimits) {
    this.#limits = limits
    this.#kept =
      limits.keptBytesMax === 0
        ? null
        : new LRUCache({ maxSize: limits.keptBytesMax, sizeCalculation: ({ byteLength }) => byteLength })
  }

  /** @throws Problem overloaded, and whatever the making of the body throws; nothing is written then */
  async send(req: IncomingMessage, res: ServerResponse, answer: NamedAnswer): Promise<void> {
    const accepted = acceptedEncodings(req.headers['accept-encoding'])
    const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = req.headers
    const known = matchingTag(
      ifNoneMatch,
      accepted.map((encoding) => tagOf(answer, encoding)),
    )
    const isUnchanged =
      known !== null || (ifNoneMatch === undefined && isFromMoment(ifModifiedSince, answer.lastModified))
    const encoding = this.#choose(answer, accepted)
    if (isUnchanged) {
      describe(res, answer, known ?? tagOf(answer, encoding))
      res.statusCode = 304
      res.end()
      return
    }
    const kept = this.#kept?.get(keyOf(answer, encoding))
    const form = kept ? { encoding, pieces: [kept] } : await this.#make(answer, encoding, res)
    describe(res, answer, tagOf(answer, form.encoding))
    if (form.encoding.compress !== null) res.setHeader('Content-Encoding', form.encoding.name)
    if (form.serverTiming !== undefined) res.setHeader('Server-Timing', form.serverTiming)
    const bytes = sendJson(res, form.pieces)
    this.#watch(res, bytes)
  }

  /** The best coding, or the next that costs nothing while too much is being compressed. */
  #choose(answer: NamedAnswer, accepted: readonly Encoding[]): Encoding {
    const isCheap = (encoding: Encoding): boolean =>
      encoding.compress === null || this.#kept?.has(keyOf(answer, encoding)) === true
    const [best = identity] = accepted
    if (this.#compressing < this.#limits.compressionsMax) return best
    return accepted.find(isCheap) ?? best
  }

  async #make(answer: NamedAnswer, encoding: Encoding, res: ServerResponse): Promise<Form> {
    if (this.#unsentBytes > this.#limits.unsentBytesMax)
      throw busy('overloaded', 'Too many readers do not take their answers.')
    if (encoding.compress === null) {
      const body = await answer.body(() => untilGone(res))
      this.#keepSecond(answer, body)
      return { ...body, encoding }
    }
    return this.#compressions.join(keyOf(answer, encoding), untilGone(res), async (stop) => {
      const { pieces, serverTiming } = await answer.body(() => stop)
      const timing = serverTiming === undefined ? {} : { serverTiming }
      const whole = joined(pieces)
      if (whole.length < compressedLeast) return { pieces: [whole], encoding: identity, ...timing }
      const bytes = await this.#compress(whole, encoding)
      this.#kept?.set(keyOf(answer, encoding), bytes)
      return { pieces: [bytes], encoding, ...timing }
    })
  }

  async #compress(whole: Uint8Array, { compress }: Encoding): Promise<Uint8Array> {
    this.#compressing += 1
    try {
      return compress === null ? whole : await compress(whole)
    } finally {
      this.#compressing -= 1
    }
  }

  /** A walk asks for each page once, and must not push out what others ask for again and again. */
  #keepSecond(answer: NamedAnswer, { pieces }: Body): void {
    if (this.#askedOnce.has(answer.name)) this.#kept?.set(answer.name, joined(pieces))
    else this.#askedOnce.set(answer.name, true)
  }

  /** Bounds what readers leave lying, and for how long. */
  #watch(res: ServerResponse, bytes: number): void {
    if (res.writableFinished || (res.socket?.writableLength ?? 0) === 0) return
    this.#unsentBytes += bytes
    const timer = setTimeout(() => res.destroy(), this.#limits.sendTimeoutMs)
    res.once('close', () => {
      clearTimeout(timer)
      this.#unsentBytes -= bytes
    })
  }
}

/** Each form of an answer has a tag of its own, since its bytes differ. */
function tagOf({ name }: NamedAnswer, { compress, name: encoding }: Encoding): EntityTag {
  return compress === null ? `"${name}"` : `"${name}-${encoding}"`
}

function keyOf({ name }: NamedAnswer, { compress, name: encoding }: Encoding): string {
  return compress === null ? name : `${name}-${encoding}`
}

/** The headers that a 304 has as well. */
function describe(
  res: ServerResponse,
  { lastModified, cacheControl, headers }: NamedAnswer,
  tag: EntityTag,
): void {
  res.setHeader('ETag', tag)
  res.setHeader('Last-Modified', lastModified)
  res.setHeader('Cache-Control', cacheControl)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

/** Fires when the reader goes away before the answer is sent. */
function untilGone(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

function joined(pieces: Body['pieces']): Uint8Array {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}
