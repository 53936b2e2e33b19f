import { busy } from '../http/problems.ts'
import { Line } from './line.ts'

export interface RoomLimits {
  /** Of what is made at the same time, in bytes. */
  readonly makingBytesMax: number
  /** Who waits longer is turned away. */
  readonly queueTimeoutMs: number
}

interface Waiter {
  readonly bytes: number
  readonly serve: () => void
  readonly refuse: (reason: Error) => void
}

/**
 * Room in memory for answers while they are made: a large one holds what it has read so far while it waits for the rest,
 * so that only so many may be in work. The others wait in line, in turn by client.
 */
export class Room {
  readonly #limits: RoomLimits
  readonly #line = new Line<Waiter>()
  #taken = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** In bytes. */
  get taken(): number {
    return this.#taken
  }

  /**
   * @param bytes that it comes to, about; more than there is room for is made alone
   * @param signal leaves the line
   * @throws Problem overloaded; the reason of the signal
   */
  async during<T>(bytes: number, client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#line.size > 0 || !this.#fits(bytes)) await this.#wait(bytes, client, signal)
    else this.#taken += bytes
    try {
      return await work()
    } finally {
      this.#taken -= bytes
      this.#serveNext()
    }
  }

  #wait(bytes: number, client: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', gone)
        this.#line.leave(client, waiter)
      }
      const waiter: Waiter = {
        bytes,
        serve: () => {
          settle()
          this.#taken += bytes
          resolve()
        },
        refuse: (reason) => {
          settle()
          reject(reason)
        },
      }
      const gone = (): void => waiter.refuse(signal.reason as Error)
      const timer = setTimeout(
        () => waiter.refuse(busy('overloaded', 'Too many readers ask for large pages at this moment.')),
        this.#limits.queueTimeoutMs,
      )
      signal.addEventListener('abort', gone)
      this.#line.join(client, waiter)
    })
  }

  #serveNext(): void {
    for (;;) {
      const next = this.#line.next((_lane, waiter) => this.#fits(waiter.bytes))
      if (next === undefined) return
      next.waiter.serve()
    }
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#limits.makingBytesMax
  }
}
