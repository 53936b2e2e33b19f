import fc from 'fast-check'
import { MemoryGate } from '../../../server/base/queue.ts'
import { until } from '../../support/until.ts'
import { rawGet, serve, tagOf } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { testAll } from '../../support/runs.ts'
import net from 'node:net'
import { listen } from '../../../server/http/listen.ts'
import { freePort } from '../../support/ports.ts'

/** Many requests at once: queues, fair turns and refusals. */

const rows = '/api/v1/dataset/d/t/data/'

const rowCount = 4196
const endless = {
  sql: "select encode('x'), [1::uinteger], true from range(100000000000) as t(x) where sqrt(x) * 2 = 3",
  parameters: [],
  reads: null,
}

let shop: Workshop
beforeAll(async () => {
  const lines = Array.from({ length: rowCount }, (_, n) => `${n},${'text '.repeat(10)}${n}`)
  shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], packed: false }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
})

describe('under pressure', () => {
  test('cached responses are sent while the queue is full, and new work is refused before it starts', async () => {
    const service = await serve(shop, { queryConnections: 1, scanConnections: 1, queueTimeoutMs: 100 })
    const kept = `${rows}?page_size=10`
    await tagOf(service.app, kept)
    const tag = await tagOf(service.app, kept)
    const stop = new AbortController()
    const held = service.pool.texts(endless, 'holder', stop.signal).catch((error: unknown) => error)
    const [cold, warm, unchanged, list] = await Promise.all([
      rawGet(service.app, `${rows}?page_size=10&page=400`),
      rawGet(service.app, kept),
      rawGet(service.app, `${rows}?page_size=10`, { 'If-None-Match': tag }),
      rawGet(service.app, '/api/v1/datasets/'),
    ])
    expect([cold.status, warm.status, unchanged.status, list.status]).toEqual([503, 200, 304, 200])
    expect([cold.headers['retry-after'], cold.headers['cache-control']]).toEqual(['5', 'no-store'])
    expect(JSON.parse(cold.body.toString())).toMatchObject({ type: 'urn:acervo:problem:overloaded' })
    expect(service.pool.statements).toBe(3)
    stop.abort()
    await held
    expect((await rawGet(service.app, `${rows}?page_size=10&page=400`)).status).toBe(200)
  })

  test('a client with many waiting requests delays another client by one query, not by all of them', async () => {
    const many = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'], packed: false }), {
      'd/t.csv': `n\n${Array.from({ length: 200 }, (_, n) => n).join('\n')}\n`,
    })
    // A part of its own for each page, so that none shares a query with another.
    await many.ingest({ partRows: 10 })
    const service = await serve(many, { queryConnections: 1, scanConnections: 1, trustProxy: 1 })
    const stop = new AbortController()
    const held = service.pool.texts(endless, 'holder', stop.signal).catch((error: unknown) => error)
    const answered: string[] = []
    const ask = async (client: string, page: number): Promise<void> => {
      const before = service.pool.waiting
      const asked = rawGet(service.app, `${rows}?page_size=10&page=${page}`, { 'X-Forwarded-For': client })
      waiting.push(asked.then(() => void answered.push(client)))
      await until(() => service.pool.waiting !== before)
    }
    const waiting: Promise<void>[] = []
    for (let page = 1; page <= 10; page += 1) await ask('192.0.2.1', page)
    await ask('192.0.2.2', 11)
    stop.abort()
    await Promise.all([held, ...waiting])
    expect(answered.indexOf('192.0.2.2')).toBeLessThanOrEqual(2)
    expect(answered).toHaveLength(11)
  })

  test('a client that scans without pause leaves half of the scans to others', async () => {
    const service = await serve(shop, { queryConnections: 4, scanConnections: 4, trustProxy: 1 })
    const stop = new AbortController()
    const held = Array.from({ length: 8 }, () =>
      service.scans.texts(endless, '192.0.2.1', stop.signal).catch((error: unknown) => error),
    )
    for (let bound = 2; bound < 6; bound += 1) {
      const target = `${rows}?n__gte=${bound}&ordering=-s&page_size=10`
      const answer = await rawGet(service.app, target, { 'X-Forwarded-For': `192.0.2.${bound}` })
      expect(answer.status).toBe(200)
    }
    // A filter and an order each; of the first client's two run, and the others wait.
    expect([service.scans.statements, service.scans.waiting]).toEqual([2 + 4 * 2, 6])
    stop.abort()
    await Promise.all(held)
    expect(service.scans.waiting).toBe(0)
  })

  testAll('pages are built within the memory limit, a larger one alone, and all are answered', async () => {
    const makingBytesMax = 150_000
    const service = await serve(shop, { makingBytesMax, cachedBytesMax: 0, trustProxy: 1 })
    const { memory } = service.engine
    const during = jest.spyOn(memory, 'during')
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, memory.reservedBytes)), 1)
    const asked = Array.from({ length: 40 }, (_, index) => {
      const ask = [
        `page_size=1000&page=${1 + (index % 4)}`,
        `page_size=900&n__gte=${index}`,
        'page_size=4000&n__gte=1',
      ]
      const headers = { 'X-Forwarded-For': `192.0.2.${index % 5}` }
      return rawGet(service.app, `${rows}?${ask[index % 3] ?? ''}`, headers)
    })
    const answered = await Promise.all(asked)
    clearInterval(watch)
    expect(answered.map(({ status }) => status)).toEqual(asked.map(() => 200))
    const sizes = during.mock.calls.map(([bytes]) => Math.ceil(bytes))
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(Math.max(makingBytesMax, ...sizes))
    expect(Math.max(...sizes)).toBeGreaterThan(makingBytesMax)
    expect(memory.reservedBytes).toBe(0)
  })

  testAll('a page larger than the limit is built in the end, whatever was built before', async () => {
    const sizes = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.scheduler(), async (made, scheduler) => {
        const memory = new MemoryGate({ makingBytesMax: 100, queueTimeoutMs: 10_000 })
        const { signal } = new AbortController()
        const waiting = made.map((bytes, client) =>
          memory.during(
            bytes,
            String(client % 3),
            () => signal,
            () => scheduler.schedule(Promise.resolve()),
          ),
        )
        await scheduler.waitFor(Promise.all(waiting))
        expect(memory.reservedBytes).toBe(0)
        expect(
          await memory.during(
            1000,
            'last',
            () => signal,
            () => Promise.resolve('made'),
          ),
        ).toBe('made')
      }),
    )
  })

  test('a client that fills the queue does not exclude others', async () => {
    const many = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'], packed: false }), {
      'd/t.csv': `n\n${Array.from({ length: 200 }, (_, n) => n).join('\n')}\n`,
    })
    await many.ingest({ partRows: 10 })
    const service = await serve(many, {
      queryConnections: 1,
      scanConnections: 1,
      trustProxy: 1,
      queueLengthMax: 5,
    })
    const stop = new AbortController()
    const held = service.pool.texts(endless, 'holder', stop.signal).catch((error: unknown) => error)
    const ask = async (client: string, page: number): Promise<[string, number]> => {
      const target = `${rows}?page_size=10&page=${page}`
      return [client, (await rawGet(service.app, target, { 'X-Forwarded-For': client })).status]
    }
    const first = Array.from({ length: 5 }, (_, page) => ask('192.0.2.1', page + 1))
    await until(() => service.pool.waiting >= 5)
    const second = ask('192.0.2.2', 6)
    const refused = await Promise.race(first)
    stop.abort()
    await held
    expect(refused).toEqual(['192.0.2.1', 503])
    expect(await second).toEqual(['192.0.2.2', 200])
    expect((await Promise.all(first)).map(([, status]) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 503,
    ])
  })

  test('the queue has a maximum length, beyond which no request waits', async () => {
    const service = await serve(shop, {
      queryConnections: 1,
      scanConnections: 1,
      queueLengthMax: 1,
      queueTimeoutMs: 10_000,
    })
    const stop = new AbortController()
    const held = service.pool.texts(endless, 'holder', stop.signal).catch((error: unknown) => error)
    const waiting = rawGet(service.app, `${rows}?page_size=10&page=1`)
    await until(() => service.pool.waiting > 0)
    const refused = await rawGet(service.app, `${rows}?page_size=10&page=400`)
    stop.abort()
    await held
    expect([refused.status, (await waiting).status]).toEqual([503, 200])
  })
})

