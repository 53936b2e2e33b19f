import type { ClientRateLimitInfo } from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
import { readAsk } from './ask.ts'
import type { Policy } from './policies.ts'
import type { RedisLink } from './redis-link.ts'

/**
 * Counts an ask where it fits into the quota, in one step, whoever else counts at that moment, or gives one back. Answers what the count comes
 * to with it, and how many ms the window has left.
 */
const script = `
local left = redis.call('PTTL', KEYS[1])
local used = left > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
local window, counts, quota = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local total = used + counts
if left <= 0 then left = window end
if counts > 0 and total <= quota then
  if used == 0 then redis.call('SET', KEYS[1], total, 'PX', left)
  else redis.call('INCRBY', KEYS[1], counts) end
elseif counts < 0 and used > 0 then redis.call('DECRBY', KEYS[1], math.min(used, -counts))
end
return { total, left }`

/** What each client has had of a policy, in a Redis that several servers share: the library's store, for asks of any weight. */
export class RedisCounts extends RedisStore {
  readonly #policy: Policy

  constructor(link: RedisLink, policy: Policy) {
    super({
      prefix: `acervo:${policy.name}:${policy.quota}:`,
      sendCommand: (...command: string[]) => link.send(command),
    })
    this.#policy = policy
  }

  /** Nothing is loaded beforehand: a Redis that is not there yet, or that has forgotten the script, makes no difference. */
  override async init(): Promise<void> {
    this.windowMs = this.#policy.windowMs
  }

  override async increment(key: string): Promise<ClientRateLimitInfo> {
    const { client, counts } = readAsk(key)
    const { quota, windowMs } = this.#policy
    const name = this.prefixKey(client)
    const command = ['EVAL', script, '1', name, ...[windowMs, counts, quota].map(String)]
    const reply = await this.sendCommand({ key: name, isReadOnly: false, command })
    if (!Array.isArray(reply)) throw new TypeError('Redis answered no count')
    const [totalHits, left] = reply.map(Number)
    return { totalHits: totalHits ?? 0, resetTime: new Date(Date.now() + (left ?? 0)) }
  }
}
