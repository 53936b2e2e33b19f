import type { ServerResponse } from 'node:http'
import type { Slot } from '../base/queue.ts'
import { busy } from './problems.ts'

export const jsonType = 'application/json'

/** The caller must have set all headers. */
export function sendNotModified(res: ServerResponse): void {
  res.statusCode = 304
  res.end()
}

/**
 * Sends 200 with exactly this Content-Type (spec: What the service does 3; Express would add a charset),
 * without copying.
 * @returns length of the body in bytes
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
 * Calls a function once when a response was sent, aborted or cut off. Watches the connection too, since Node
 * reports the end only of a response that had the socket.
 * @returns a function that cancels the call
 */
export function onResponseEnd(res: ServerResponse, callback: () => void): () => void {
  const { socket } = res.req
  const off = (): void => {
    res.off('close', onClose)
    socket.off('close', onClose)
  }
  const onClose = (): void => {
    off()
    callback()
  }
  if (res.closed || socket.destroyed) callback()
  else {
    res.setMaxListeners(0)
    socket.setMaxListeners(0)
    res.once('close', onClose)
    socket.once('close', onClose)
  }
  return off
}

/** Fires if the client disconnects before the response is sent. */
export function disconnectSignal(res: ServerResponse): () => AbortSignal {
  let controller: AbortController | null = null
  return () => {
    if (controller !== null) return controller.signal
    const newController = new AbortController()
    controller = newController
    onResponseEnd(res, () => {
      if (!res.writableFinished) newController.abort()
    })
    return newController.signal
  }
}

interface SendLimits {
  /** No new body is built beyond it. */
  readonly unsentBytesMax: number
  /** Timeout of a client that does not take its response. */
  readonly sendTimeoutMs: number
}

interface UnsentResponse {
  readonly bytes: number
  /** Equal for responses with the same bytes in memory. */
  readonly shared: object
  /** Long transfers may take any time while they progress. */
  readonly isLong: boolean
  progressAt: number
  sentBytes: number
}

/** After this time in ms, a response without progress gives up its memory and its slot. */
const patienceMs = 2000
const longBytesMin = 1_000_000

/** Limits how many bytes stay unsent, and how long. */
export class SendBudget {
  readonly #limits: SendLimits
  /** Responses in the order in which they began to wait. */
  readonly #responses = new Map<ServerResponse, UnsentResponse>()
  readonly #holders = new Map<object, number>()
  #bytes = 0