testAll.each<[when: string, sendTimeoutMs: number]>([
  ['when its time is over', 1000],
  ['earlier, if other answers need the memory', 60_000],
])('a reader that does not receive its answer is disconnected %s', async (_when, sendTimeoutMs) => {
  const big = `${rows}?page_size=10000`
  const wide = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
    'd/t.csv': `n,s\n${Array.from({ length: 200 }, (_, n) => `${n},${'x'.repeat(200_000)}`).join('\n')}\n`,
  })
  await wide.ingest()
  const service = await serve(wide, { sendTimeoutMs, unsentBytesMax: 1_000_000 })
  const port = await freePort()
  const listening = await listen(service.app, {
    host: '127.0.0.1',
    port,
    log: service.log,
    longestAnswerMs: 60_000,
    connectionsMax: 10,
    headersTimeoutMs: 10_000,
  })
  await tagOf(service.app, `${rows}?page_size=2`)
  const tag = await tagOf(service.app, `${rows}?page_size=2`)
  const silent = net.connect(port, '127.0.0.1')
  silent.pause()
  silent.write(`GET ${big} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const status = async (target: string, headers: Record<string, string> = {}): Promise<number> =>
    (await rawGet(service.app, target, headers)).status
  let page = 0
  await until(async () => {
    page += 1
    return (await status(`${rows}?page_size=3&page=${1 + (page % 60)}`)) !== 200
  })
  expect([
    await status(`${rows}?page_size=4`),
    await status(`${rows}?page_size=2`),
    await status(`${rows}?page_size=2`, { 'If-None-Match': tag }),
  ]).toEqual([503, 200, 304])
  expect((await rawGet(service.app, '/api/v1/dataset/d/')).status).toBe(200)
  await until(async () => (await status(`${rows}?page_size=5`)) === 200)
  // Nothing more comes, though the reader begins to read.
  const closed = new Promise((resolve) => silent.once('close', resolve))
  silent.on('error', () => undefined).resume()
  await closed
  expect(await status(`${rows}?page_size=4`)).toBe(200)
  await listening.stop()
})
