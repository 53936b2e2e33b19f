import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'

/** How often each client asked in its window; of those that were not seen for longest it forgets the oldest. */
export class ClientCounts implements Store {
  readonly #counts: LRUCache<string, { totalHits: number; resetTime: Date }>
  readonly #windowMs: number
  /** Two counters of one client do not mix. */
  readonly localKeys = true

  constructor(clientsMax: number, windowMs: number) {
    this.#counts = new LRUCache({ max: clientsMax })
    this.#windowMs = windowMs
  }

  increment(client: string): ClientRateLimitInfo {
    const known = this.#counts.get(client)
    const now = Date.now()
    if (known !== undefined && known.resetTime.getTime() > now) {
      known.totalHits += 1
      // A copy, since others may count on before it is read.
      return { ...known }
    }
    const begun = { totalHits: 1, resetTime: new Date(now + this.#windowMs) }
    this.#counts.set(client, begun)
    return { ...begun }
  }

  decrement(client: string): void {
    const known = this.#counts.get(client)
    if (known !== undefined) known.totalHits -= 1
  }

  resetKey(client: string): void {
    this.#counts.delete(client)
  }
}
