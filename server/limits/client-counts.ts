import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'
import { readAsk } from './ask.ts'
import type { Policy } from './policies.ts'

/**
 * What each client has had of a policy in its window, in the memory of this process. Of clients that were not seen for
 * longest it forgets the oldest.
 */
export class ClientCounts implements Store {
  readonly #counts: LRUCache<string, { used: number; resetTime: Date }>
  readonly #policy: Policy
  /** Two counters of one client do not mix. */
  readonly localKeys = true

  constructor(clientsMax: number, policy: Policy) {
    this.#counts = new LRUCache({ max: clientsMax })
    this.#policy = policy
  }

  increment(key: string): ClientRateLimitInfo {
    const { client, counts } = readAsk(key)
    const { quota, windowMs } = this.#policy
    const known = this.#counts.get(client)
    const now = Date.now()
    const isKnown = known !== undefined && known.resetTime.getTime() > now
    const entry = isKnown ? known : { used: 0, resetTime: new Date(now + windowMs) }
    const totalHits = entry.used + counts
    if (counts > 0 && totalHits <= quota) {
      entry.used = totalHits
      if (!isKnown) this.#counts.set(client, entry)
    } else if (counts < 0) entry.used = Math.max(0, totalHits)
    return { totalHits, resetTime: entry.resetTime }
  }

  decrement(key: string): void {
    const { client, counts } = readAsk(key)
    const known = this.#counts.get(client)
    if (known !== undefined) known.used = Math.max(0, known.used - counts)
  }

  resetKey(key: string): void {
    this.#counts.delete(readAsk(key).client)
  }
}
