import { setImmediate } from 'node:timers/promises'

/**
 * Who waits, in turn by client and first come first served within one: a client who asks for a hundred things at
 * once keeps another, who asks for one, waiting for one.
 */
export class FairQueue<T> {
  /** Lane -> its waiters; the lane whose turn it is stands first. */
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
   * Takes the last of the longest lane out of the queue, to make room for one who joins `lane`; undefined where that
   * would be no fairer.
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
   * Takes whose turn it is out of the queue; undefined where nobody waits who may be served.
   *
   * @param mayBe whether the first of a lane may be served now
   */
  next(mayBe: (lane: string, waiter: T) => boolean): { lane: string; waiter: T } | undefined {
    for (const [lane, waiters] of this.#lanes) {
      const [waiter] = waiters
      if (waiter === undefined || !mayBe(lane, waiter)) continue
      this.leave(lane, waiter)
      // Behind all other lanes.
      if (this.#lanes.delete(lane)) this.#lanes.set(lane, waiters)
      return { lane, waiter }
    }
    return undefined
  }
}

/** Who waits for something, and what else is to be known of him. */
export interface Waiter<T, About> {
  readonly about: About
  readonly serve: (what: T) => void
  readonly refuse: (reason: Error) => void
}

interface Patience {
  /** Leaves the queue. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** What is told to whom it took too long. */
  readonly refusal: () => Error
}

/** Waits in the queue until it is served; throws the reason of the signal, or the refusal. */
export function waitIn<T, About>(
  queue: FairQueue<Waiter<T, About>>,
  lane: string,
  about: About,
  { signal, timeoutMs, refusal }: Patience,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', gone)
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
    const gone = (): void => waiter.refuse(signal.reason as Error)
    const timer = setTimeout(() => waiter.refuse(refusal()), timeoutMs)
    signal.addEventListener('abort', gone)
    queue.join(lane, waiter)
  })
}

/** More is asked for at this moment than can be done; the message says of what. Later it may be done. */
export class QueueFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueueFull'
  }
}

/** So many may do something long at the same time, and one client no more than half of them. */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #what: string
  readonly #running = new Map<string, number>()
  #all = 0

  /** @param what is told to whom it refuses, such as `exports` */
  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  /** How many run now. */
  get running(): number {
    return this.#all
  }

  /** @throws QueueFull where too many run already */
  async during<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#running.get(client) ?? 0
    if (this.#all >= this.#max) throw new QueueFull(`Too many ${this.#what} are running.`)
    if (own >= Math.ceil(this.#max / 2)) throw new QueueFull(`Too many ${this.#what} of yours are running.`)
    this.#all += 1
    this.#running.set(client, own + 1)
    try {
      return await work()
    } finally {
      this.#all -= 1
      const left = (this.#running.get(client) ?? 1) - 1
      if (left === 0) this.#running.delete(client)
      else this.#running.set(client, left)
    }
  }
}

export interface MemoryGateLimits {
  /** Of what is made at the same time, in bytes. */
  readonly makingBytesMax: number
  /** Who waits longer is turned away. */
  readonly queueTimeoutMs: number
}

/**
 * Room in memory for answers while they are made: a large one holds what it has read so far while it waits for the
 * rest, so that only so many may be in work. The others wait in a fair queue, in turn by client.
 */
export class MemoryGate {
  readonly #limits: MemoryGateLimits
  readonly #queue = new FairQueue<Waiter<void, number>>()
  #taken = 0

  constructor(limits: MemoryGateLimits) {
    this.#limits = limits
  }

  /** In bytes. */
  get taken(): number {
    return this.#taken
  }

  /**
   * @param about how many bytes it comes to; more than there is room for is made alone
   * @param signal Leaves the queue
   * @throws QueueFull; the reason of the signal
   */
  async during<T>(about: number, client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    // Fractions would add up to a rest that is never given back, and a large one could never again be alone.
    const bytes = Math.ceil(about)
    if (this.#queue.size > 0 || !this.#fits(bytes)) {
      const timeoutMs = this.#limits.queueTimeoutMs
      await waitIn(this.#queue, client, bytes, { signal, timeoutMs, refusal: crowded })
    } else this.#taken += bytes
    try {
      return await work()
    } finally {
      this.#taken -= bytes
      this.#serveNext()
    }
  }

  #serveNext(): void {
    for (;;) {
      const next = this.#queue.next((_lane, { about }) => this.#fits(about))
      if (next === undefined) return
      this.#taken += next.waiter.about
      next.waiter.serve()
    }
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#limits.makingBytesMax
  }
}

function crowded(): QueueFull {
  return new QueueFull('Too many readers ask for large pages at this moment.')
}

/** How long others wait for their turn, at most, in ms. */
const turnMs = 2

/** Ends when whoever waits last has had a turn. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * Long work on the main thread that gives others their turn: between two turns of such work, whoever asks for it, all else
 * that there is to do is done.
 */
export class Turns {
  readonly #signal: AbortSignal
  #began = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Whoever has had a turn waits until the others have had theirs; throws the reason of the signal. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < turnMs) return
    const turn = queue.then(() => setImmediate())
    queue = turn
    await turn
    this.#signal.throwIfAborted()
    this.#began = performance.now()
  }
}
