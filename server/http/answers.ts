import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { matchingTag, type EntityTag } from './conditional.ts'
import { acceptedEncodings, identity, type Encoding } from './encodings.ts'
import { SingleFlight } from '../concurrency/single-flight.ts'
import { untilGone } from './over.ts'
import { sendBytes } from './send.ts'
import type { Unsent } from './unsent.ts'

/** The bytes of an answer in pieces that follow each other. */
export interface Body {
  readonly pieces: readonly (string | Uint8Array)[]
  /** What only the making of the bytes has told. */
  readonly headers?: Readonly<Record<string, string>>
  readonly serverTiming?: string
}

/** An answer that can be told apart before it is made. */
export interface NamedAnswer {
  /** The same name, the same bytes. */
  readonly name: string
  /** HTTP date. */
  readonly lastModified: string
  readonly cacheControl: string
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  /** Whether the bytes cost neither work nor memory of their own. */
  readonly isAtHand: boolean
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
  /** At the same time; past it readers get the bytes as they are. */
  readonly compressionsMax: number
}

/** Bytes that are kept, and what came with them. */
interface Kept {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** A body as it goes out. */
interface Form extends Body {
  readonly encoding: Encoding
}

/** What an entry of the cache takes besides its bytes, about. */
const entryBytes = 300
/** In bytes; a few larger ones would push out all others. Their compressed forms are kept, which cost the most to make. */
const keptBytesMax = 1_000_000
/** In bytes; less fits into one packet anyway. */
const compressedMin = 1000
/** Of what is kept: so little goes out at once, into the buffers of the system, however slow a reader is. */
const freeBytesMax = 500_000
/** Names of answers asked for once, to know those that are asked for again. */
const askedOnceMax = 10_000

/**
 * Sends named answers: 304 where the reader has the bytes, kept bytes where there are some, and else what is
 * made now. What is asked for twice is kept, and so is every compressed form; the least recently used goes first.
 */
export class Answers {
  readonly #limits: AnswerLimits
  readonly #kept: LRUCache<string, Kept> | null
  readonly #askedOnce = new LRUCache<string, true>({ max: askedOnceMax })
  /** Bodies, and compressed ones. */
  readonly #making = new SingleFlight<Body>()
  readonly #compressions = new SingleFlight<Form>()
  #compressing = 0
  readonly #unsent: Unsent

  constructor(limits: AnswerLimits, unsent: Unsent) {
    this.#limits = limits
    this.#unsent = unsent
    this.#kept =
      limits.keptBytesMax === 0
        ? null
        : new LRUCache({
            maxSize: limits.keptBytesMax,
            sizeCalculation: ({ bytes }) => bytes.byteLength + entryBytes,
          })
  }

  /** @throws Problem overloaded, and whatever the making of the body throws; nothing is written then */
  async send(req: IncomingMessage, res: ServerResponse, answer: NamedAnswer): Promise<void> {
    const accepted = acceptedEncodings(req.headers['accept-encoding'])
    // If-Modified-Since is not looked at: a second is too coarse to tell two imports apart.
    const known = matchingTag(
      req.headers['if-none-match'],
      accepted.map((encoding) => tagOf(answer, encoding)),
    )
    if (known !== null) {
      describe(res, answer, known)
      res.statusCode = 304
      res.end()
      return
    }
    const encoding = this.#choose(answer, accepted)
    const kept = this.#kept?.get(keyOf(answer, encoding))
    const form: Form = kept
      ? { encoding, pieces: [kept.bytes], headers: kept.headers }
      : await this.#make(answer, encoding, res, accepted)
    // Others may have left theirs lying while this one was made; and what is kept now may be thrown out before it is taken.
    const shared = kept?.bytes ?? form.pieces
    const isFree = answer.isAtHand || (kept !== undefined && kept.bytes.length <= freeBytesMax)
    if (!isFree && !this.#unsent.isShared(shared)) this.#unsent.requireRoom()
    describe(res, answer, tagOf(answer, form.encoding))
    if (form.encoding.compress !== null) res.setHeader('Content-Encoding', form.encoding.name)
    if (form.serverTiming !== undefined) res.setHeader('Server-Timing', form.serverTiming)
    for (const [name, value] of Object.entries(form.headers ?? {})) res.setHeader(name, value)
    const bytes = sendBytes(res, answer.mediaType, form.pieces)
    if (!res.writableFinished && (res.socket?.writableLength ?? 0) > 0) this.#unsent.hold(res, bytes, shared)
  }

  /** The best coding, or the next that costs nothing while too much is being compressed. */
  #choose(answer: NamedAnswer, accepted: readonly Encoding[]): Encoding {
    const isCheap = (encoding: Encoding): boolean =>
      encoding.compress === null || this.#kept?.has(keyOf(answer, encoding)) === true
    const [best = identity] = accepted
    if (this.#compressing < this.#limits.compressionsMax) return best
    return accepted.find(isCheap) ?? best
  }

  async #make(
    answer: NamedAnswer,
    encoding: Encoding,
    res: ServerResponse,
    accepted: readonly Encoding[],
  ): Promise<Form> {
    const whole = this.#kept?.get(answer.name)
    if (whole === undefined && !answer.isAtHand) this.#unsent.requireRoom()
    const gone = untilGone(res)
    if (encoding.compress === null) {
      const body = await this.#body(answer, gone)
      this.#keepSecond(answer, body)
      return { ...body, encoding }
    }
    // A reader who takes nothing but this form shares no work with those who can do with another.
    const isStrict = !accepted.includes(identity)
    const key = keyOf(answer, encoding)
    return this.#compressions.join(isStrict ? `${key} only` : key, gone(), async (stop) => {
      const made: Body =
        whole === undefined
          ? await this.#body(answer, () => stop)
          : { pieces: [whole.bytes], headers: whole.headers }
      const bytes = joined(made.pieces)
      // Others may have come to it first while this one waited for its rows.
      const isFull = this.#compressing >= this.#limits.compressionsMax && !isStrict
      if (bytes.length < compressedMin || isFull) return { ...made, pieces: [bytes], encoding: identity }
      const compressed = await this.#compress(bytes, encoding)
      this.#kept?.set(key, { bytes: compressed, headers: made.headers ?? {} })
      return { ...made, pieces: [compressed], encoding }
    })
  }

  /** Made once for all who want it at the same time, in whichever coding. */
  async #body(answer: NamedAnswer, signal: () => AbortSignal): Promise<Body> {
    if (answer.isAtHand) return answer.body(signal)
    return this.#making.join(answer.name, signal(), async (stop) => answer.body(() => stop))
  }

  async #compress(whole: Uint8Array, { compress }: Encoding): Promise<Uint8Array> {
    this.#compressing += 1
    try {
      // A copy, since zlib returns a slice of a larger buffer.
      return compress === null ? whole : new Uint8Array(await compress(whole))
    } finally {
      this.#compressing -= 1
    }
  }

  /** A walk asks for each page once, and must not push out what others ask for again and again by its bulk. */
  #keepSecond(answer: NamedAnswer, { pieces, headers = {} }: Body): void {
    if (!this.#askedOnce.has(answer.name)) this.#askedOnce.set(answer.name, true)
    else if (this.#kept?.has(answer.name) === false && lengthOf(pieces) <= keptBytesMax)
      this.#kept.set(answer.name, { bytes: joined(pieces), headers })
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

/** In bytes; of texts about. */
function lengthOf(pieces: Body['pieces']): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** In memory of its own, so that what is kept holds nothing else. */
function joined(pieces: Body['pieces']): Uint8Array {
  const parts = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
