import { QueueFull } from '../../base/concurrency/queue-full.ts'
import { FairQueue, waitIn, type Waiter } from '../../base/concurrency/fair-queue.ts'

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
