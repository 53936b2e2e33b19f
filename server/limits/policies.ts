import { limitClasses, type LimitClass, type Limits } from '../../core/catalog/catalog.ts'

/** So much of one thing that one client may have in a window of time. */
export interface Policy {
  /** Told in RateLimit-Policy, such as `rows-1m`. */
  readonly name: string
  /** What it limits: asks of a class, or the work of all of them, in ms of a processor. */
  readonly limits: LimitClass | 'share'
  readonly quota: number
  readonly windowMs: number
  /** The window as written in the catalog, such as `1m`. */
  readonly per: string
}

/** @param processors of the machine, of which a client may have a share */
export function policiesOf(limits: Limits, processors: number): Policy[] {
  const ofClasses = limitClasses.flatMap((limited) =>
    limits[limited].map(({ requests, windowMs, per }): Policy => {
      return { name: `${limited}-${per}`, limits: limited, quota: requests, windowMs, per }
    }),
  )
  const { percent, windowMs, per } = limits.share
  // Whoever may have all of it needs no counting.
  if (percent === 100) return ofClasses
  const quota = Math.max(1, Math.floor((percent / 100) * processors * windowMs))
  return [...ofClasses, { name: `share-${per}`, limits: 'share', quota, windowMs, per }]
}
