import type { Counts, Usage } from './limiter.ts'
import type { Policy } from './policies.ts'
import type { RedisLink } from './redis-link.ts'

/** Adds an amount and answers what is used then and how many ms the window has left, in one step for all servers. */
const script = `
local amount, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local left = redis.call('PTTL', KEYS[1])
local used = left > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
used = math.max(0, used + amount)
if left > 0 then redis.call('SET', KEYS[1], used, 'KEEPTTL')
else
  left = window
  if amount > 0 then redis.call('SET', KEYS[1], used, 'PX', window) end
end
return { used, left }`

/** Counts in a Redis that several servers share. */
export class RedisCounts implements Counts {
  readonly #link: RedisLink
  readonly #policy: Policy

  constructor(link: RedisLink, policy: Policy) {
    this.#link = link
    this.#policy = policy
  }

  async add(client: string, amount: number): Promise<Usage> {
    const { name, quota, windowMs } = this.#policy
    const key = `acervo:${name}:${quota}:${client}`
    const reply = await this.#link.send(['EVAL', script, '1', key, String(amount), String(windowMs)])
    if (!Array.isArray(reply)) throw new TypeError('Redis answered no count')
    const [totalHits = 0, left = 0] = reply.map(Number)
    return { totalHits, resetTime: new Date(Date.now() + left) }
  }
}
