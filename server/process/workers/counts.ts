import type { Store } from 'express-rate-limit'
import type { ProcessSettings } from '../../../core/settings/read.ts'
import { ClientCounts } from '../../limits/client-counts.ts'
import { EitherCounts, type Link } from '../../limits/either-counts.ts'
import type { Policy } from '../../limits/policies.ts'
import type { Log } from '../../base/log.ts'
import type { Worker } from './worker.ts'

export interface Counting {
  readonly storeFor: (policy: Policy) => Store
  /** Whether those can be asked that count for all. */
  readonly isUp: () => boolean
  readonly close: () => void
}

const nothing = (): void => undefined

/** A question may be lost; the next is asked all the same. */
const always: Link = { isUp: true, failed: () => undefined }

/** Where asks are counted: here, for all workers together, or for all servers that share a Redis. */
export async function countingFor(
  policies: readonly Policy[],
  { clientsMax, rateLimitStore }: Pick<ProcessSettings, 'clientsMax' | 'rateLimitStore'>,
  worker: Worker | null,
  log: Log,
): Promise<Counting> {
  const own = (policy: Policy): Store => new ClientCounts(clientsMax, policy)
  const workers = worker?.countsBy(policies)
  const ofAllWorkers = (policy: Policy): Store =>
    workers === undefined ? own(policy) : new EitherCounts(workers.of(policy.name), own(policy), always)
  if (rateLimitStore === 'memory') return { storeFor: ofAllWorkers, isUp: () => true, close: nothing }
  // Loaded where it is needed: it is a fifth of a start.
  const { RedisLink } = await import('../../limits/redis-link.ts')
  const { RedisCounts } = await import('../../limits/redis-counts.ts')
  const link = new RedisLink(rateLimitStore, log)
  await link.open()
  return {
    storeFor: (policy) => new EitherCounts(new RedisCounts(link, policy), ofAllWorkers(policy), link),
    isUp: () => link.isUp,
    close: () => link.close(),
  }
}
