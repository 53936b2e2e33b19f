import type { ServerResponse } from 'node:http'
import { busy } from './problems.ts'

export const jsonType = 'application/json'

/**
 * Sends 200 with exactly this Content-Type (spec: What the service does 3; Express would add a charset). The pieces are
 * sent one after the other, uncopied; to HEAD only the headers go.
 *
 * @returns the length of the body in bytes
 */
export function sendBytes(
  res: ServerResponse,
  mediaType: string,
  pieces: readonly (string | Uint8Array)[],
): number {
  const body = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  res.setHeader('Content-Type', mediaType)
  res.setHeader('Content-Length', length)
  if (res.req.method === 'HEAD') {
    res.end()
    return 0
  }
  const last = body.pop()
  for (const piece of body) res.write(piece)
  res.end(last)
  return length
}

export function sendText(res: ServerResponse, text: string): void {
  const body = Buffer.from(text)
  res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/**
 * Calls once when a response is over: sent, given up, or its connection gone. The connection is asked as well, since
 * Node tells a response of its end only where it ever got the connection.
 *
 * @returns calls it off
 */
export function whenOver(res: ServerResponse, then: () => void): () => void {
  const { socket } = res.req
  const off = (): void => {
    res.off('close', over)
    socket.off('close', over)
  }
  const over = (): void => {
    off()
    then()
  }
  if (res.closed || socket.destroyed) then()
  else {
    res.setMaxListeners(0)
    socket.setMaxListeners(0)
    res.once('close', over)
    socket.once('close', over)
  }
  return off
}

/** One signal, made when it is first needed, that fires when the reader goes away before the answer is sent. */
export function untilGone(res: ServerResponse): () => AbortSignal {
  let gone: AbortController | null = null
  return () => {
    if (gone !== null) return gone.signal
    const made = new AbortController()
    gone = made
    whenOver(res, () => {
      if (!res.writableFinished) made.abort()
    })
    return made.signal
  }
}

export interface SendLimits {
  /** Of what was made and not yet taken by readers, in bytes; past it nothing new is made. */
  readonly unsentBytesMax: number
  /** A reader who has not taken an answer after this long is cut off. */
  readonly sendTimeoutMs: number
}

interface Held {
  readonly bytes: number
  /** What is the same for all who hold the same bytes, which lie in memory once. */
  readonly shared: object
  /** Long ones may take as long as they like while something goes on. */
  readonly isLong: boolean
  /** When it was last seen to go on. */
  since: number
  /** What the connection had taken then, in bytes. */
  taken: number
}

/** How long an answer may lie while others need the room. */
const patienceMs = 2000
/** What a reader of something long must take in the time that others have for all of theirs. */
const longBytesMin = 1_000_000

/** What readers have not taken of their answers: bounded, for all together and in time. */
export class SendBudget {
  readonly #limits: SendLimits
  /** The longest waiting first. */
  readonly #held = new Map<ServerResponse, Held>()
  /** How many hold the same. */
  readonly #holders = new Map<object, number>()
  #bytes = 0

  constructor(limits: SendLimits) {
    this.#limits = limits
  }

  /** Of all readers together. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Makes room for a new answer: readers who have taken nothing for long are cut off, so that they stand in nobody's way
   * but their own.
   *
   * @throws Problem overloaded where that is not enough
   */
  requireRoom(): void {
    const { unsentBytesMax } = this.#limits
    const now = performance.now()
    for (const [res, held] of this.#held) {
      if (this.#bytes <= unsentBytesMax) break
      if (now - held.since < patienceMs || (held.isLong && this.#goesOn(res, held, 1))) continue
      this.#forget(res, held)
      res.destroy()
    }
    if (this.#bytes > unsentBytesMax) throw busy('overloaded', 'Too many readers do not take their answers.')
  }

  /** Whether others hold the same bytes, so that one more takes no memory. */
  isShared(shared: object): boolean {
    return this.#holders.has(shared)
  }

  /**
   * Counts bytes until they are taken, or the response is over; a reader who takes too long is cut off.
   *
   * @param shared alike for all who hold the same bytes, which are counted once
   * @returns tells that they are taken
   */
  hold(res: ServerResponse, bytes: number, shared: object = {}): () => void {
    return this.#watch(res, bytes, shared, false)
  }

  /** The same of something long, of which `bytes` are in memory at a time: it must go on. */
  follow(res: ServerResponse, bytes: number): void {
    this.#watch(res, bytes, {}, true)
  }

  #watch(res: ServerResponse, bytes: number, shared: object, isLong: boolean): () => void {
    const held = { bytes, shared, isLong, since: performance.now(), taken: takenBy(res) }
    this.#held.set(res, held)
    const holders = this.#holders.get(shared) ?? 0
    this.#holders.set(shared, holders + 1)
    if (holders === 0) this.#bytes += bytes
    const timer = setInterval(() => {
      if (!isLong || !this.#goesOn(res, held, longBytesMin)) res.destroy()
    }, this.#limits.sendTimeoutMs)
    const end = (): void => {
      clearInterval(timer)
      this.#forget(res, held)
    }
    const off = whenOver(res, end)
    return () => {
      off()
      end()
    }
  }

  #goesOn(res: ServerResponse, held: Held, min: number): boolean {
    const taken = takenBy(res)
    if (taken - held.taken < min) return false
    held.since = performance.now()
    held.taken = taken
    return true
  }

  #forget(res: ServerResponse, held: Held): void {
    if (this.#held.get(res) !== held) return
    this.#held.delete(res)
    const holders = (this.#holders.get(held.shared) ?? 1) - 1
    if (holders > 0) this.#holders.set(held.shared, holders)
    else {
      this.#holders.delete(held.shared)
      this.#bytes -= held.bytes
    }
  }
}

/** What a connection has handed to the system. */
function takenBy({ req: { socket } }: ServerResponse): number {
  return socket.bytesWritten - socket.writableLength
}

/** What comes bit by bit, once its first bit is there: until then it may still fail as a whole. */
export async function begun<T>(chunks: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const left = chunks[Symbol.asyncIterator]()
  const first = await left.next()
  async function* all(): AsyncGenerator<T> {
    try {
      for (let next = first; next.done !== true; next = await left.next()) yield next.value
    } finally {
      await left.return?.()
    }
  }
  return all()
}

/**
 * Sends what comes bit by bit, no faster than the reader takes it. The last word is that of HTTP: whoever gets less sees
 * the transfer break off before its end, whatever the reason.
 *
 * @param unsent counts what the reader has not taken, and cuts off one who takes too long
 * @param trailers told after the last byte, such as a count
 * @throws what the chunks throw, with the connection cut
 */
export async function sendStream(
  res: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  sendBudget: SendBudget,
  trailers: () => Readonly<Record<string, string>>,
): Promise<void> {
  // A client that knows the length may send its next request as soon as it has the last bytes. So send them only after the chunks
  // have ended and closed their files.
  const isLengthTold = res.hasHeader('Content-Length')
  let last: Uint8Array | null = null
  for await (const chunk of chunks) {
    if (res.destroyed) return
    const next = isLengthTold ? last : chunk
    if (isLengthTold) last = chunk
    if (next !== null && !res.write(next)) await untilTaken(res, sendBudget)
  }
  res.addTrailers(trailers())
  res.end(last ?? undefined)
}

/** Until the reader has taken what was sent, or is gone. */
async function untilTaken(res: ServerResponse, sendBudget: SendBudget): Promise<void> {
  const release = sendBudget.hold(res, res.writableLength)
  await new Promise<void>((resolve) => {
    const off = whenOver(res, () => {
      res.off('drain', drained)
      resolve()
    })
    const drained = (): void => {
      off()
      resolve()
    }
    res.once('drain', drained)
  })
  release()
}
