import type { Counts, Usage } from './limiter.ts'
import type { Policy } from './policies.ts'
import type { RedisLink } from './redis-link.ts'

/** `Counts.add` as one atomic step; returns the usage, and the rest of the window in ms. */
const script = `
local amount, window, quota = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local left = redis.call('PTTL', KEYS[1])
local used = left > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
local total = math.max(0, used + amount)
if total > quota then
  if ARGV[4] ~= 'capped' then return { total, left > 0 and left or window } end
  total = quota
end
if left > 0 then
  if total ~= used then redis.call('INCRBY', KEYS[1], total - used) end
else
  left = window
  if amount > 0 then redis.call('SET', KEYS[1], total, 'PX', window) end
end
return { total, left }`

export class RedisCounts implements Counts {
  readonly #link: RedisLink
  readonly #policy: Policy

  constructor(link: RedisLink, policy: Policy) {
    this.#link = link
    this.#policy = policy
  }

  async add(client: string, amount: number, isCapped = false): Promise<Usage> {
    const { name, quota, windowMs } = this.#policy
    const key = `acervo:${name}:${quota}:${client}`
    const values = [...[amount, windowMs, quota].map(String), isCapped ? 'capped' : 'whole']
    const reply = await this.#link.send(['EVAL', script, '1', key, ...values])
    if (!Array.isArray(reply)) throw new TypeError('Redis returned no count')
    const [totalHits = 0, resetMs = 0] = reply.map(Number)
    return { totalHits, resetTime: new Date(Date.now() + resetMs) }
  }
}
