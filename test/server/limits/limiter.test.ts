import { mock } from 'node:test'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LimitClass } from '../../../core/catalog/names.ts'
import { answerQuestions, CountsChannel } from '../../../server/limits/channel.ts'
import { MemoryCounts, ExceedsQuota, Limiter, LimitReached } from '../../../server/limits/limiter.ts'
import { policyOf, type Policy } from '../../../server/limits/policies.ts'
import { countedPolicy, countsAsDescribed } from './counts.ts'

const minute = policyOf('rows', 3, { per: '1m', windowMs: 60_000 })
const hour = policyOf('rows', 5, { per: '1h', windowMs: 3_600_000 })
const catalog = policyOf('catalog', 2, { per: '1m', windowMs: 60_000 })
const share = policyOf('share', 1000, { per: '1m', windowMs: 60_000 })

const clientOf = (req: IncomingMessage): string => String(req.headers['client'])
const limiterOf = (clientsMax: number, ...policies: readonly Policy[]): Limiter =>
  new Limiter(policies, clientOf, (window) => new MemoryCounts(clientsMax, window))

/** `ok` with what is left of each limit of the class and the seconds until then, or the policy that refused. */
async function counted(
  limiter: Limiter,
  client = 'a',
  limited: LimitClass = 'rows',
  cost = 0,
): Promise<string> {
  const req = { headers: { client } } as unknown as IncomingMessage
  return limiter.admit(limited, cost, req, {} as ServerResponse).then((standings) => {
    const texts = standings.map(
      (standing) => `${standing.policy.name}:${standing.remaining}:${standing.resetMs / 1000}`,
    )
    return ['ok', ...texts].join(' ')
  }, messageOf)
}

/** Returns what is left of the budget, or the policy that refused. */
async function spent(limiter: Limiter, cost: number, client = 'a', isUnbounded = false): Promise<string> {
  return limiter
    .spend(client, cost, isUnbounded ? 'files' : 'rows')
    .then(([standing]) => `${standing?.remaining} left`, messageOf)
}

function messageOf(error: unknown): string {
  if (error instanceof LimitReached) return `refused by ${error.standing.policy.name}`
  if (error instanceof ExceedsQuota) return `never by ${error.policy.name}`
  throw error
}

/** Policy -> what is left of it. */
async function left(limiter: Limiter, client = 'a'): Promise<Record<string, number>> {
  const standings = await limiter.standings(client)
  return Object.fromEntries(standings.map((standing) => [standing.policy.name, standing.remaining]))
}

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'], now: new Date('2026-01-01T00:00:00Z') })
})
afterEach(() => {
  mock.timers.reset()
})

describe('requests of a class', () => {
  test('are counted down to zero, and then refused', async () => {
    const limiter = limiterOf(10, minute)
    const outcomes = [await counted(limiter), await counted(limiter), await counted(limiter)]
    expect(outcomes).toEqual([2, 1, 0].map((rest) => `ok rows-1m:${rest}:60`))
    expect(await counted(limiter)).toBe('refused by rows-1m')
  })

  test('are counted anew when the window ends, and not before', async () => {
    const limiter = limiterOf(10, minute)
    for (let time = 0; time < 3; time += 1) await counted(limiter)
    mock.timers.tick(59_999)
    expect(await counted(limiter)).toBe('refused by rows-1m')
    mock.timers.tick(1)
    expect(await counted(limiter)).toBe('ok rows-1m:2:60')
  })

  test('have a window that does not move', async () => {
    const limiter = limiterOf(10, minute)
    await counted(limiter)
    mock.timers.tick(20_000)
    expect(await counted(limiter)).toBe('ok rows-1m:1:40')
  })

  test('are counted separately for each client and class', async () => {
    const limiter = limiterOf(10, minute, catalog)
    for (let time = 0; time < 4; time += 1) await counted(limiter)
    expect(await counted(limiter, 'b')).toBe('ok rows-1m:2:60')
    expect(await counted(limiter, 'a', 'catalog')).toBe('ok catalog-1m:1:60')
    expect(await counted(limiter, 'a', 'exports')).toBe('ok')
  })

  test('must pass every limit of the class; the longest refusal is reported', async () => {
    const limiter = limiterOf(10, minute, hour)
    for (let time = 0; time < 3; time += 1) await counted(limiter)
    mock.timers.tick(60_000)
    expect(await counted(limiter)).toBe('ok rows-1m:2:60 rows-1h:1:3540')
    await counted(limiter)
    for (let time = 0; time < 3; time += 1) expect(await counted(limiter)).toBe('refused by rows-1h')
    // A request refused by one policy counts in no other.
    expect(await left(limiter)).toEqual({ 'rows-1m': 1, 'rows-1h': 0 })
  })

  test('are not counted when the state of a client is read', async () => {
    const limiter = limiterOf(10, minute, share)
    await counted(limiter)
    for (let time = 0; time < 5; time += 1)
      expect(await left(limiter)).toEqual({ 'rows-1m': 2, 'share-1m': 1000 })
    expect(await left(limiter, 'b')).toEqual({ 'rows-1m': 3, 'share-1m': 1000 })
    // The window of a client begins with its first request, not with that question.
    mock.timers.tick(30_000)
    expect(await counted(limiter, 'b')).toBe('ok rows-1m:2:60')
  })
})

