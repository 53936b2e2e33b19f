import type { ProcessSettings } from '../../../core/settings/read.ts'
import { MemoryCounts, type Counts } from '../../limits/limiter.ts'
import { FallbackCounts } from '../../limits/fallback-counts.ts'
import type { Policy } from '../../limits/policies.ts'
import type { Log } from '../../base/log.ts'
import type { Worker } from './worker.ts'

export interface Counting {
  readonly countsFor: (policy: Policy) => Counts
  readonly isUp: () => boolean
  readonly close: () => void
}

const doNothing = (): void => undefined

/** Counts in this process, in the primary for all workers, or in Redis for several servers. */
export async function openCounts(
  policies: readonly Policy[],
  { clientsMax, rateLimitStore }: Pick<ProcessSettings, 'clientsMax' | 'rateLimitStore'>,
  worker: Worker | null,
  log: Log,
): Promise<Counting> {
  const primaryCounts = worker?.registerPolicies(policies)
  const sharedCounts = (policy: Policy): Counts =>
    primaryCounts?.countsOf(policy.name) ?? new MemoryCounts(clientsMax, policy)
  if (rateLimitStore === 'memory') return { countsFor: sharedCounts, isUp: () => true, close: doNothing }
  // Import on demand: loading the Redis client takes a fifth of the start-up time.
  const { RedisLink } = await import('../../limits/redis-link.ts')
  const { RedisCounts } = await import('../../limits/redis-counts.ts')
  const link = new RedisLink(rateLimitStore, log)
  await link.open()
  return {
    countsFor: (policy) => new FallbackCounts(new RedisCounts(link, policy), sharedCounts(policy), link),
    isUp: () => link.isUp,
    close: () => link.close(),
  }
}
