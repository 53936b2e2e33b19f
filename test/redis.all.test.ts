import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { openLog } from '../server/base/log.ts'
import { RedisCounts } from '../server/limits/redis-counts.ts'
import { RedisLink } from '../server/limits/redis-link.ts'
import { countedPolicy, countsAsDescribed } from './server/limits/counts.ts'
import { oneTable, rows } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { startServer, type ServerProgram } from './support/programs.ts'
import { hasRedis, startRedis } from './components/redis.ts'
import { until } from './support/until.ts'
import { describeWith, redis } from './support/needs.ts'

/** Limits shared by several servers, with a real Redis that fails in several ways. */

const withRedis = describeWith(hasRedis, redis)

let settings: Readonly<Record<string, string>>
beforeAll(async () => {
  const limits = { rows: [{ requests: 100, per: '1h' }], catalog: [] }
  const made = await oneTable('n\n1\n', ['n:integer'], {
    catalog: { limits },
    settings: () => ({ RATE_LIMITS: 'on', TRUST_PROXY: '1' }),
  })
  settings = made.settings
})

interface Asked {
  readonly status: number
  readonly ms: number
}

/** As a client of its own, so that each case has its own counts. */
async function ask({ port }: ServerProgram, client: string): Promise<Asked> {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}${rows}`, { headers: { 'X-Forwarded-For': client } })
  await answer.arrayBuffer()
  return { status: answer.status, ms: performance.now() - began }
}

async function askAll(servers: readonly ServerProgram[], times: number, client: string): Promise<Asked[]> {
  const answers: Asked[] = []
  for (let done = 0; done < times; done += 20) {
    const batch = Array.from({ length: Math.min(20, times - done) }, (_, index) => {
      const server = servers[index % servers.length]
      if (server === undefined) throw new Error('no server')
      return ask(server, client)
    })
    answers.push(...(await Promise.all(batch)))
  }
  return answers
}

const count = (asked: readonly Asked[], status: number): number =>
  asked.filter((answer) => answer.status === status).length
const slowest = (asked: readonly Asked[]): number => Math.max(...asked.map(({ ms }) => ms))

withRedis('servers that share a Redis', () => {
  let port: number
  let server: ChildProcess
  let servers: ServerProgram[]
  beforeAll(async () => {
    port = await freePort()
    server = await startRedis(port)
    const shared = { ...settings, RATE_LIMIT_STORE: `redis://127.0.0.1:${port}` }
    servers = [await startServer(shared), await startServer({ ...shared, WORKERS: '2' })]
  }, 60_000)

  const isShared = async (client: string): Promise<boolean> => {
    const asked = await askAll(servers, 120, client)
    return count(asked, 200) === 100
  }

  test('share one limit exactly', async () => {
    // On a busy machine Redis may answer too late, and a server counts alone for a moment: another client is counted.
    let [client, counts] = ['', [0, 0]]
    for (let tried = 1; tried <= 5 && counts.join() !== '100,200'; tried += 1) {
      client = `192.0.2.${100 + tried}`
      const asked = await askAll(servers, 300, client)
      counts = [count(asked, 200), count(asked, 429)]
    }
    expect(counts).toEqual([100, 200])
    // A request refused by one policy counts in no other.
    const response = await fetch(`http://127.0.0.1:${servers[1]?.port}/limits`, {
      headers: { 'X-Forwarded-For': client },
    })
    const { limits } = (await response.json()) as {
      limits: { of: string; quota: number; remaining: number }[]
    }
    const share = limits.find(({ of }) => of === 'share')
    expect((share?.quota ?? 0) - (share?.remaining ?? 0)).toBeLessThan(1000)
  })

  test('add, cap and refuse amounts as the interface of counts documents', async () => {
    const link = new RedisLink(`redis://127.0.0.1:${port}`, openLog('silent', {}))
    await link.open()
    await expect(countsAsDescribed(new RedisCounts(link, countedPolicy))).resolves.toBeUndefined()
    link.close()
  })

  /** Ways in which it fails, and how it recovers. */
  const fates: [title: string, away: () => Promise<void>, back: () => Promise<void>][] = [
    [
      'killed',
      async () => {
        server.kill('SIGKILL')
        await once(server, 'exit')
      },
      async () => {
        server = await startRedis(port)
      },
    ],
    ['hung', async () => void server.kill('SIGSTOP'), async () => void server.kill('SIGCONT')],
    [
      'late by a second',
      async () => {
        server.kill('SIGSTOP')
        void (async () => {
          for (let time = 0; time < 3; time += 1) {
            await setTimeout(1000)
            server.kill('SIGCONT')
            await setTimeout(20)
            if (time < 2) server.kill('SIGSTOP')
          }
        })()
      },
      async () => setTimeout(3200),
    ],
  ]

  test('count for themselves while Redis is unavailable, keep no client waiting, and share again when Redis is back', async () => {
    for (const [index, [title, away, back]] of fates.entries()) {
      await until(() => isShared(`198.51.100.${index * 50 + Math.floor(Math.random() * 50)}`))
      const before = await askAll(servers, 100, `203.0.113.${100 + index}`)
      await away()
      const alone = await askAll(servers, 100, `203.0.113.${index}`)
      // As on a machine that does nothing else.
      const waited = slowest(alone) - slowest(before)
      expect({ title, statuses: count(alone, 200), isQuick: waited < 500 }).toEqual({
        title,
        statuses: 100,
        isQuick: true,
      })
      await back()
      const began = performance.now()
      for (let tries = 0; ; tries += 1) {
        if (await isShared(`192.0.2.${100 + index * 50 + tries}`)) break
        expect({ title, seconds: performance.now() - began }).toEqual({
          title,
          seconds: expect.any(Number),
        })
        if (performance.now() - began > 5000) throw new Error(`${title}: not shared again within 5 s`)
        await setTimeout(200)
      }
    }
  }, 120_000)

  test('start without Redis and with limits of their own, and share limits once Redis is available', async () => {
    const later = await freePort()
    const shared = { ...settings, RATE_LIMIT_STORE: `redis://127.0.0.1:${later}` }
    const both = [await startServer(shared), await startServer(shared)]
    const [first] = both
    if (first === undefined) throw new Error('no server')
    const alone = await askAll([first], 120, '192.0.2.60')
    expect([count(alone, 200), count(alone, 429)]).toEqual([100, 20])
    expect(first.log()).toContain('Redis does not respond')
    await startRedis(later)
    await until(() => both.every(({ log }) => log().includes('Redis responds: limits are shared')), 5000)
    const asked = await askAll(both, 140, '192.0.2.61')
    expect([count(asked, 200), count(asked, 429)]).toEqual([100, 40])
  }, 60_000)
})
