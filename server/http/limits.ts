import type { ServerResponse } from 'node:http'
import type { LimitClass } from '../../core/catalog/catalog.ts'
import { BeyondQuota, QuotaExceeded, type Limiter, type Standing } from '../limits/limiter.ts'
import { atHand, type Price } from '../limits/prices.ts'
import { Problem, queryTooCostly } from './problems.ts'

/** What gives a whole table at once, told to a reader who asks too often. */
export interface WholeTable {
  readonly file: { readonly address: string; readonly bytes: number; readonly sha512: string }
  /** A line for a DuckDB client. */
  readonly duckdb: string
}

/** What one request asks for, as it is counted. */
export interface Account {
  /** What the resource is called that answers; `none` for an address of which there is none. */
  route: string
  /** What is charged where it is not said, and shown where nothing is. */
  asked: LimitClass
  /** What is told to whom it refuses; null where there is no table to be had. */
  instead: () => WholeTable | null
  /** @throws QuotaExceeded, or BeyondQuota where waiting will not help; nothing is counted then */
  readonly charge: (price: Price, asked?: LimitClass) => Promise<void>
  /** Tells how the client stands, where that was not told yet. */
  readonly show: () => Promise<void>
  /** What is to be told of an error: a refusal with what to do instead, and any other as it is, once it is counted too. */
  readonly settle: (error: unknown) => Promise<unknown>
}

const accounts = new WeakMap<ServerResponse, Account>()

/** @param limiter null where nothing is counted */
export function openAccount(limiter: Limiter | null, client: () => string, res: ServerResponse): Account {
  const told = new Map<string, Standing>()
  const tell = (standings: readonly Standing[]): void => {
    for (const standing of standings) told.set(standing.policy.name, standing)
    if (res.headersSent || told.size === 0) return
    res.setHeader('RateLimit', [...told.values()].map(writtenLeft))
    res.setHeader('RateLimit-Policy', [...told.values()].map(writtenPolicy))
  }
  const account: Account = {
    route: 'none',
    asked: 'catalog',
    instead: () => null,
    charge: async (price, asked = account.asked) => {
      if (limiter !== null) tell(await limiter.take(client(), asked, price))
    },
    show: async () => {
      if (limiter !== null && told.size === 0) tell(await limiter.look(client(), account.asked))
    },
    settle: async (error) => {
      if (error instanceof BeyondQuota) {
        await account.show()
        return beyond(error, account.instead())
      }
      if (error instanceof QuotaExceeded) {
        tell([error.standing])
        return exceeded(error, account.instead())
      }
      if (told.size > 0) return error
      return account.charge(atHand).then(
        () => error,
        (refusal: unknown) => account.settle(refusal),
      )
    },
  }
  accounts.set(res, account)
  return account
}

/** The account of a request that is being answered. */
export function accountFor(res: ServerResponse): Account {
  const account = accounts.get(res)
  if (account === undefined) throw new Error('every request has an account')
  return account
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000)

function writtenLeft({ policy, left, resetMs }: Standing): string {
  return `"${policy.name}"; r=${left}; t=${secondsOf(resetMs)}`
}

function writtenPolicy({ policy: { name, quota, windowMs } }: Standing): string {
  return `"${name}"; q=${quota}; w=${windowMs / 1000}`
}

/** What the quota of a class is of, for programs and in a sentence. */
export const unitOf: Readonly<Record<LimitClass, { readonly unit: string; readonly many: string }>> = {
  catalog: { unit: 'requests', many: 'requests' },
  rows: { unit: 'requests', many: 'pages of rows' },
  scans: { unit: 'million values', many: 'million values of searches, filters and orders' },
  exports: { unit: '4 MB', many: 'times 4 MB of exports' },
  files: { unit: '4 MB', many: 'times 4 MB of files' },
}

/** A sentence of what a policy gives. */
export function sentenceOf({ limits, quota, per }: Standing['policy']): string {
  return limits === 'share'
    ? `At most ${(quota / 1000).toLocaleString('en')} seconds of work for one client in ${per} are allowed`
    : `At most ${quota} ${unitOf[limits].many} in ${per} are allowed`
}

const advice = 'For a complete dataset, download its files through the links of its dataset page.'

function exceeded({ standing, counts }: QuotaExceeded, whole: WholeTable | null): Problem {
  const { policy, left, resetMs } = standing
  const seconds = Math.max(1, secondsOf(resetMs))
  const costs = left > 0 ? `, and this one counts ${counts} of the ${left} that are left` : ''
  const better = whole === null ? advice : `All rows are in one file: ${whole.file.address}.`
  const detail = `${sentenceOf(policy)}${costs}; try again in ${seconds} s. ${better}`
  return new Problem('too-many-requests', detail, {
    members: { 'violated-policies': [policy.name], ...whole },
    headers: { 'Retry-After': String(seconds), ...linkTo(whole) },
  })
}

function beyond({ policy }: BeyondQuota, whole: WholeTable | null): Problem {
  return queryTooCostly(
    `This comes to more work than one client is ever given. ${sentenceOf(policy)}: ask for less.`,
    whole?.file.address ?? null,
  )
}

function linkTo(whole: WholeTable | null): Readonly<Record<string, string>> {
  return whole === null ? {} : { Link: `<${whole.file.address}>; rel="alternate"; type="application/gzip"` }
}
