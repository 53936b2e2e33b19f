import type { ServerResponse } from 'node:http'
import { whenOver } from './over.ts'
import { busy } from './problems.ts'

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
