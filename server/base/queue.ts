import { setImmediate } from 'node:timers/promises'

/** Serves clients in turn: a hundred requests of one client delay another client by only one request. */
export class FairQueue<T> {
  /** Waiters by lane; the next lane comes first. */
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
   * Removes the last waiter of the longest lane for a new one in `lane`; undefined if that would be no
   * fairer.
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

export interface Waiter<T, About> {
  readonly demand: About
  readonly serve: (item: T) => void
  readonly refuse: (reason: Error) => void
}

interface Patience {
  readonly signal: AbortSignal
  /** Infinity means no timeout. */
  readonly timeoutMs: number
  readonly refusal: () => Error
}

/** Waits for a turn in the queue. Throws the signal's reason, or the refusal after the timeout. */
export function waitIn<T, About>(
  queue: FairQueue<Waiter<T, About>>,
  lane: string,
  demand: About,
  { signal, timeoutMs, refusal }: Patience,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      queue.leave(lane, waiter)
    }
    const waiter: Waiter<T, About> = {
      demand,
      serve: (item) => {
        settle()
        resolve(item)
      },
      refuse: (reason) => {
        settle()
        reject(reason)
      },
    }
    const onAbort = (): void => waiter.refuse(signal.reason as Error)
    const timer = timeoutMs === Infinity ? undefined : setTimeout(() => waiter.refuse(refusal()), timeoutMs)
    signal.addEventListener('abort', onAbort)
    queue.join(lane, waiter)
  })
}

/** A retry may succeed. */
export class QueueFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueueFull'
  }
}

/** An operation gives its slot up while it waits for its client. */
export interface Slot {
  /** Gives the slot to the next operation in the queue. */
  readonly pause: () => void
  /**
   * Waits for a slot after a pause.
   * @throws the reason of the signal
   */
  readonly resume: () => Promise<void>
}

interface ConcurrencyLimits {
  readonly max: number
  /** Running operations of one client; half of `max` by default. */
  readonly clientMax?: number
  readonly queueTimeoutMs: number
  readonly queueLengthMax: number
}

/** Operations beyond the limit wait in a fair queue. */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits
  readonly #resource: string
  readonly #queue = new FairQueue<Waiter<void, null>>()
  readonly #running = new Map<string, number>()
  #total = 0

  constructor(limits: ConcurrencyLimits, resource: string) {
    this.#limits = limits
    this.#resource = resource
  }

  get running(): number {
    return this.#total
  }

  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Does work in a slot, once one is free.
   * @param signal removes the operation from the queue
   * @throws QueueFull at once if no client yields a place in a full queue, or after the timeout; if the signal
   * is aborted, its reason
   */
  async during<T>(client: string, signal: AbortSignal, work: (slot: Slot) => Promise<T>): Promise<T> {
    const { queueTimeoutMs, queueLengthMax } = this.#limits
    if (this.#queue.size >= queueLengthMax) {
      const displaced = this.#queue.yieldTo(client)
      if (displaced === undefined) throw this.#crowded()
      displaced.refuse(this.#crowded())
    }
    await this.#begin(client, signal, queueTimeoutMs)
    const end = new AbortController()
    const slot = this.#slot(client, AbortSignal.any([signal, end.signal]))
    try {
      return await work(slot)
    } finally {
      // Frees the slot for good: `end` stops a resumption.
      slot.pause()
      end.abort()
    }
  }

  #slot(client: string, signal: AbortSignal): Slot {
    let isHeld = true
    let resumption: Promise<void> | null = null
    const pause = (): void => {
      if (isHeld) this.#end(client)
      isHeld = false
    }
    const resume = async (): Promise<void> => {
      // An operation that was admitted once waits as long as necessary.
      await this.#begin(client, signal, Infinity)
      isHeld = true
      resumption = null
      // The operation may have ended before its turn came.
      if (signal.aborted) pause()
    }
    return { pause, resume: () => (isHeld ? Promise.resolve() : (resumption ??= resume())) }
  }

  async #begin(client: string, signal: AbortSignal, timeoutMs: number): Promise<void> {
    signal.throwIfAborted()
    if (this.#mayRun(client)) this.#count(client, 1)
    else await waitIn(this.#queue, client, null, { signal, timeoutMs, refusal: () => this.#crowded() })
  }

  #end(client: string): void {
    this.#count(client, -1)
    for (;;) {
      const next = this.#queue.next((lane) => this.#mayRun(lane))
      if (next === undefined) return
      this.#count(next.lane, 1)
      next.waiter.serve()
    }
  }

  #mayRun(client: string): boolean {
    const { max, clientMax = Math.ceil(max / 2) } = this.#limits
    return this.#total < max && (this.#running.get(client) ?? 0) < clientMax
  }

  #count(client: string, change: 1 | -1): void {
    this.#total += change
    const count = (this.#running.get(client) ?? 0) + change
    if (count === 0) this.#running.delete(client)
    else this.#running.set(client, count)
  }

  #crowded(): QueueFull {
    return new QueueFull(`Too many ${this.#resource} are running.`)
  }
}

interface MemoryGateLimits {
  /** Bytes of all answers that are being built. */
  readonly makingBytesMax: number
  readonly queueTimeoutMs: number
}

/**
 * Reserves memory for answers, each of which holds the rows it has read. Without room, requests wait in a
 * fair queue.
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
   * Does work once its memory is reserved.
   * @param demand bytes of the answer
   * @param signal removes the request from the queue
   * @throws QueueFull after the timeout; the reason of the signal if it is aborted
   */
  async during<T>(
    demand: number,
    client: string,
    signal: () => AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    // Fractions could leave a rounding error reserved forever, and a large answer could then never run alone.
    const bytes = Math.ceil(demand)
    if (this.#queue.size > 0 || !this.#fits(bytes)) {
      const timeoutMs = this.#limits.queueTimeoutMs
      signal().throwIfAborted()
      // `#serveNext` reserves the bytes before it ends the wait.
      await waitIn(this.#queue, client, bytes, { signal: signal(), timeoutMs, refusal: crowded })
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
      const next = this.#queue.next((_lane, { demand }) => this.#fits(demand))
      if (next === undefined) return
      this.#reservedBytes += next.waiter.demand
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

const slotMs = 2

/** Resolves when all earlier waiters have had their slot. */
let queue: Promise<unknown> = Promise.resolve()

/** Lets all other pending work run between two slots of long work. */
export class EventLoopYielder {
  readonly #signal: () => AbortSignal
  #began = performance.now()

  /** @param signal called only if the work outlasts a slot, since a signal costs as much as a short page */
  constructor(signal: () => AbortSignal) {
    this.#signal = signal
  }

  /** Yields if the slot is used up. Throws the reason of the signal. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < slotMs) return
    const slot = queue.then(() => setImmediate())
    queue = slot
    await slot
    this.#signal().throwIfAborted()
    this.#began = performance.now()
  }
}
