import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { smallCost, type Cost } from '../limits/costs.ts'
import { CompressionGate, acceptedEncodings, identity, type Encoding } from './negotiation.ts'
import { rangeOf } from './range.ts'
import { matchingTag, type EntityTag } from './negotiation.ts'
import { SingleFlight } from '../base/single-flight.ts'
import { accountFor } from './limits.ts'
import { type CacheStats, ResponseCache } from '../base/cache.ts'
import { untilGone, sendBytes, type SendBudget } from './send.ts'

/** The bytes of a response in pieces that follow each other. */
export interface Body {
  readonly pieces: readonly (string | Uint8Array)[]
  /** What only the making of the bytes has told. */
  readonly headers?: Readonly<Record<string, string>>
  readonly serverTiming?: string
  /** Processor time that making the bytes took, in ms, where the cost did not foresee it. */
  readonly work?: number
}

/** Writes a body and measures the processor time that it takes. */
export function timed(write: () => string | Uint8Array): Body {
  const begin = performance.now()
  const text = write()
  return { pieces: [text], work: performance.now() - begin }
}

/** A response that can be told apart before it is made. */
export interface NamedResponse {
  /** The same name, the same bytes. */
  readonly name: string
  readonly cacheControl: string
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  /** What making the bytes costs, where it is known beforehand; what it took is charged too. */
  readonly cost?: Cost
  /** Whether ranges of the bytes can be asked for. */
  readonly hasRanges?: boolean
  /** Whether the bytes cost neither work nor memory of their own. */
  readonly isAtHand: boolean
  /** Makes the bytes; called only where they are not kept. The signal fires when nobody wants them any more. */
  readonly body: (signal: () => AbortSignal) => Promise<Body> | Body
}

/** A name for what is known in full: 22 characters of a hash. */
export function nameOf(content: string): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

export interface ResponderLimits {
  /** Of all kept bodies together, in bytes. */
  readonly keptBytesMax: number
  /** At the same time; past it readers get the bytes as they are. */
  readonly compressionsMax: number
}

/** A body as it goes out. */
interface Form extends Body {
  readonly encoding: Encoding
}

/** In bytes; less fits into one packet anyway. */
const compressedMin = 1000
/** Of what is kept: so little goes out at once, into the buffers of the system, however slow a reader is. */
const freeBytesMax = 500_000

/**
 * Sends named responses: 304 where the reader has the bytes, kept bytes where there are some, and else what is
 * made now. What is asked for twice is kept, and so is every compressed form.
 */
export class Responder {
  readonly #cache: ResponseCache
  readonly #gate: CompressionGate
  readonly #budget: SendBudget
  /** Bodies, and compressed ones. */
  readonly #making = new SingleFlight<Body>()
  readonly #compressions = new SingleFlight<Form>()

  constructor({ keptBytesMax, compressionsMax }: ResponderLimits, budget: SendBudget) {
    this.#cache = new ResponseCache(keptBytesMax)
    this.#gate = new CompressionGate(compressionsMax)
    this.#budget = budget
  }

