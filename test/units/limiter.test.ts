import { mock } from 'node:test'
import type { LimitClass } from '../../core/catalog/catalog.ts'
import { ClientCounts } from '../../server/limits/client-counts.ts'
import { BeyondQuota, Limiter, QuotaExceeded } from '../../server/limits/limiter.ts'
import type { Policy } from '../../server/limits/policies.ts'
import type { Price } from '../../server/limits/prices.ts'

const policy = (name: string, limits: Policy['limits'], quota: number, windowMs: number): Policy => ({
  name,
  limits,
  quota,
  windowMs,
  per: name.slice(name.indexOf('-') + 1),
})
const minute = policy('rows-1m', 'rows', 3, 60_000)
const hour = policy('rows-1h', 'rows', 5, 3_600_000)
const catalog = policy('catalog-1m', 'catalog', 2, 60_000)
const share = policy('share-1m', 'share', 1000, 60_000)

const limiterOf = (clientsMax: number, ...policies: readonly Policy[]): Limiter =>
  new Limiter(policies, (one) => new ClientCounts(clientsMax, one))

const price = (counts: number, work = 0): Price => ({ counts, work })

/** `ok` with what is left of each policy, or the policy that refused. */
async function taken(
  limiter: Limiter,
  counts = 1,
  { client = 'a', asked = 'rows', work = 0 }: { client?: string; asked?: LimitClass; work?: number } = {},
): Promise<string> {
  try {
    const standings = await limiter.take(client, asked, price(counts, work))
    return `ok ${standings.map(({ policy: { name }, left }) => `${name}:${left}`).join(' ')}`
  } catch (error) {
    if (error instanceof QuotaExceeded) return `refused by ${error.standing.policy.name}`
    if (error instanceof BeyondQuota) return `never by ${error.policy.name}`
    throw error
  }
}

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'], now: new Date('2026-01-01T00:00:00Z') })
})
afterEach(() => {
  mock.timers.reset()
})

describe('a quota', () => {
  test('is counted down to nothing, and then refuses', async () => {
    const limiter = limiterOf(10, minute)
    expect([await taken(limiter), await taken(limiter), await taken(limiter), await taken(limiter)]).toEqual([
      'ok rows-1m:2',
      'ok rows-1m:1',
      'ok rows-1m:0',
      'refused by rows-1m',
    ])
  })

  test('begins anew when its window is over, and not before', async () => {
    const limiter = limiterOf(10, minute)
    await taken(limiter, 3)
    mock.timers.tick(59_999)
    expect(await taken(limiter)).toBe('refused by rows-1m')
    mock.timers.tick(1)
    expect(await taken(limiter)).toBe('ok rows-1m:2')
  })

  test('says when its window is over', async () => {
    const limiter = limiterOf(10, minute)
    await taken(limiter)
    mock.timers.tick(20_000)
    const [standing] = await limiter.look('a', 'rows')
    expect(standing).toMatchObject({ left: 2, resetMs: 40_000 })
  })

  test('is each client’s own', async () => {
    const limiter = limiterOf(10, minute)
    await taken(limiter, 3)
    expect(await taken(limiter, 1, { client: 'b' })).toBe('ok rows-1m:2')
  })

  test('of one class is not touched by another', async () => {
    const limiter = limiterOf(10, minute, catalog)
    await taken(limiter, 3)
    expect(await taken(limiter, 1, { asked: 'catalog' })).toBe('ok catalog-1m:1')
  })

  test('that does not suffice is not touched: a smaller request still fits', async () => {
    const limiter = limiterOf(10, minute)
    await taken(limiter, 1)
    expect([await taken(limiter, 3), await taken(limiter, 2)]).toEqual(['refused by rows-1m', 'ok rows-1m:0'])
  })

  test('is taken as a whole by a request that counts more', async () => {
    const limiter = limiterOf(10, minute)
    expect([await taken(limiter, 100), await taken(limiter)]).toEqual(['ok rows-1m:0', 'refused by rows-1m'])
  })

  test('costs nothing to look at', async () => {
    const limiter = limiterOf(10, minute)
    for (let look = 0; look < 5; look += 1) await limiter.look('a', 'all')
    expect(await taken(limiter, 3)).toBe('ok rows-1m:0')
  })
})

describe('several policies', () => {
  test('must all let a request pass; one that refuses gives back what the others counted', async () => {
    const limiter = limiterOf(10, minute, hour)
    await taken(limiter, 3)
    mock.timers.tick(60_000)
    expect(await taken(limiter, 3)).toBe('refused by rows-1h')
    expect(await taken(limiter, 2)).toBe('ok rows-1m:1 rows-1h:0')
  })

  test.each<[refusing: string, counts: number, work: number]>([
    ['rows-1m', 2, 1],
    ['rows-1h', 2, 1],
    ['share-1m', 1, 300],
  ])('what %s refuses is counted by none of them', async (refusing, counts, work) => {
    const all = [minute, hour, share].map((one) => (one.name === refusing ? one : { ...one, quota: 10_000 }))
    const limiter = limiterOf(10, ...all)
    let passed = 0
    while ((await taken(limiter, counts, { work })) !== `refused by ${refusing}`) passed += 1
    const left = (await limiter.look('a', 'all')).map((one) => [one.policy.name, one.left])
    expect(left).toEqual(
      all.map(({ name, limits, quota }) => [name, quota - passed * (limits === 'share' ? work : counts)]),
    )
  })

  test('the share of the machine counts the work of every class', async () => {
    const limiter = limiterOf(10, minute, catalog, share)
    await taken(limiter, 1, { work: 600 })
    expect(await taken(limiter, 1, { asked: 'catalog', work: 500 })).toBe('refused by share-1m')
    expect(await taken(limiter, 1, { asked: 'catalog', work: 400 })).toBe('ok catalog-1m:1 share-1m:0')
  })

  test('work that is done already is charged, as far as the share goes', async () => {
    const limiter = limiterOf(10, minute, share)
    const left = async (work: number): Promise<unknown> =>
      (await limiter.spend('a', 'rows', work)).map(({ policy: { name }, left: rest }) => [name, rest])
    expect(await left(300)).toEqual([['share-1m', 700]])
    expect(await left(5000)).toEqual([['share-1m', 0]])
    expect(await left(1)).toEqual([['share-1m', 0]])
    expect(await taken(limiter, 1, { work: 1 })).toBe('refused by share-1m')
    expect(await taken(limiter, 1, { client: 'b', work: 1 })).toBe('ok rows-1m:2 share-1m:999')
  })

  test('more work than the whole share is refused for good, but for files', async () => {
    const limiter = limiterOf(10, policy('files-1m', 'files', 5, 60_000), minute, share)
    expect(await taken(limiter, 1, { work: 1001 })).toBe('never by share-1m')
    expect(await taken(limiter, 1, { asked: 'files', work: 1001 })).toBe('ok files-1m:4 share-1m:0')
  })
})

test('the client not seen for longest is forgotten first', async () => {
  const limiter = limiterOf(2, minute)
  for (const client of ['a', 'b', 'a', 'c']) await taken(limiter, 1, { client })
  const left = async (client: string): Promise<number | undefined> =>
    (await limiter.look(client, 'rows'))[0]?.left
  expect([await left('a'), await left('c'), await left('b')]).toEqual([1, 2, 3])
})