describe('concurrent requests', () => {
  test('pass as far as the limits allow, and no further', async () => {
    const limiter = limiterOf(10, { ...minute, quota: 60 }, { ...hour, quota: 1000 }, share)
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => counted(limiter, 'a', 'rows', 10)),
    )
    expect(answers.filter((answer) => answer.startsWith('ok'))).toHaveLength(60)
    expect(new Set(answers.filter((answer) => !answer.startsWith('ok')))).toEqual(
      new Set(['refused by rows-1m']),
    )
    expect(await left(limiter)).toEqual({ 'rows-1m': 0, 'rows-1h': 940, 'share-1m': 400 })
  })

  test('that the budget refuses do not count in their class', async () => {
    const limiter = limiterOf(10, { ...minute, quota: 60 }, share)
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => counted(limiter, 'a', 'rows', 300)),
    )
    expect(answers.filter((answer) => answer.startsWith('ok'))).toHaveLength(3)
    expect(await counted(limiter, 'a', 'rows', 1001)).toBe('never by share-1m')
    expect(await left(limiter)).toEqual({ 'rows-1m': 57, 'share-1m': 100 })
  })

  test('are counted one by one if one process counts for several others', async () => {
    const counts = new MemoryCounts(10, minute)
    const channel = new CountsChannel((questions) => {
      // As late as on a busy machine.
      void answerQuestions(() => counts, questions).then((replies) =>
        setTimeout(() => channel.handleReplies(replies), 400),
      )
    })
    const asking = channel.countsOf('rows-1m')
    // As of its own clock.
    mock.timers.reset()
    const usages = await Promise.all(Array.from({ length: 5 }, async () => asking.add('a', 1)))
    expect(usages.map(({ totalHits }) => totalHits)).toEqual([1, 2, 3, 4, 4])
  })
})

describe('amounts are added and subtracted as the interface of stores describes', () => {
  beforeEach(() => mock.timers.reset())

  test('in memory', async () => {
    await expect(countsAsDescribed(new MemoryCounts(200, countedPolicy))).resolves.toBeUndefined()
  })

  test('by another process', async () => {
    const counts = new MemoryCounts(200, countedPolicy)
    const channel = new CountsChannel((questions) => {
      void answerQuestions(() => counts, questions).then((replies) => channel.handleReplies(replies))
    })
    await expect(countsAsDescribed(channel.countsOf(countedPolicy.name))).resolves.toBeUndefined()
  })

  test('not by another process without a limit of this name', async () => {
    const channel = new CountsChannel((questions) => {
      void answerQuestions(() => undefined, questions).then((replies) => channel.handleReplies(replies))
    })
    await expect(channel.countsOf('rows-1m').add('a', 1)).rejects.toThrow(
      'the primary process has no limit "rows-1m"',
    )
  })
})

describe('the budget', () => {
  test('is used by all classes; costs that do not fit use nothing', async () => {
    const limiter = limiterOf(10, minute, share)
    expect(await spent(limiter, 600)).toBe('400 left')
    expect(await spent(limiter, 500)).toBe('refused by share-1m')
    expect(await spent(limiter, 400)).toBe('0 left')
    expect(await left(limiter)).toEqual({ 'rows-1m': 3, 'share-1m': 0 })
  })

  test('is charged for finished work, and refuses later work', async () => {
    const limiter = limiterOf(10, share)
    expect((await limiter.charge('a', 300))[0]?.remaining).toBe(700)
    expect((await limiter.charge('a', 5000))[0]?.remaining).toBe(0)
    expect(await spent(limiter, 1)).toBe('refused by share-1m')
    expect(await spent(limiter, 1, 'b')).toBe('999 left')
    mock.timers.tick(60_000)
    expect(await spent(limiter, 1)).toBe('999 left')
  })

  test('never allows more than its total, except for files', async () => {
    const limiter = limiterOf(10, share)
    expect(await spent(limiter, 1001)).toBe('never by share-1m')
    expect(await spent(limiter, 1001, 'a', true)).toBe('0 left')
  })

  test('does not exist if the catalog has none', async () => {
    const limiter = limiterOf(10, minute)
    expect([await limiter.spend('a', 1e9, 'rows'), await limiter.charge('a', 1e9)]).toEqual([[], []])
  })
})

test('the least recently seen client is forgotten first', async () => {
  const limiter = limiterOf(2, minute)
  for (const client of ['a', 'b', 'a', 'c']) await counted(limiter, client)
  const rest = async (client: string): Promise<number | undefined> => (await left(limiter, client))['rows-1m']
  expect([await rest('a'), await rest('c'), await rest('b')]).toEqual([1, 2, 3])
})