  /** @throws Problem overloaded, LimitReached, and whatever the making of the body throws; nothing is written then */
  async send(req: IncomingMessage, res: ServerResponse, response: NamedResponse): Promise<void> {
    const account = accountFor(res)
    const accepted = encodingsFor(req, response)
    // There is no Last-Modified: a second is too coarse to tell two imports apart, and a rollback goes back in time.
    const known = matchingTag(
      req.headers['if-none-match'],
      accepted.map((encoding) => tagOf(response, encoding)),
    )
    if (known !== null) {
      describe(res, response, known)
      res.statusCode = 304
      res.end()
      return
    }
    const encoding = this.#choose(response, accepted)
    const kept = this.#cache.get(keyOf(response, encoding))
    const { cost = smallCost } = response
    const isKept = kept !== undefined || this.#cache.has(response.name)
    await (isKept ? account.count() : account.spend(cost))
    const form: Form = kept
      ? { encoding, pieces: [kept.bytes], headers: kept.headers }
      : await this.#make(response, encoding, res, accepted)
    const unpaid = Math.round(form.work ?? 0) - cost
    if (unpaid > 0) await account.charge(unpaid)
    // Others may have left theirs lying while this one was made; and what is kept now may be thrown out before it is taken.
    const shared = kept?.bytes ?? form.pieces
    const isFree = response.isAtHand || (kept !== undefined && kept.bytes.length <= freeBytesMax)
    if (!isFree && !this.#budget.isShared(shared)) this.#budget.requireRoom()
    describe(res, response, tagOf(response, form.encoding))
    if (form.encoding.compress !== null) res.setHeader('Content-Encoding', form.encoding.name)
    if (form.serverTiming !== undefined) res.setHeader('Server-Timing', form.serverTiming)
    for (const [name, value] of Object.entries(form.headers ?? {})) res.setHeader(name, value)
    const isPart =
      response.hasRanges === true && form.encoding === identity && req.headers.range !== undefined
    const pieces = isPart ? partOf(req, res, response, form.pieces) : form.pieces
    const bytes = sendBytes(res, response.mediaType, pieces)
    if (!res.writableFinished && (res.socket?.writableLength ?? 0) > 0) this.#budget.hold(res, bytes, shared)
  }

  get stats(): CacheStats {
    return this.#cache.stats
  }

  /** The bytes of a response as they are, for whoever makes another of them: kept ones where there are some. */
  async bodyOf(response: NamedResponse, signal: () => AbortSignal): Promise<Body> {
    const kept = this.#cache.get(response.name)
    return kept === undefined ? this.#body(response, signal) : { pieces: [kept.bytes], headers: kept.headers }
  }

  /** The best coding, or the next that costs nothing while too much is being compressed. */
  #choose(response: NamedResponse, accepted: readonly Encoding[]): Encoding {
    const isCheap = (encoding: Encoding): boolean =>
      encoding.compress === null || this.#cache.has(keyOf(response, encoding))
    const [best = identity] = accepted
    if (!this.#gate.isFull) return best
    return accepted.find(isCheap) ?? best
  }

  async #make(
    response: NamedResponse,
    encoding: Encoding,
    res: ServerResponse,
    accepted: readonly Encoding[],
  ): Promise<Form> {
    const whole = this.#cache.getAgain(response.name)
    if (whole === undefined && !response.isAtHand) this.#budget.requireRoom()
    const gone = untilGone(res)
    if (encoding.compress === null) {
      const body = await this.#body(response, gone)
      this.#keepWanted(response, body)
      return { ...body, encoding }
    }
    // A reader who takes nothing but this form shares no work with those who can do with another.
    const isStrict = !accepted.includes(identity)
    const key = keyOf(response, encoding)
    return this.#compressions.join(isStrict ? `${key} only` : key, gone(), async (stop) => {
      const made: Body =
        whole === undefined
          ? await this.#body(response, () => stop)
          : { pieces: [whole.bytes], headers: whole.headers }
      const bytes = joined(made.pieces)
      // Others may have come to it first while this one waited for its rows.
      if (bytes.length < compressedMin || (this.#gate.isFull && !isStrict)) {
        this.#keepWanted(response, { ...made, pieces: [bytes] })
        return { ...made, pieces: [bytes], encoding: identity }
      }
      const compressed = await this.#gate.compress(bytes, encoding)
      this.#cache.keep(key, { bytes: compressed, headers: made.headers ?? {} })
      return { ...made, pieces: [compressed], encoding }
    })
  }

  /** Made once for all who want it at the same time, in whichever coding. */
  async #body(response: NamedResponse, signal: () => AbortSignal): Promise<Body> {
    if (response.isAtHand) return response.body(signal)
    return this.#making.join(response.name, signal(), async (stop) => response.body(() => stop))
  }

  #keepWanted({ name }: NamedResponse, { pieces, headers = {} }: Body): void {
    if (this.#cache.isWanted(name, lengthOf(pieces)))
      this.#cache.keep(name, { bytes: joined(pieces), headers })
  }
}

/** A range is one of the bytes as they are, for whoever takes those. */
function encodingsFor({ headers }: IncomingMessage, { hasRanges }: NamedResponse): readonly Encoding[] {
  const accepted = acceptedEncodings(headers['accept-encoding'])
  return hasRanges === true && headers.range !== undefined && accepted.includes(identity)
    ? [identity]
    : accepted
}

/** @throws Problem unsatisfiable-range */
function partOf(
  req: IncomingMessage,
  res: ServerResponse,
  response: NamedResponse,
  pieces: Body['pieces'],
): Body['pieces'] {
  const parts = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const { start, end } = rangeOf(req, res, tagOf(response, identity), lengthOf(parts))
  let at = 0
  return parts.flatMap((part) => {
    const from = at
    at += part.length
    return at <= start || from > end ? [] : [part.subarray(Math.max(0, start - from), end + 1 - from)]
  })
}

/** Each form of a response has a tag of its own, since its bytes differ. */
function tagOf({ name }: NamedResponse, { compress, name: encoding }: Encoding): EntityTag {
  return compress === null ? `"${name}"` : `"${name}-${encoding}"`
}

function keyOf({ name }: NamedResponse, { compress, name: encoding }: Encoding): string {
  return compress === null ? name : `${name}-${encoding}`
}

/** The headers that a 304 has as well. */
function describe(res: ServerResponse, { cacheControl, headers }: NamedResponse, tag: EntityTag): void {
  res.setHeader('ETag', tag)
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
