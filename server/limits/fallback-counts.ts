import type { Counts, Usage } from './limiter.ts'

export interface Link {
  readonly isUp: boolean
  readonly failed: (error: unknown) => void
}

/** Shared counts of several servers, or this server's own counts while the shared ones are unreachable. */
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
