import { type Limits, type Window } from '../../core/catalog/catalog.ts'
import { limitClasses, type LimitClass } from '../../core/catalog/names.ts'

/** How much one client may have in a window of time. */
export interface Policy {
  /** Such as `rows-1m`. */
  readonly name: string
  /** What it limits: requests of a class, or the cost of all requests, in ms of a processor. */
  readonly limits: LimitClass | 'share'
  readonly quota: number
  readonly windowMs: number
  /** The window as written in the catalog, such as `1m`. */
  readonly per: string
  /** As RateLimit-Policy tells it, such as `"rows-1m"; q=60; w=60`. */
  readonly header: string
}

/** @param processors of the machine, of which a client may have a share */
export function policiesOf(limits: Limits, processors: number): Policy[] {
  const ofClasses = limitClasses.flatMap((limited) =>
    limits[limited].map((limit) => policyOf(limited, limit.requests, limit)),
  )
  const { percent, windowMs } = limits.share
  // A client that may have all of it needs no counting.
  if (percent === 100) return ofClasses
  const quota = Math.max(1, Math.floor((percent / 100) * processors * windowMs))
  return [...ofClasses, policyOf('share', quota, limits.share)]
}

export function policyOf(limits: Policy['limits'], quota: number, { windowMs, per }: Window): Policy {
  const name = `${limits}-${per}`
  return { name, limits, quota, windowMs, per, header: `"${name}"; q=${quota}; w=${windowMs / 1000}` }
}
