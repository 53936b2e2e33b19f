import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LimitClass } from '../../core/catalog/names.ts'
import { costOfWork, type Cost } from '../limits/costs.ts'
import type { RequestWork } from '../base/request-work.ts'
import { ExceedsQuota, LimitReached, type Limiter, type RemainingQuota } from '../limits/limiter.ts'
import { Problem, queryTooCostly, type WholeTable } from './problems.ts'

export class Account {
  route = 'none'
  countsAs: LimitClass = 'catalog'
  /** Whole table that a refused client is offered instead; null if there is none. */
  findWholeTable: () => WholeTable | null = () => null
  readonly #limiter: Limiter | null
  readonly #client: (req: IncomingMessage) => string
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  #isCounted = false
  #quotas: readonly RemainingQuota[] = []

  /** @param limiter null if nothing is limited */
  constructor(
    limiter: Limiter | null,
    client: (req: IncomingMessage) => string,
    req: IncomingMessage,
    res: ServerResponse,
  ) {
    this.#limiter = limiter
    this.#client = client
    this.#req = req
    this.#res = res
  }

  /**
   * Counts the request in its class, once.
   * @throws LimitReached
   */
  async count(): Promise<void> {
    if (!this.#isCounted) await this.#spend(0)
  }

  /**
   * Takes the cost of work; the first call also counts the request.
   * @param paid work whose cost was taken before; small costs beyond it are free
   * @throws LimitReached, or ExceedsQuota if waiting will not help
   */
  async spend(work: RequestWork = {}, paid?: RequestWork): Promise<void> {
    if (paid === undefined) return this.#spend(costOfWork(work))
    const remaining = costOfWork(work) - costOfWork(paid)
    if (remaining > costOfWork(paid)) await this.#spend(remaining)
  }

  async #spend(cost: Cost): Promise<void> {
    if (this.#limiter === null) return
    if (this.#isCounted)
      this.#writeHeaders(await this.#limiter.spend(this.#client(this.#req), cost, this.countsAs))
    else {
      const standings = await this.#limiter.admit(this.countsAs, cost, this.#req, this.#res)
      this.#isCounted = true
      this.#writeHeaders(standings)
    }
  }

  /**
   * Charges time already used.
   * @param ms processor time
   * @param paid work whose cost was taken before
   */
  async charge(ms: number, paid: RequestWork): Promise<void> {
    const cost = Math.round(ms) - costOfWork(paid)
    if (cost > 0 && this.#limiter !== null)
      this.#writeHeaders(await this.#limiter.charge(this.#client(this.#req), cost))
  }

  /**
   * Counts a failed request, unless counted before.
   * @returns a refusal as a problem, any other error unchanged
   */
  async settle(error: unknown): Promise<unknown> {
    if (error instanceof ExceedsQuota) return beyond(error, this.findWholeTable())
    if (error instanceof LimitReached) {
      this.#writeHeaders([error.standing])
      return refusal(error, this.findWholeTable())
    }
    if (this.#isCounted) return error
    return this.spend().then(
      () => error,
      (refused: unknown) => this.settle(refused),
    )
  }

  #writeHeaders(standings: readonly RemainingQuota[]): void {
    const otherQuotas = this.#quotas.filter(({ policy }) =>
      standings.every((standing) => standing.policy !== policy),
    )
    this.#quotas = [...otherQuotas, ...standings]
    if (this.#res.headersSent || this.#quotas.length === 0) return
    this.#res.setHeader('RateLimit', this.#quotas.map(rateLimitItem).join(', '))
    this.#res.setHeader('RateLimit-Policy', this.#quotas.map(({ policy }) => policy.header).join(', '))
  }
}

/** An account is a property of its response: a map would cost more. */
const accountKey = Symbol('account')
type WithAccount = ServerResponse & { [accountKey]?: Account }

export function openAccount(
  limiter: Limiter | null,
  client: (req: IncomingMessage) => string,
  req: IncomingMessage,
  res: WithAccount,
): void {
  res[accountKey] = new Account(limiter, client, req, res)
}

export function accountFor(res: ServerResponse): Account {
  const account = (res as WithAccount)[accountKey]
  if (account === undefined) throw new Error('request has no account')
  return account
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000)

function rateLimitItem({ policy, remaining, resetMs }: RemainingQuota): string {
  return `"${policy.name}"; r=${remaining}; t=${secondsOf(resetMs)}`
}

const requestsOf: Readonly<Record<LimitClass, string>> = {
  catalog: 'requests',
  rows: 'pages of rows',
  exports: 'exports',
  files: 'requests for files',
}

export function sentenceOf({ limitClass: limits, quota, per }: RemainingQuota['policy']): string {
  return limits === 'share'
    ? `At most ${(quota / 1000).toLocaleString('en')} seconds of processor time per ${per} are allowed for one client`
    : `At most ${quota} ${requestsOf[limits]} per ${per} are allowed`
}

const advice = 'For a complete dataset, download its files through the links of its dataset page.'

function refusal({ standing, amount }: LimitReached, wholeTable: WholeTable | null): Problem {
  const { policy, remaining, resetMs } = standing
  const seconds = Math.max(1, secondsOf(resetMs))
  const costText =
    policy.limitClass === 'share'
      ? `; this request needs about ${amount} ms, and ${remaining} ms are left`
      : ''
  const better = wholeTable === null ? advice : `All rows are in one file: ${wholeTable.file.address}.`
  const detail = `${sentenceOf(policy)}${costText}; try again in ${seconds} s. ${better}`
  return new Problem('too-many-requests', detail, {
    members: { 'violated-policies': [policy.name] },
    ...(wholeTable !== null && { wholeTable }),
    headers: { 'Retry-After': String(seconds), ...linkTo(wholeTable) },
  })
}

function beyond({ policy }: ExceedsQuota, wholeTable: WholeTable | null): Problem {
  return queryTooCostly(
    `This request costs more than one client may use at once. ${sentenceOf(policy)}: request less.`,
    wholeTable?.file.address ?? null,
  )
}

function linkTo(wholeTable: WholeTable | null): Readonly<Record<string, string>> {
  return wholeTable === null
    ? {}
    : { Link: `<${wholeTable.file.address}>; rel="alternate"; type="application/gzip"` }
}
