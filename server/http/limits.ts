import type { ServerResponse } from 'node:http'
import type { LimitClass } from '../../core/catalog/catalog.ts'
import { BeyondQuota, QuotaExceeded, type Limiter, type Standing } from '../limits/limiter.ts'
import { atHand, type Price } from '../limits/prices.ts'
import { Problem, queryTooCostly, type WholeTable } from './problems.ts'

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
  /** Charges work that is already done, in ms of one processor; never refuses. */
  readonly spend: (work: number) => Promise<void>
  /** Tells how the client stands, where that was not told yet. */
  readonly show: () => Promise<void>
  /** What is to be told of an error: a refusal with what to do instead, and any other as it is, once it is counted too. */
  readonly settle: (error: unknown) => Promise<unknown>
}

/** Where the account of a response is: a map beside them would cost more than most answers do. */
const accountKey = Symbol('account')
type WithAccount = ServerResponse & { [accountKey]?: Account }

class ClientAccount implements Account {
  route = 'none'
  asked: LimitClass = 'catalog'
  instead: Account['instead'] = () => null
  readonly #limiter: Limiter | null
  readonly #client: () => string
  readonly #res: ServerResponse
  #told: readonly Standing[] = []

  constructor(limiter: Limiter | null, client: () => string, res: ServerResponse) {
    this.#limiter = limiter
    this.#client = client
    this.#res = res
  }

  async charge(price: Price, asked = this.asked): Promise<void> {
    if (this.#limiter !== null) this.#tell(await this.#limiter.take(this.#client(), asked, price))
  }

  async spend(work: number): Promise<void> {
    if (this.#limiter !== null) this.#tell(await this.#limiter.spend(this.#client(), this.asked, work))
  }

  async show(): Promise<void> {
    if (this.#limiter !== null && this.#told.length === 0) {
      this.#tell(await this.#limiter.look(this.#client(), this.asked))
    }
  }

  async settle(error: unknown): Promise<unknown> {
    if (error instanceof BeyondQuota) {
      await this.show()
      return beyond(error, this.instead())
    }
    if (error instanceof QuotaExceeded) {
      this.#tell([error.standing])
      return exceeded(error, this.instead())
    }
    if (this.#told.length > 0) return error
    return this.charge(atHand).then(
      () => error,
      (refusal: unknown) => this.settle(refusal),
    )
  }

  #tell(standings: readonly Standing[]): void {
    const before = this.#told.filter(({ policy }) => !standings.some((one) => one.policy === policy))
    this.#told = [...before, ...standings]
    if (this.#res.headersSent || this.#told.length === 0) return
    this.#res.setHeader('RateLimit', this.#told.map(writtenLeft))
    this.#res.setHeader('RateLimit-Policy', this.#told.map(writtenPolicy))
  }
}

/** @param limiter null where nothing is counted */
export function openAccount(limiter: Limiter | null, client: () => string, res: ServerResponse): Account {
  const account = new ClientAccount(limiter, client, res)
  ;(res as WithAccount)[accountKey] = account
  return account
}

/** The account of a request that is being answered. */
export function accountFor(res: ServerResponse): Account {
  const account = (res as WithAccount)[accountKey]
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
    members: { 'violated-policies': [policy.name] },
    ...(whole !== null && { instead: whole }),
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
