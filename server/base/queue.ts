import { setImmediate } from 'node:timers/promises'

/**
 * Queue that serves clients in turn, and the requests of one client in their order. A hundred requests of one
 * client delay a single request of another client by only one of them.
 */
export class FairQueue<T> {
  /** Waiters by lane; the lane to serve next comes first. */
  readonly #lanes = new Map<string, Set<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  join(lane: string, waiter: T): void {
    const waiters = this.#lanes.get(lane)
    if (waiters === undefined) this.#lanes.set(lane, new Set([waiter]))
    else waiters.add(waiter)
    this.#size += 1
  }

  leave(lane: string, waiter: T): void {
    const waiters = this.#lanes.get(lane)
    if (waiters?.delete(waiter) !== true) return
    this.#size -= 1
    if (waiters.size === 0) this.#lanes.delete(lane)
  }

  /**
   * Removes the last waiter of the longest lane to make room for a new one in `lane`; undefined if that would
   * be no fairer.
   */
  yieldTo(lane: string): T | undefined {
    let longest: readonly [string, Set<T>] | undefined
    for (const entry of this.#lanes) if (entry[1].size > (longest?.[1].size ?? 0)) longest = entry
    if (longest === undefined || longest[1].size <= (this.#lanes.get(lane)?.size ?? 0) + 1) return undefined
    const last = [...longest[1]].at(-1)
    if (last !== undefined) this.leave(longest[0], last)
    return last
  }

  /**
   * Dequeues the next eligible waiter; undefined if there is none.
   * @param mayBe whether the first waiter of a lane may be served now
   */
  next(mayBe: (lane: string, waiter: T) => boolean): { lane: string; waiter: T } | undefined {
    for (const [lane, waiters] of this.#lanes) {
      const [waiter] = waiters
      if (waiter === undefined || !mayBe(lane, waiter)) continue
      this.leave(lane, waiter)
      // Moves the lane behind all others.
      if (this.#lanes.delete(lane)) this.#lanes.set(lane, waiters)
      return { lane, waiter }
    }
    return undefined
  }
}

/** A waiter, with data that decides when it can be served. */
export interface Waiter<T, About> {
  readonly about: About
  readonly serve: (what: T) => void
  readonly refuse: (reason: Error) => void
}

interface Patience {
  /** Removes the waiter from the queue. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Makes the error for a waiter that timed out. */
  readonly refusal: () => Error
}

/** Waits in the queue until served. Throws the reason of the signal, or the refusal after the timeout. */
export function waitIn<T, About>(
  queue: FairQueue<Waiter<T, About>>,
  lane: string,
  about: About,
  { signal, timeoutMs, refusal }: Patience,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      queue.leave(lane, waiter)
    }
    const waiter: Waiter<T, About> = {
      about,
      serve: (what) => {
        settle()
        resolve(what)
      },
      refuse: (reason) => {
        settle()
        reject(reason)
      },
    }
    const onAbort = (): void => waiter.refuse(signal.reason as Error)
    const timer = setTimeout(() => waiter.refuse(refusal()), timeoutMs)
    signal.addEventListener('abort', onAbort)
    queue.join(lane, waiter)
  })
}

/** The server is too busy at this moment; the message says with what. A retry may succeed. */
export class QueueFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueueFull'
  }
}

/** Limits concurrent long operations; one client may hold at most half of the slots. */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #what: string
  readonly #running = new Map<string, number>()
  #all = 0

  /** @param what name of the operations in error messages, such as `exports` */
  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  get running(): number {
    return this.#all
  }

  /** @throws QueueFull if too many are running */
  async during<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#running.get(client) ?? 0
    if (this.#all >= this.#max) throw new QueueFull(`Too many ${this.#what} are running.`)
    if (own >= Math.ceil(this.#max / 2)) throw new QueueFull(`Too many of your ${this.#what} are running.`)
    this.#all += 1
    this.#running.set(client, own + 1)
    try {
      return await work()
    } finally {
      this.#all -= 1
      const remaining = (this.#running.get(client) ?? 1) - 1
      if (remaining === 0) this.#running.delete(client)
      else this.#running.set(client, remaining)
    }
  }
}

export interface MemoryGateLimits {
  /** Limit for all answers that are being built, in bytes. */
  readonly makingBytesMax: number
  /** Timeout in the queue. */
  readonly queueTimeoutMs: number
}

/**
 * Reserves memory for large answers while they are built, since each holds the rows it has read so far. If
 * there is no room, requests wait in a fair queue.
 */
export class MemoryGate {
  readonly #limits: MemoryGateLimits
  readonly #queue = new FairQueue<Waiter<void, number>>()
  #reservedBytes = 0

  constructor(limits: MemoryGateLimits) {
    this.#limits = limits
  }

  get reservedBytes(): number {
    return this.#reservedBytes
  }

  /**
   * @param about bytes of the answer; one larger than the limit is built alone
   * @param signal removes the request from the queue
   * @throws QueueFull after the timeout; the reason of the signal if it is aborted
   */
  async during<T>(about: number, client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    // Round up: sums of fractions would leave a rounding error that is never released, and a large answer
    // could never run alone.
    const bytes = Math.ceil(about)
    if (this.#queue.size > 0 || !this.#fits(bytes)) {
      const timeoutMs = this.#limits.queueTimeoutMs
      await waitIn(this.#queue, client, bytes, { signal, timeoutMs, refusal: crowded })
    } else this.#reservedBytes += bytes
    try {
      return await work()
    } finally {
      this.#reservedBytes -= bytes
      this.#serveNext()
    }
  }

  #serveNext(): void {
    for (;;) {
      const next = this.#queue.next((_lane, { about }) => this.#fits(about))
      if (next === undefined) return
      this.#reservedBytes += next.waiter.about
      next.waiter.serve()
    }
  }

  #fits(bytes: number): boolean {
    return this.#reservedBytes === 0 || this.#reservedBytes + bytes <= this.#limits.makingBytesMax
  }
}

function crowded(): QueueFull {
  return new QueueFull('Too many large pages are being built.')
}

/** Maximum time between two yields, in ms. */
const slotMs = 2

/** Tail of the queue: resolves when all earlier waiters have had their slot. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * Yields the event loop during long work on the main thread: between two slots of such work, all other
 * pending work runs.
 */
export class EventLoopYielder {
  readonly #signal: AbortSignal
  #began = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Yields if the slot has been used up. Throws the reason of the signal. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < slotMs) return
    const slot = queue.then(() => setImmediate())
    queue = slot
    await slot
    this.#signal.throwIfAborted()
    this.#began = performance.now()
  }
}
