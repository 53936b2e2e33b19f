import type { Counts, Usage } from './limiter.ts'

/** State of the connection to a shared counter. */
export interface Link {
  readonly isUp: boolean
  readonly failed: (error: unknown) => void
}

/**
 * Counts of several servers together, or those of this server while the shared counts are unreachable.
 * Meanwhile each server enforces the limits alone, which is better than no limit or slow responses.
 */
export class FallbackCounts implements Counts {
  readonly #shared: Counts
  readonly #local: Counts
  readonly #link: Link

  constructor(shared: Counts, local: Counts, link: Link) {
    this.#shared = shared
    this.#local = local
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
    return this.#local.add(client, amount, isCapped)
  }
}
