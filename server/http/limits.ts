import type { IncomingMessage, ServerResponse } from 'node:http'
import { rateLimit, type RateLimitInfo } from 'express-rate-limit'
import type { Request, Response } from 'express'
import type { Limit } from '../../core/catalog/catalog.ts'
import { ClientCounts } from './client-counts.ts'
import type { ClientOf } from './client.ts'
import { Problem } from './problems.ts'

/** Counts a request; throws Problem too-many-requests where its client has had enough. */
export type Limiter = (
  req: IncomingMessage,
  res: ServerResponse,
  instead?: () => Advice | null,
) => Promise<void>

/** What a reader who asks too often may do instead. */
export interface Advice {
  readonly sentence: string
  readonly link: string
}

export interface SparingUse {
  /** What is limited, part of the policy's name in the RateLimit headers. */
  readonly kind: string
  readonly limits: readonly Limit[]
  /** A sentence on what to do instead. */
  readonly advice: string
  readonly client: ClientOf
  /** How many clients are told apart. */
  readonly clientsMax: number
}

/**
 * The sparing-use limits (spec: Limits 1), per client address; all must let a request pass. They count in
 * the memory of the process, and tell how much is left in the RateLimit headers (draft 8).
 */
export function sparingUse({ kind, limits, advice, client, clientsMax }: SparingUse): Limiter {
  const counters = limits.map(({ requests, per, windowMs }) => {
    const property = `${kind}-${per}`
    const count = rateLimit({
      limit: requests,
      windowMs,
      requestPropertyName: property,
      keyGenerator: client,
      store: new ClientCounts(clientsMax, windowMs),
      // Written below: those of the library need `res.append`, and what was answered before goes past Express.
      standardHeaders: false,
      legacyHeaders: false,
      handler: (_req, _res, next) => next(refusal),
    })
    const policy = `"${property}"; q=${requests}; w=${windowMs / 1000}`
    const allowed = `At most ${requests} requests in ${per} are allowed here`
    return { property, policy, allowed, count }
  })
  return async (req, res, instead) => {
    const left: string[] = []
    const policies: string[] = []
    for (const { property, policy, allowed, count } of counters) {
      // It needs no more of Express than its types say.
      const outcome: unknown = await new Promise((resolve) => {
        void count(req as Request, res as Response, resolve)
      })
      const info = (req as unknown as Readonly<Record<string, RateLimitInfo | undefined>>)[property]
      const seconds = Math.max(0, Math.ceil(((info?.resetTime?.getTime() ?? 0) - Date.now()) / 1000))
      left.push(`"${property}"; r=${info?.remaining ?? 0}; t=${seconds}`)
      policies.push(policy)
      res.setHeader('RateLimit', left)
      res.setHeader('RateLimit-Policy', policies)
      if (outcome === refusal) {
        const better = instead?.() ?? null
        const detail = `${allowed}; try again in ${seconds} s. ${better?.sentence ?? advice}`
        throw new Problem('too-many-requests', detail, {
          headers: { 'Retry-After': String(seconds), ...(better && { Link: better.link }) },
        })
      }
      if (outcome !== undefined) throw outcome
    }
  }
}

const refusal = Symbol('more requests than allowed')
