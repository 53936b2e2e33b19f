/** What is to be counted: so much, for a client. */
export interface CountedAsk {
  readonly client: string
  /** 0 where it is only asked what is left; below it, what is given back. */
  readonly counts: number
}

/**
 * The key of an ask in a store of express-rate-limit, whose stores are told a key and nothing else. `increment` of ours
 * counts it where it fits into the quota, and not at all where it does not: what it returns is what the count comes to
 * with it, so that the same client may still have something smaller.
 */
export function keyOfAsk({ client, counts }: CountedAsk): string {
  return `${counts} ${client}`
}

export function readAsk(key: string): CountedAsk {
  const end = key.indexOf(' ')
  return { client: key.slice(end + 1), counts: Number(key.slice(0, end)) }
}
