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
