import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  rateLimit,
  type RateLimitInfo,
  type RateLimitRequestHandler,
  type Store,
  type ClientRateLimitInfo,
} from 'express-rate-limit'
import type { LimitClass } from '../../core/catalog/names.ts'
import { OfOneOnly } from '../base/single-flight.ts'
import type { Cost } from './costs.ts'
import type { Policy } from './policies.ts'
import { LRUCache } from 'lru-cache'

/** How a client stands with a policy. */
export interface Standing {
  readonly policy: Policy
  readonly left: number
  /** Until the window ends, in ms. */
  readonly resetMs: number
}

/** A client has had what a policy gives it in this window. */
export class LimitReached extends OfOneOnly {
  readonly standing: Standing
  /** What the request costs, where the policy limits costs. */
  readonly cost: Cost | null

  constructor(standing: Standing, cost: Cost | null = null) {
    super(`the quota of ${standing.policy.name} is exceeded`)
    this.name = 'LimitReached'
    this.standing = standing
    this.cost = cost
  }
}

/** A request costs more than a client is given in any window. */
export class BeyondLimit extends OfOneOnly {
  readonly policy: Policy

  constructor(policy: Policy) {
    super(`it costs more than ${policy.name} ever gives one client`)
    this.name = 'BeyondLimit'
    this.policy = policy
  }
}

interface Counted {
  readonly policy: Policy
  readonly counts: Counts
}

/** One limit of a class of requests. */
interface ClassLimit extends Counted {
  readonly middleware: RateLimitRequestHandler
}

type Middleware = Parameters<RateLimitRequestHandler>
/** What express-rate-limit leaves in a request: what it found, by the name of the policy. */
type LimitedRequest = Middleware[0] & Record<string, RateLimitInfo | undefined>

/**
 * The limits per client (spec: Limits 1): so many requests of a class in each window, counted by express-rate-limit,
 * and one budget for what all requests cost.
 */
export class Limiter {
  readonly #counted: readonly Counted[]
  readonly #budget: Counted | undefined
  readonly #perClass = new Map<LimitClass, ClassLimit[]>()
  readonly #client: (req: IncomingMessage) => string

  /** @param countsFor where the counts of a policy are; each policy has its own */
  constructor(
    policies: readonly Policy[],
    client: (req: IncomingMessage) => string,
    countsFor: (policy: Policy) => Counts,
  ) {
    this.#counted = policies.map((policy) => ({ policy, counts: countsFor(policy) }))
    this.#budget = this.#counted.find(({ policy }) => policy.limits === 'share')
    for (const { policy, counts } of this.#counted) {
      const { limits } = policy
      if (limits === 'share') continue
      const others = this.#perClass.get(limits) ?? []
      this.#perClass.set(limits, [
        ...others,
        { policy, counts, middleware: middlewareOf(policy, counts, client) },
      ])
    }
    this.#client = client
  }

  /**
   * Counts a request with every policy of its class. One that is refused counts with none of the policies that would let
   * it pass, so that a client that asks too often in a minute keeps its hour.
   *
   * @returns how the client stands with each of them then
   * @throws LimitReached
   */
  async count(limited: LimitClass, req: IncomingMessage, res: ServerResponse): Promise<Standing[]> {
    const limits = this.#perClass.get(limited) ?? []
    // At the same time, since the counts may be in another process.
    const outcomes = await Promise.all(limits.map((limit) => outcomeOf(limit, req, res)))
    const longest = outcomes.reduce<Outcome | undefined>(
      (found, one) =>
        one.isRefused && !(found && found.standing.resetMs > one.standing.resetMs) ? one : found,
      undefined,
    )
    if (longest === undefined) return outcomes.map(({ standing }) => standing)
    const passed = outcomes.filter(({ isRefused }) => !isRefused)
    await Promise.all(passed.map(async ({ counts }) => counts.add(this.#client(req), -1)))
    throw new LimitReached(longest.standing)
  }

  /**
   * Takes the cost of a request from the budget of its client, before the work is done. What does not fit is not taken.
   *
   * @param isUnbounded whether a request that costs more than the whole budget may take all of it
   * @returns how the client stands then; nothing where costs are not limited
   * @throws LimitReached, or BeyondLimit where waiting will not help
   */
  async spend(client: string, cost: Cost, isUnbounded: boolean): Promise<Standing[]> {
    if (this.#budget === undefined) return []
    const { policy, counts } = this.#budget
    if (cost > policy.quota && !isUnbounded) throw new BeyondLimit(policy)
    const amount = Math.min(cost, policy.quota)
    const usage = await counts.add(client, amount)
    if (usage.totalHits <= policy.quota) return [standingOf(policy, usage)]
    throw new LimitReached(standingOf(policy, await counts.add(client, -amount)), amount)
  }

  /**
   * Charges the budget for work that is done already. Where it costs more than is left, the next request is refused.
   *
   * @returns how the client stands then; nothing where costs are not limited
   */
  async charge(client: string, cost: Cost): Promise<Standing[]> {
    if (this.#budget === undefined) return []
    return [standingOf(this.#budget.policy, await this.#budget.counts.add(client, cost))]
  }

  /** How a client stands with every policy. It counts nothing. */
  async standings(client: string): Promise<Standing[]> {
    return Promise.all(
      this.#counted.map(async ({ policy, counts }) => standingOf(policy, await counts.add(client, 0))),
    )
  }
}

interface Outcome {
  readonly counts: Counts
  readonly standing: Standing
  readonly isRefused: boolean
}

function outcomeOf(
  { policy, counts, middleware }: ClassLimit,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Outcome> {
  const limited = req as LimitedRequest
  return new Promise((resolve, reject) => {
    void middleware(limited, res as Middleware[1], (error?: unknown) => {
      const { used = 0, resetTime = new Date() } = limited[policy.name] ?? {}
      const standing = standingOf(policy, { totalHits: used, resetTime })
      if (error === undefined) resolve({ counts, standing, isRefused: used > policy.quota })
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
    // Ours tell of the budget, too, and hash no address for each policy, which would cost a twentieth of a cached page.
    standardHeaders: false,
    legacyHeaders: false,
    // Its checks look for what Express knows of proxies, which is set in another way here.
    validate: false,
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

function standingOf(policy: Policy, { totalHits, resetTime }: Usage): Standing {
  return {
    policy,
    left: Math.max(0, policy.quota - totalHits),
    resetMs: Math.max(0, resetTime.getTime() - Date.now()),
  }
}

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
    // By sizes of 1, since with `max` it reserves memory for as many clients at once: 10 MB for five limits.
    this.#usages = new LRUCache({ maxSize: clientsMax, sizeCalculation: () => 1 })
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
