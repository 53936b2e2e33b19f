import { type Limits, type Window } from '../../core/catalog/catalog.ts'
import { limitClasses, type LimitClass } from '../../core/catalog/names.ts'

export interface Policy {
  readonly name: string
  /** Limits requests of a class, or the processor time in ms of all requests. */
  readonly limitClass: LimitClass | 'share'
  readonly quota: number
  readonly windowMs: number
  /** Window as in the catalog, such as `1m`. */
  readonly per: string
  /** Text like `"rows-1m"; q=60; w=60`. */
  readonly header: string
}

/** @param processors of which a client may use a share */
export function policiesOf(limits: Limits, processors: number): Policy[] {
  const ofClasses = limitClasses.flatMap((limitClass) =>
    limits[limitClass].map((limit) => policyOf(limitClass, limit.requests, limit)),
  )
  const { percent, windowMs } = limits.share
  // A client that may use all processors needs no counting.
  if (percent === 100) return ofClasses
  const quota = Math.max(1, Math.floor((percent / 100) * processors * windowMs))
  return [...ofClasses, policyOf('share', quota, limits.share)]
}

export function policyOf(limitClass: Policy['limitClass'], quota: number, { windowMs, per }: Window): Policy {
  const name = `${limitClass}-${per}`
  return {
    name,
    limitClass,
    quota,
    windowMs,
    per,
    header: `"${name}"; q=${quota}; w=${windowMs / 1000}`,
  }
}
