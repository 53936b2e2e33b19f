import { randomUUID } from 'node:crypto'
import os from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { LockHeld } from '../../errors.ts'
import { WriteConflict } from './store.ts'

/** The file that a lease is kept in, where a write can be made to depend on what is there. */
export interface Leased {
  /** For messages. */
  readonly address: string
  /** Both return the tag of what was written, and throw WriteConflict where something else is there than is said. */
  readonly create: (text: string) => Promise<string>
  readonly replace: (text: string, tag: string) => Promise<string>
  readonly look: () => Promise<{ readonly text: string; readonly tag: string } | null>
  readonly remove: () => Promise<void>
}

export interface LeaseOptions {
  /** After so many milliseconds without a sign of life a lease is anybody's. */
  readonly leaseMs?: number
}

const leaseMsDefault = 15_000

/**
 * A lock that is kept in a file elsewhere. Whoever holds it writes a sign of life again and again; where none comes for
 * as long as a lease lasts, by the clock of whoever waits, another takes it. No clocks are compared.
 */
export class Lease {
  readonly #leased: Leased
  readonly #leaseMs: number
  readonly #owner: string
  #tag: string
  #beats = 0
  #renewedAt: number
  #isLost = false
  #timer: NodeJS.Timeout | undefined

  private constructor(leased: Leased, leaseMs: number, owner: string, tag: string, renewedAt: number) {
    this.#leased = leased
    this.#leaseMs = leaseMs
    this.#owner = owner
    this.#tag = tag
    this.#renewedAt = renewedAt
    this.#beat()
  }

  /**
   * Waits only where whoever holds it may be dead.
   *
   * @throws LockHeld where that one lives
   */
  static async take(leased: Leased, { leaseMs = leaseMsDefault }: LeaseOptions): Promise<Lease> {
    const owner = `${os.hostname()} ${process.pid} ${randomUUID()}`
    const first = `${owner} 0\n`
    let since = performance.now()
    let before: string | null = null
    for (;;) {
      const began = performance.now()
      const found = await leased.look()
      if (found === null) {
        const tag = await leased.create(first).catch(() => null)
        if (tag !== null) return new Lease(leased, leaseMs, owner, tag, began)
      } else if (before === null) {
        ;[before, since] = [found.tag, began]
      } else if (found.tag !== before) {
        throw new LockHeld(holderOf(found.text))
      } else if (began - since > leaseMs) {
        const tag = await leased.replace(first, found.tag).catch(() => null)
        if (tag === null) throw new LockHeld(holderOf(found.text))
        return new Lease(leased, leaseMs, owner, tag, began)
      }
      await wait(leaseMs / 10)
    }
  }

  /** @throws Error where it is, or may be, another's by now */
  require(): void {
    if (this.#isLost || performance.now() - this.#renewedAt > this.#leaseMs)
      throw new Error(
        `${this.#leased.address} could not be renewed in time, so another job may be at work; run this one again`,
      )
  }

  async release(): Promise<void> {
    clearTimeout(this.#timer)
    // Near its end it may be another's when the request arrives.
    if (!this.#isLost && performance.now() - this.#renewedAt < this.#leaseMs / 2)
      await this.#leased.remove().catch(() => undefined)
    this.#isLost = true
  }

  #beat(): void {
    this.#timer = setTimeout(() => {
      void this.#renew().finally(() => {
        if (!this.#isLost) this.#beat()
      })
    }, this.#leaseMs / 4).unref()
  }

  async #renew(): Promise<void> {
    const began = performance.now()
    this.#beats += 1
    try {
      this.#tag = await this.#leased.replace(`${this.#owner} ${this.#beats}\n`, this.#tag)
      this.#renewedAt = began
    } catch (error) {
      // What else went wrong may pass before it runs out.
      if (error instanceof WriteConflict) this.#isLost = true
    }
  }
}

/** The process, where it is one of this machine. */
function holderOf(text: string): number | null {
  const [host, pid] = text.split(' ')
  return host === os.hostname() ? Number(pid) : null
}
