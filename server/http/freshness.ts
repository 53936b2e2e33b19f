/** For how long caches may answer in our place, as Cache-Control. */
export interface Freshness {
  /** Of what a refresh changes. */
  readonly changing: string
  /** Of what never changes, since its address names a snapshot. */
  readonly immutable: string
}

const yearSeconds = 31_536_000
/** A cache that answers with old bytes while it fetches new ones spares readers the wait. */
const staleFactor = 10

export function freshnessOf(maxAgeSeconds: number): Freshness {
  return {
    changing: `public, max-age=${maxAgeSeconds}, stale-while-revalidate=${staleFactor * maxAgeSeconds}`,
    immutable: `public, max-age=${yearSeconds}, immutable`,
  }
}
