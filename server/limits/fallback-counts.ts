import type { Counts, Usage } from './limiter.ts'

/** Whether a shared counter can be asked now. */
export interface Link {
  readonly isUp: boolean
  /** Called when it was asked in vain. */
  readonly failed: (error: unknown) => void
}

/**
 * Counts that several servers share, and those of this server alone while the shared ones do not answer: a limit that
 * each server holds for itself for a while is better than readers who wait, or no limit.
 */
export class FallbackCounts implements Counts {
  readonly #shared: Counts
  readonly #own: Counts
  readonly #link: Link

  constructor(shared: Counts, own: Counts, link: Link) {
    this.#shared = shared
    this.#own = own
    this.#link = link
  }

  async add(client: string, amount: number, isCapped = false): Promise<Usage> {
    if (this.#link.isUp) {
      try {
        return await this.#shared.add(client, amount, isCapped)
      } catch (error) {
        this.#link.failed(error)
      }
    }
    return this.#own.add(client, amount, isCapped)
  }
}
