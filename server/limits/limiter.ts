import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  rateLimit,
  type RateLimitInfo,
  type RateLimitRequestHandler,
  type Store,
  type ClientRateLimitInfo,
} from 'express-rate-limit'
import type { LimitClass } from '../../core/catalog/names.ts'
import { ClientOnlyError } from '../base/single-flight.ts'
import type { Cost } from './costs.ts'
import type { Policy } from './policies.ts'
import { LRUCache } from 'lru-cache'

export interface RemainingQuota {
  readonly policy: Policy
  readonly remaining: number
  readonly resetMs: number
}

export class LimitReached extends ClientOnlyError {
  readonly standing: RemainingQuota
  readonly amount: number

  constructor({ standing, amount }: Pick<Outcome, 'standing' | 'amount'>) {
    super(`the quota of ${standing.policy.name} is exceeded`)
    this.name = 'LimitReached'
    this.standing = standing
    this.amount = amount
  }
}

/** The request costs more than the whole quota, so waiting does not help. */
export class ExceedsQuota extends ClientOnlyError {
  readonly policy: Policy

  constructor(policy: Policy) {
    super(`the request exceeds the whole quota ${policy.name}`)
    this.name = 'ExceedsQuota'
    this.policy = policy
  }
}

interface Counted {
  readonly policy: Policy
  readonly counts: Counts
}

interface ClassLimit extends Counted {
  readonly middleware: RateLimitRequestHandler
}

type Middleware = Parameters<RateLimitRequestHandler>
type LimitedRequest = Middleware[0] & Record<string, RateLimitInfo | undefined>

/** Limits per client (spec: Limits 1): requests of each class, and one budget for the cost of all. */
export class Limiter {
  readonly #countedPolicies: readonly Counted[]
  readonly #sharePolicy: Counted | undefined
  readonly #perClass = new Map<LimitClass, ClassLimit[]>()
  readonly #clientOf: (req: IncomingMessage) => string

  constructor(
    policies: readonly Policy[],
    client: (req: IncomingMessage) => string,
    countsFor: (policy: Policy) => Counts,
  ) {
    this.#countedPolicies = policies.map((policy) => ({ policy, counts: countsFor(policy) }))
    this.#sharePolicy = this.#countedPolicies.find(({ policy }) => policy.limitClass === 'share')
    for (const { policy, counts } of this.#countedPolicies) {
      const { limitClass } = policy
      if (limitClass === 'share') continue
      const classLimits = this.#perClass.get(limitClass) ?? []
      this.#perClass.set(limitClass, [
        ...classLimits,
        { policy, counts, middleware: middlewareOf(policy, counts, client) },
      ])
    }
    this.#clientOf = client
  }

  /**
   * Counts a request in the policies of its class, and takes its cost before any work is done. A refused
   * request counts in none.
   * @returns the quotas left afterwards
   * @throws LimitReached, or ExceedsQuota if waiting will not help
   */
  async admit(
    limitClass: LimitClass,
    cost: Cost,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<RemainingQuota[]> {
    const client = this.#clientOf(req)
    const limits = this.#perClass.get(limitClass) ?? []
    const spending = cost === 0 ? null : this.#spend(client, cost, limitClass)
    // Ask in parallel, since the counts may be in another process.
    const outcomes = await Promise.all([
      ...limits.map((limit) => outcomeOf(limit, req, res)),
      ...(spending === null ? [] : [spending]),
    ])
    const refusal = outcomes.reduce<Outcome | null>(laterRefusal, null)
    if (refusal === null) return outcomes.map(({ standing }) => standing)
    const passed = outcomes.filter(({ isRefused }) => !isRefused)
    await Promise.all(passed.map(async ({ counts, amount }) => counts.add(client, -amount)))
    throw new LimitReached(refusal)
  }

  /**
   * Takes the cost of more work.
   * @returns the quotas left afterwards; none if costs are not limited
   * @throws LimitReached, or ExceedsQuota if waiting will not help
   */
  async spend(client: string, cost: Cost, limitClass: LimitClass): Promise<RemainingQuota[]> {
    const outcome = await this.#spend(client, cost, limitClass)
    if (outcome?.isRefused === true) throw new LimitReached(outcome)
    return outcome === null ? [] : [outcome.standing]
  }

  /**
   * Charges work already done, up to the remaining budget; if that is then empty, the next request is
   * refused.
   * @returns the quotas left afterwards; none if costs are not limited
   */
  async charge(client: string, cost: Cost): Promise<RemainingQuota[]> {
    if (this.#sharePolicy === undefined) return []
    const { policy, counts } = this.#sharePolicy
    return [standingOf(policy, await counts.add(client, cost, true))]
  }

  #spend(client: string, cost: Cost, limitClass: LimitClass): Promise<Outcome> | null {
    if (this.#sharePolicy === undefined) return null
    const { policy, counts } = this.#sharePolicy
    // Downloads that cost more than the quota are allowed: they use the whole quota.
    if (cost > policy.quota && limitClass !== 'files') throw new ExceedsQuota(policy)
    const amount = Math.min(cost, policy.quota)
    return Promise.resolve(counts.add(client, amount)).then((usage) =>
      outcomeWith(policy, counts, amount, usage),
    )
  }

  async standings(client: string): Promise<RemainingQuota[]> {
    return Promise.all(
      this.#countedPolicies.map(async ({ policy, counts }) =>
        standingOf(policy, await counts.add(client, 0)),
      ),
    )
  }
}

