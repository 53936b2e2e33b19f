import { Connection } from '../../../core/duckdb/connection.ts'
import request from 'supertest'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'

/** Ranges of pages and of exports of a query, and how long they are. */

const table = '/api/v1/dataset/d/t/'
const plain = { 'Accept-Encoding': 'identity' }
let shop: Workshop
let service: Service

beforeAll(async () => {
  const lines = Array.from({ length: 3000 }, (_, n) => `${n},${n % 2 === 0 ? 'Rio' : 'Salvador'}\n`)
  const catalog = tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: ['s'] })
  shop = await workshop(catalog, { 'd/t.csv': `n,s\n${lines.join('')}` })
  await shop.ingest({ partRows: 500 })
  service = await serve(shop)
})

describe.each([
  ['a page', 'data/?page_size=700&format=csv'],
  ['a page of JSON', 'data/?s=Rio&page_size=700'],
  ['all rows', 'export/?format=csv'],
  ['an export of some rows', 'export/?s=Rio&format=csv'],
  ['an export in another order', 'export/?s=Rio&ordering=-n&format=ndjson'],
  ['an export as Arrow', 'export/?s=Rio&format=arrow'],
])('%s', (_what, query) => {
  const get = (headers: Record<string, string> = {}) =>
    rawGet(service.app, table + query, { ...plain, ...headers })

  test('comes in ranges that form the complete bytes', async () => {
    const whole = await get()
    const { length } = whole.body
    const head = await request(service.app)
      .head(table + query)
      .set(plain)
    expect([head.status, head.headers['content-length']]).toEqual([200, String(length)])
    const parts = [`0-99`, `100-${length - 2}`, '-1']
    const answers = await Promise.all(parts.map((part) => get({ Range: `bytes=${part}` })))
    expect(answers.map(({ status, headers }) => [status, headers['content-range']])).toEqual([
      [206, `bytes 0-99/${length}`],
      [206, `bytes 100-${length - 2}/${length}`],
      [206, `bytes ${length - 1}-${length - 1}/${length}`],
    ])
    expect(Buffer.concat(answers.map(({ body }) => body)).equals(whole.body)).toBe(true)
    // Clients of Parquet request the last 64 KiB of any file.
    for (const suffix of [`${length}`, `${length + 1}`, '65536000000000000000000']) {
      const answer = await get({ Range: `bytes=-${suffix}` })
      expect([answer.status, answer.headers['content-range'], answer.body.equals(whole.body)]).toEqual([
        206,
        `bytes 0-${length - 1}/${length}`,
        true,
      ])
    }
    const tags = [whole, ...answers].map(({ headers }) => headers['etag'])
    expect(new Set(tags).size).toBe(1)
  })

  test('comes completely if If-Range names another or an unknown version', async () => {
    const { body, headers } = await get()
    for (const headerList of [{ 'If-Range': '"other"' }, { Range: 'rows=0-1' }, { Range: 'bytes=0-1,5-6' }]) {
      const answer = await get({ Range: 'bytes=0-9', ...headerList })
      expect([answer.status, answer.body.equals(body)]).toEqual([200, true])
    }
    const same = await get({ Range: 'bytes=0-9', 'If-Range': headers['etag'] ?? '' })
    expect([same.status, same.body.equals(body.subarray(0, 10))]).toEqual([206, true])
    for (const none of [`${body.length}-`, '-0']) {
      const beyond = await get({ Range: `bytes=${none}` })
      expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${body.length}`])
    }
  })
})

test('a range of a compressed answer is ignored, and the complete answer is sent', async () => {
  const answer = await rawGet(service.app, `${table}data/?page_size=700`, {
    Range: 'bytes=0-9',
    'Accept-Encoding': 'gzip, identity;q=0',
  })
  expect([answer.status, answer.headers['content-encoding']]).toEqual([200, 'gzip'])
})

test('an export is built once for all of its ranges', async () => {
  const server = await serve(shop)
  const address = `${table}export/?s=Salvador&format=csv`
  const { headers } = await request(server.app).head(address).set(plain)
  const rows = jest.spyOn(Connection.prototype, 'rows')
  const numbers = jest.spyOn(Connection.prototype, 'numbers')
  const parts = await Promise.all(
    [0, 1000, 2000].map((start) =>
      rawGet(server.app, address, { ...plain, Range: `bytes=${start}-${start + 999}` }),
    ),
  )
  expect(parts.map(({ status, body }) => [status, body.length])).toEqual([
    [206, 1000],
    [206, 1000],
    [206, 1000],
  ])
  expect([rows.mock.calls, numbers.mock.calls]).toEqual([[], []])
  expect(Number(headers['content-length'])).toBeGreaterThan(3000)
  await server.close()
})

test('an export too large for the cache comes without a length and without ranges', async () => {
  const server = await serve(shop, { finishedBytesMax: 1000 })
  const address = `${table}export/?s=Rio&format=csv`
  const head = await request(server.app).head(address).set(plain)
  expect([head.status, head.headers['content-length']]).toEqual([200, undefined])
  const { status, body } = await rawGet(server.app, address, { ...plain, Range: 'bytes=0-9' })
  expect([status, body.toString().split('\n').length]).toEqual([200, 1502])
  await server.close()
})

test('an export that finishes evicts the oldest finished export, whose readers still get all of its bytes', async () => {
  const server = await serve(shop, { finishedBytesMax: 300_000, exportsMax: 20 })
  const bodies = new Map<string, Buffer>()
  const orders = ['n', '-n', 's', '-s', 's,n', 's,-n', '-s,n', '-s,-n']
  for (let turn = 0; turn < 2; turn += 1) {
    await Promise.all(
      orders.map(async (order) => {
        const address = `${table}export/?s=Rio&ordering=${order}&format=json`
        const { status, body } = await rawGet(server.app, address, { ...plain, Range: 'bytes=0-' })
        expect(status).toBe(206)
        expect(body.equals(bodies.get(order) ?? body)).toBe(true)
        bodies.set(order, body)
      }),
    )
  }
  expect([...bodies.values()].map(({ length }) => length)).toEqual(orders.map(() => bodies.get('n')?.length))
  await server.close()
})
