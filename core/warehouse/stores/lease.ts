import { randomUUID } from 'node:crypto'
import os from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { LockHeld } from '../../errors.ts'
import { WriteConflict } from './store.ts'

/** The file of a lease, in a store with conditional writes. */
export interface LeaseFile {
  readonly address: string
  /**
   * Returns the tag of the written file, like `replace`. Both throw WriteConflict after another process has
   * written it.
   */
  readonly create: (text: string) => Promise<string>
  readonly replace: (text: string, tag: string) => Promise<string>
  readonly read: () => Promise<{ readonly text: string; readonly tag: string } | null>
  readonly remove: () => Promise<void>
}

export interface LeaseOptions {
  /** Time without a renewal after which a lease is free. */
  readonly leaseMs?: number
}

const leaseMsDefault = 15_000

/**
 * A lock in a file of a remote store, renewed regularly by its holder. A waiting process takes it after the
 * duration of a lease without renewal, by its own clock, since clocks of machines may differ.
 */
export class Lease {
  readonly #leased: LeaseFile
  readonly #leaseMs: number
  readonly #owner: string
  #tag: string
  #beats = 0
  #renewedAt: number
  #isLost = false
  #timer: NodeJS.Timeout | undefined

  private constructor(leased: LeaseFile, leaseMs: number, owner: string, tag: string, renewedAt: number) {
    this.#leased = leased
    this.#leaseMs = leaseMs
    this.#owner = owner
    this.#tag = tag
    this.#renewedAt = renewedAt
    this.#beat()
  }

  /**
   * Waits only if the holder may be dead.
   * @throws LockHeld if its holder is alive
   */
  static async acquire(leased: LeaseFile, { leaseMs = leaseMsDefault }: LeaseOptions): Promise<Lease> {
    const owner = `${os.hostname()} ${process.pid} ${randomUUID()}`
    const initialText = `${owner} 0\n`
    let firstSeenAt = performance.now()
    let seenTag: string | null = null
    for (;;) {
      const readAt = performance.now()
      const current = await leased.read()
      if (current === null) {
        const tag = await leased.create(initialText).catch(() => null)
        if (tag !== null) return new Lease(leased, leaseMs, owner, tag, readAt)
      } else if (seenTag === null) {
        ;[seenTag, firstSeenAt] = [current.tag, readAt]
      } else if (current.tag !== seenTag) {
        throw new LockHeld(holderOf(current.text))
      } else if (readAt - firstSeenAt > leaseMs) {
        const tag = await leased.replace(initialText, current.tag).catch(() => null)
        if (tag === null) throw new LockHeld(holderOf(current.text))
        return new Lease(leased, leaseMs, owner, tag, readAt)
      }
      await wait(leaseMs / 10)
    }
  }

  /** @throws Error if another process has taken the lease, or may have */
  require(): void {
    if (this.#isLost || performance.now() - this.#renewedAt > this.#leaseMs)
      throw new Error(
        `the lock ${this.#leased.address} could not be renewed in time, so another job may have started: run this job again`,
      )
  }

  async release(): Promise<void> {
    clearTimeout(this.#timer)
    // Near its end, the lease may have passed to another process before the request arrives.
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
      // Other errors may be temporary: a later renewal can succeed before the lease expires.
      if (error instanceof WriteConflict) this.#isLost = true
    }
  }
}

function holderOf(text: string): number | null {
  const [host, pid] = text.split(' ')
  return host === os.hostname() ? Number(pid) : null
}