  constructor(limits: SendLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Cuts off clients that have kept a response waiting for `patienceMs`, except long transfers that progress.
   * @throws Problem overloaded if that is not enough
   */
  requireRoom(): void {
    const { unsentBytesMax } = this.#limits
    const now = performance.now()
    for (const [res, entry] of this.#responses) {
      if (this.#bytes <= unsentBytesMax) break
      if (now - entry.progressAt < patienceMs || (entry.isLong && this.#recordProgress(res, entry, 1)))
        continue
      this.#forget(res, entry)
      res.destroy()
    }
    if (this.#bytes > unsentBytesMax)
      throw busy('overloaded', 'Too many clients are slow to receive their responses.')
  }

  /** True if other responses hold these bytes, so another needs no memory. */
  isShared(shared: object): boolean {
    return this.#holders.has(shared)
  }

  /**
   * Counts bytes until they are taken; cuts off a client that takes too long.
   * @param shared equal for responses with the same bytes, which are counted once
   * @returns a function to call when they are taken
   */
  hold(res: ServerResponse, bytes: number, shared: object = {}): () => void {
    return this.#watch(res, bytes, shared, false)
  }

  /** Counts bytes of a long transfer in memory; cuts off a client with too little progress. */
  follow(res: ServerResponse, bytes: number): void {
    this.#watch(res, bytes, {}, true)
  }

  /**
   * Counts bytes, once per shared object, until the response ends; cuts off slow clients. Returns a function
   * that stops the count.
   */
  #watch(res: ServerResponse, bytes: number, shared: object, isLong: boolean): () => void {
    const entry = { bytes, shared, isLong, progressAt: performance.now(), sentBytes: sentBytesOf(res) }
    this.#responses.set(res, entry)
    const holders = this.#holders.get(shared) ?? 0
    this.#holders.set(shared, holders + 1)
    if (holders === 0) this.#bytes += bytes
    const timer = setInterval(() => {
      const mayContinue = isLong && this.#recordProgress(res, entry, longBytesMin)
      if (!mayContinue) res.destroy()
    }, this.#limits.sendTimeoutMs)
    const release = (): void => {
      clearInterval(timer)
      this.#forget(res, entry)
    }
    const cancelRelease = onResponseEnd(res, release)
    return () => {
      cancelRelease()
      release()
    }
  }

  #recordProgress(res: ServerResponse, entry: UnsentResponse, min: number): boolean {
    const sentBytes = sentBytesOf(res)
    if (sentBytes - entry.sentBytes < min) return false
    entry.progressAt = performance.now()
    entry.sentBytes = sentBytes
    return true
  }

  #forget(res: ServerResponse, entry: UnsentResponse): void {
    if (this.#responses.get(res) !== entry) return
    this.#responses.delete(res)
    const holders = (this.#holders.get(entry.shared) ?? 1) - 1
    if (holders > 0) this.#holders.set(entry.shared, holders)
    else {
      this.#holders.delete(entry.shared)
      this.#bytes -= entry.bytes
    }
  }
}

function sentBytesOf({ req: { socket } }: ServerResponse): number {
  return socket.bytesWritten - socket.writableLength
}

/** Waits for the first chunk: an earlier error can still become a response. */
export async function afterFirstChunk<T>(chunks: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* items(): AsyncGenerator<T> {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return items()
}

interface StreamOptions {
  /** Headers like a count, for a client that accepts trailers. */
  readonly trailers?: Readonly<Record<string, string>>
  readonly slot?: Slot
  /** Approximate memory of the source while it waits. */
  readonly readAheadBytes?: number
}

/**
 * Sends chunks as fast as the client takes them; after an error the response stays incomplete.
 * @throws errors of the chunks; `answerProblem` then closes a connection whose response has begun
 */
export async function sendStream(
  res: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  sendBudget: SendBudget,
  { trailers = {}, ...source }: StreamOptions = {},
): Promise<void> {
  // Varnish cuts off a response with a trailer that it did not request.
  const hasTrailers = /\btrailers\b/i.test(String(res.req.headers['te']))
  if (hasTrailers && Object.keys(trailers).length > 0)
    res.setHeader('Trailer', Object.keys(trailers).join(', '))
  // After the last chunk, a client that knows the length may send its next request, so the source must close
  // its files first.
  const hasContentLength = res.hasHeader('Content-Length')
  let heldChunk: Uint8Array | null = null
  for await (const chunk of chunks) {
    if (res.destroyed) return
    const next = hasContentLength ? heldChunk : chunk
    if (hasContentLength) heldChunk = chunk
    if (next !== null && !res.write(next)) await waitForDrain(res, sendBudget, source)
  }
  if (hasTrailers) res.addTrailers(trailers)
  res.end(heldChunk ?? undefined)
}

/** A slow client gives its slot to others; what was read ahead stays in memory and counts too. */
async function waitForDrain(
  res: ServerResponse,
  sendBudget: SendBudget,
  { slot, readAheadBytes = 0 }: StreamOptions,
): Promise<void> {
  let release = sendBudget.hold(res, res.writableLength)
  const timer = setTimeout(() => {
    slot?.pause()
    release()
    release = sendBudget.hold(res, res.writableLength + readAheadBytes)
  }, patienceMs)
  await new Promise<void>((resolve) => {
    // `onResponseEnd` calls back at once if the response has ended.
    const resume = (): void => resolve()
    res.once('drain', resume)
    const off = onResponseEnd(res, resume)
    res.once('drain', off)
  })
  clearTimeout(timer)
  release()
  if (!res.destroyed) await slot?.resume()
}

/** Gives up a slot while the client takes nothing, until the response ends. */
export function pauseWhileStalled(res: ServerResponse, slot: Slot): void {
  let sentBytes = sentBytesOf(res)
  const timer = setInterval(() => {
    const isStalled = res.writableLength > 0 && sentBytesOf(res) === sentBytes
    sentBytes = sentBytesOf(res)
    if (isStalled) slot.pause()
    // The transfer goes on before its turn has come: it needs little memory.
    else slot.resume().catch(() => undefined)
  }, patienceMs)
  onResponseEnd(res, () => clearInterval(timer))
}
