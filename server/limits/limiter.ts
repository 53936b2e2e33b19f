import { rateLimit, type RateLimitInfo, type RateLimitRequestHandler, type Store } from 'express-rate-limit'
import type { LimitClass } from '../../core/catalog/catalog.ts'
import { OfOneOnly } from '../base/concurrency/single-flight.ts'
import { keyOfAsk, type CountedAsk } from './ask.ts'
import type { Policy } from './policies.ts'
import type { Price } from './prices.ts'

/** How a client stands with a policy. */
export interface Standing {
  readonly policy: Policy
  readonly left: number
  /** Of the window, in ms. */
  readonly resetMs: number
}

/** A client has had what a policy gives it. */
export class QuotaExceeded extends OfOneOnly {
  readonly standing: Standing
  /** What the ask would have counted. */
  readonly counts: number

  constructor(standing: Standing, counts: number) {
    super(`the quota of ${standing.policy.name} is exceeded`)
    this.name = 'QuotaExceeded'
    this.standing = standing
    this.counts = counts
  }
}

/** No window of a policy is ever enough for it. */
export class BeyondQuota extends OfOneOnly {
  readonly policy: Policy

  constructor(policy: Policy) {
    super(`it comes to more than ${policy.name} ever gives one client`)
    this.name = 'BeyondQuota'
    this.policy = policy
  }
}

interface Counter {
  readonly policy: Policy
  /** @returns how the client stands then, and whether it was counted */
  readonly count: (ask: CountedAsk) => Promise<{ standing: Standing; isCounted: boolean }>
}

/** The sparing-use limits (spec: Limits 1), per client; all policies of an ask must let it pass. */
export class Limiter {
  readonly #counters: readonly Counter[]

  /** @param storeFor where the counts of a policy are kept; each has one of its own */
  constructor(policies: readonly Policy[], storeFor: (policy: Policy) => Store) {
    this.#counters = policies.map((policy) => counterOf(policy, storeFor(policy)))
  }

  /**
   * Counts an ask with every policy of its class and with the share of the machine, or, where one of them refuses it, with
   * none.
   *
   * @returns how the client stands then
   * @throws QuotaExceeded, or BeyondQuota where waiting will not help
   */
  async take(client: string, asked: LimitClass, price: Price): Promise<Standing[]> {
    const due = this.#of(asked).map((counter) => {
      return { ...counter, counts: countsOf(counter.policy, asked, price) }
    })
    // At the same time, since whoever counts may be on another machine.
    const taken = await Promise.all(due.map(({ count, counts }) => count({ client, counts })))
    const refusal = taken.findIndex(({ isCounted }) => !isCounted)
    const [refused, refusing] = [taken[refusal], due[refusal]]
    if (refused === undefined || refusing === undefined) return taken.map(({ standing }) => standing)
    await Promise.all(
      due.map(async ({ count, counts }, index) => {
        if (taken[index]?.isCounted === true && counts > 0) await count({ client, counts: -counts })
      }),
    )
    throw new QuotaExceeded(refused.standing, refusing.counts)
  }

  /**
   * Charges the share of the machine for work that is already done. A client with less left loses all of it, so that its
   * next request waits.
   *
   * @param work ms of one processor
   * @returns how the client stands then
   */
  async spend(client: string, asked: LimitClass, work: number): Promise<Standing[]> {
    const shares = this.#of(asked).filter(({ policy: { limits } }) => limits === 'share')
    return Promise.all(
      shares.map(async ({ count }) => {
        const { standing } = await count({ client, counts: 0 })
        return (await count({ client, counts: Math.min(work, standing.left) })).standing
      }),
    )
  }

  /**
   * How a client stands, at no cost.
   *
   * @param asked with the policies of a class, or with all
   */
  async look(client: string, asked: LimitClass | 'all'): Promise<Standing[]> {
    const counters = asked === 'all' ? this.#counters : this.#of(asked)
    return Promise.all(counters.map(async ({ count }) => (await count({ client, counts: 0 })).standing))
  }

  #of(asked: LimitClass): Counter[] {
    return this.#counters.filter(({ policy: { limits } }) => limits === asked || limits === 'share')
  }
}

/**
 * What counts more than a whole quota takes all of it, so that it can be had by who waits; but nobody gets more than his
 * share of the machine for one ask. Files are what readers are to take, however large.
 */
function countsOf(policy: Policy, asked: LimitClass, { counts, work }: Price): number {
  const all = policy.limits === 'share' ? work : counts
  if (policy.limits === 'share' && asked !== 'files' && all > policy.quota) throw new BeyondQuota(policy)
  return Math.min(all, policy.quota)
}

type Middleware = Parameters<RateLimitRequestHandler>

const refused = Symbol('more than the quota')

/** The middleware of the library as a function: it needs of a request no more than who asks for how much. */
function counterOf(policy: Policy, store: Store): Counter {
  const middleware = rateLimit({
    limit: policy.quota,
    windowMs: policy.windowMs,
    store,
    keyGenerator: (req) => keyOfAsk(req as unknown as CountedAsk),
    // They are written with the answer, of all policies together.
    standardHeaders: false,
    legacyHeaders: false,
    // It would look for headers of a proxy; the client is known already.
    validate: false,
    handler: (_req, _res, next) => next(refused),
  })
  return {
    policy,
    count: async ({ client, counts }) => {
      const ask: CountedAsk & { rateLimit?: RateLimitInfo } = { client, counts }
      const outcome: unknown = await new Promise((resolve) => {
        void middleware(ask as unknown as Middleware[0], {} as Middleware[1], resolve)
      })
      const isCounted = outcome !== refused
      if (isCounted && outcome !== undefined) throw outcome
      const { used = 0, resetTime } = ask.rateLimit ?? {}
      const left = Math.max(0, policy.quota - used + (isCounted ? 0 : counts))
      const resetMs = Math.max(0, (resetTime?.getTime() ?? 0) - Date.now())
      return { standing: { policy, left, resetMs }, isCounted }
    },
  }
}
