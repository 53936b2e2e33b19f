import type { ClientRateLimitInfo, Store } from 'express-rate-limit'

/** Whether what several share can be asked now. */
export interface Link {
  readonly isUp: boolean
  /** Told that it was asked in vain. */
  readonly failed: (error: unknown) => void
}

/**
 * The counts that several servers or workers share, and those of this process alone for as long as they cannot be
 * asked: a limit that is kept apart for a while is better than readers who wait, or none.
 */
export class EitherCounts implements Store {
  readonly localKeys = false
  readonly #shared: Store
  readonly #own: Store
  readonly #link: Link

  constructor(shared: Store, own: Store, link: Link) {
    this.#shared = shared
    this.#own = own
    this.#link = link
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    if (this.#link.isUp) {
      try {
        return await this.#shared.increment(key)
      } catch (error) {
        this.#link.failed(error)
      }
    }
    return this.#own.increment(key)
  }

  async decrement(key: string): Promise<void> {
    await this.#shared.decrement(key)
  }

  async resetKey(key: string): Promise<void> {
    await this.#shared.resetKey(key)
  }
}