interface Outcome {
  readonly counts: Counts
  readonly amount: number
  /** A refused amount is not subtracted. */
  readonly standing: RemainingQuota
  readonly isRefused: boolean
}

function outcomeWith(policy: Policy, counts: Counts, amount: number, usage: Usage): Outcome {
  const isRefused = usage.totalHits > policy.quota
  const used = isRefused ? usage.totalHits - amount : usage.totalHits
  const standing = standingOf(policy, { totalHits: used, resetTime: usage.resetTime })
  return { counts, amount, standing, isRefused }
}

function laterRefusal(latest: Outcome | null, outcome: Outcome): Outcome | null {
  if (!outcome.isRefused) return latest
  return latest !== null && latest.standing.resetMs >= outcome.standing.resetMs ? latest : outcome
}

function outcomeOf(
  { policy, counts, middleware }: ClassLimit,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Outcome> {
  const limitedRequest = req as LimitedRequest
  return new Promise((resolve, reject) => {
    void middleware(limitedRequest, res as Middleware[1], (error?: unknown) => {
      const { used = 0, resetTime = new Date() } = limitedRequest[policy.name] ?? {}
      if (error === undefined) resolve(outcomeWith(policy, counts, 1, { totalHits: used, resetTime }))
      else reject(error)
    })
  })
}

function middlewareOf(
  policy: Policy,
  counts: Counts,
  client: (req: IncomingMessage) => string,
): RateLimitRequestHandler {
  return rateLimit({
    limit: policy.quota,
    windowMs: policy.windowMs,
    store: storeOf(counts),
    keyGenerator: client,
    requestPropertyName: policy.name,
    // `Account` writes them; the library would hash the address per policy.
    standardHeaders: false,
    legacyHeaders: false,
    // The library's checks expect proxies to be configured in Express; this server handles them itself.
    validate: false,
    // `outcomeOf` reads the count, and `admit` refuses.
    handler: (_req, _res, next) => next(),
  })
}

function storeOf(counts: Counts): Store {
  return {
    increment: (client) => counts.add(client, 1),
    decrement: async (client) => void (await counts.add(client, -1)),
    resetKey: () => undefined,
  }
}

function standingOf(policy: Policy, { totalHits, resetTime }: Usage): RemainingQuota {
  return {
    policy,
    remaining: Math.max(0, policy.quota - totalHits),
    resetMs: Math.max(0, resetTime.getTime() - Date.now()),
  }
}

export type Usage = Readonly<ClientRateLimitInfo> & { readonly resetTime: Date }

/** Usage of one policy by client; never above its quota. */
export interface Counts {
  /**
   * Adds an amount if the quota allows it.
   * @param amount 0 only reads; a negative amount reduces the usage
   * @param isCapped true to add at most the remaining quota
   * @returns the usage afterwards; of a refused amount, the usage that it would have caused
   */
  readonly add: (client: string, amount: number, isCapped?: boolean) => Usage | Promise<Usage>
}

/** Counts in memory; forgets the client not seen for longest. */
export class MemoryCounts implements Counts {
  readonly #usages: LRUCache<string, Usage>
  readonly #policy: Pick<Policy, 'quota' | 'windowMs'>

  constructor(clientsMax: number, policy: Pick<Policy, 'quota' | 'windowMs'>) {
    // `max` would reserve memory for all clients at once, 10 MB for five limits.
    this.#usages = new LRUCache({ maxSize: clientsMax, sizeCalculation: () => 1 })
    this.#policy = policy
  }

  add(client: string, amount: number, isCapped = false): Usage {
    const { quota, windowMs } = this.#policy
    const now = Date.now()
    const currentUsage = this.#usages.get(client)
    const isOver = currentUsage === undefined || currentUsage.resetTime.getTime() <= now
    const { totalHits: used, resetTime } = isOver
      ? { totalHits: 0, resetTime: new Date(now + windowMs) }
      : currentUsage
    const total = Math.max(0, used + amount)
    if (total > quota && !isCapped) return { totalHits: total, resetTime }
    const usage = { totalHits: Math.min(total, quota), resetTime }
    if (amount > 0 || !isOver) this.#usages.set(client, usage)
    return usage
  }
}
