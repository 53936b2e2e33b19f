import type { ClientRateLimitInfo } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'
import type { Policy } from './policies.ts'

/** What a client has used of a policy in the present window (`totalHits`), and when the window ends. */
export type Usage = Readonly<ClientRateLimitInfo> & { readonly resetTime: Date }

/** What every client has used of one policy. */
export interface Counts {
  /**
   * Adds to what a client has used.
   *
   * @param amount 0 only reads; a negative amount gives back
   * @returns what it has used then
   */
  readonly add: (client: string, amount: number) => Usage | Promise<Usage>
}

/** Counts in the memory of this process. Where there are too many clients, the one not seen for longest is forgotten. */
export class MemoryCounts implements Counts {
  readonly #usages: LRUCache<string, { totalHits: number; readonly resetTime: Date }>
  readonly #windowMs: number

  constructor(clientsMax: number, { windowMs }: Pick<Policy, 'windowMs'>) {
    this.#usages = new LRUCache({ max: clientsMax })
    this.#windowMs = windowMs
  }

  add(client: string, amount: number): Usage {
    const known = this.#usages.get(client)
    const now = Date.now()
    if (known !== undefined && known.resetTime.getTime() > now) {
      known.totalHits = Math.max(0, known.totalHits + amount)
      return known
    }
    const usage = { totalHits: Math.max(0, amount), resetTime: new Date(now + this.#windowMs) }
    if (amount > 0) this.#usages.set(client, usage)
    return usage
  }
}
