import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import request from 'supertest'
import { parseCatalog } from '../../core/catalog/load.ts'
import { listen, type Listening } from '../../server/http/listen.ts'
import { timeInZone } from '../../server/routes/import-date.ts'
import { freePort } from '../support/ports.ts'
import { getPage, serve, type Service } from '../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'

let shop: Workshop
let service: Service
beforeAll(async () => {
  shop = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'] }), { 'd/t.csv': 'n\n1\n2\n3\n' })
  await shop.ingest()
  service = await serve(shop)
})

const rows = '/api/v1/dataset/d/t/data/'

function steady({ date, 'x-request-id': id, ...rest }: Record<string, string>) {
  return [rest, typeof date, typeof id]
}

describe('headers', () => {
  test('of an answer, all of them', async () => {
    const { headers } = await request(service.app).get(rows).expect(200)
    const { date, etag, 'x-request-id': id, ...others } = headers as Record<string, string>
    expect([typeof date, etag]).toEqual(['string', undefined])
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(others).toEqual({
      'acervo-count': '3',
      'acervo-notice': 'Use sparingly.',
      'acervo-snapshot': expect.stringMatching(/^20260102T030405Z-[0-9a-f]{12}$/),
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('Acervo-Snapshot'),
      allow: 'GET, HEAD, OPTIONS',
      connection: 'close',
      'content-length': '75',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'content-type': 'application/json',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'cross-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      vary: 'Accept',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'x-download-options': 'noopen',
      'x-frame-options': 'SAMEORIGIN',
      'x-permitted-cross-domain-policies': 'none',
      'x-xss-protection': '0',
    })
  })

  test.each([
    '/api/v1/datasets/',
    '/api/v1/dataset/d/',
    rows,
    '/api/datasets',
    '/api/dataset/d',
    '/api/dataset/d/t/data',
    '/nothing',
  ])('HEAD %s is GET without a body', async (address) => {
    const get = await request(service.app).get(address)
    const head = await request(service.app).head(address)
    expect(head.status).toBe(get.status)
    expect(steady(head.headers)).toEqual(steady(get.headers))
    expect(head.text).toBeFalsy()
  })

  test('a preflight of a script on another site passes', async () => {
    const { headers } = await request(service.app)
      .options(rows)
      .set({
        Origin: 'https://example.org',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'x-anything',
      })
      .expect(200)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
      'access-control-max-age': '86400',
    })
  })

  test.each(['post', 'put', 'patch', 'delete', 'trace', 'propfind'] as const)(
    '%s is refused on every resource',
    async (method) => {
      for (const address of ['/api/v1/datasets/', '/api/dataset/d', rows]) {
        const response = await request(service.app)[method](address).expect(405)
        expect([response.headers['allow'], response.headers['content-type']]).toEqual([
          'GET, HEAD, OPTIONS',
          'application/problem+json',
        ])
      }
    },
  )
})

test.each<[accept: string, status: number]>([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['application/json; indent=4', 200],
  ['application/json;version=1;q=0.5, text/csv', 200],
  ['application/*', 200],
  ['text/html, */*;q=0.1', 200],
  ['', 200],
  ['application/json;q=0', 406],
  ['text/csv; charset=utf-8', 406],
  ['application/jsonx', 406],
])('Accept: %s answers %i', async (accept, status) => {
  expect((await request(service.app).get(rows).set('Accept', accept)).status).toBe(status)
})

describe('addresses', () => {
  test.each<[publicUrl: string, v1: string, unversioned: string]>([
    [
      'http://localhost:8000',
      'http://localhost:8000/api/v1/dataset/d/',
      'http://localhost:8000/api/dataset/d',
    ],
    ['http://127.0.0.1:9', 'http://127.0.0.1:9/api/v1/dataset/d/', 'http://127.0.0.1:9/api/dataset/d'],
    ['https://localhost', 'https://localhost/api/v1/dataset/d/', 'https://localhost/api/dataset/d'],
    [
      'https://data.example.org',
      'http://data.example.org/api/v1/dataset/d/',
      'https://data.example.org/api/dataset/d',
    ],
    [
      'http://example.org/open/',
      'http://example.org/open/api/v1/dataset/d/',
      'https://example.org/open/api/dataset/d',
    ],
  ])('under %s', async (publicUrl, v1, unversioned) => {
    const { app } = await serve(shop, { publicUrl: new URL(publicUrl) })
    const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'ftp' }
    const detail = async (address: string) =>
      (await request(app).get(address).set(forged).expect(200)).body as { id: string }
    expect([(await detail('/api/v1/dataset/d/')).id, (await detail('/api/dataset/d')).id]).toEqual([
      v1,
      unversioned,
    ])
  })

  test('the dataset is listed where the catalog says, and answers in both families', async () => {
    expect(
      (await getPage(service.app, '/api/v1/datasets/')).results.map((dataset) => dataset['slug']),
    ).toEqual(['d'])
    expect((await getPage(service.app, '/api/datasets')).results).toEqual([])
    await request(service.app).get('/api/dataset/d').expect(200)
  })

  test.each<[address: string, code: string]>([
    ['/api/v1/dataset/..%2f..%2fetc/', 'unknown-dataset'],
    ['/api/v1/dataset/d%00/', 'unknown-dataset'],
    ['/api/v1/dataset/__proto__/', 'unknown-dataset'],
    ['/api/v1/dataset/constructor/', 'unknown-dataset'],
    ['/api/v1/dataset/d/..%2ft/data/', 'unknown-table'],
    ['/api/v1/dataset/D/', 'unknown-dataset'],
    ['/API/v1/datasets/', 'unknown-address'],
    ['/api/v1/Datasets/', 'unknown-address'],
    ['//api/v1/datasets/', 'unknown-address'],
    ['/api/v1/datasets//', 'unknown-address'],
    ['/api/v1/dataset//', 'unknown-address'],
    ['/api/v1/dataset/d/t/', 'unknown-address'],
    ['/api/v1', 'unknown-address'],
    ['/api/v1/dataset/%/', 'malformed-address'],
    ['/%FF', 'malformed-address'],
    [`${rows}?page=%E0%A4`, 'malformed-address'],
    [`${rows}?%ZZ=1`, 'malformed-address'],
    [`${rows}?__proto__=1`, 'invalid-parameter'],
    [`${rows}?page[]=1`, 'invalid-parameter'],
    [`${rows}?n=1`, 'invalid-parameter'],
    [`${rows}?=1`, 'invalid-parameter'],
    [`/${'a'.repeat(8001)}`, 'address-too-long'],
    [`${rows}?page=${'1'.repeat(7990)}`, 'address-too-long'],
  ])('%.60s answers %s', async (address, code) => {
    const response = await request(service.app).get(address)
    expect((response.body as { type: string }).type).toBe(`urn:acervo:problem:${code}`)
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    })
    expect(response.text.length).toBeLessThan(1500)
  })

  test('a slug that looks like an address does not lead away', async () => {
    for (const slug of ['https:example.org', '%2F%2Fexample.org', 'javascript:alert(1)']) {
      const response = await request(service.app).get(`/api/v1/dataset/${slug}?x=1`).expect(301)
      expect(new URL(String(response.headers['location']), 'http://here/api/v1/dataset/x').host).toBe('here')
    }
  })
})

describe('sparing use', () => {
  test('is enforced per client and per kind, with the time to wait', async () => {
    const { app } = await serve(shop, { rateLimits: true, trustProxy: 1 })
    const ask = (address: string, client: string) => request(app).get(address).set('X-Forwarded-For', client)
    await ask(rows, '192.0.2.1').expect(200)
    await ask(rows, '192.0.2.1').expect(200)
    const refused = await ask(rows, '192.0.2.1').expect(429)
    expect(refused.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'retry-after': '60',
      ratelimit: expect.stringMatching(/^"rows-1m"; r=0; t=\d+$/),
      'ratelimit-policy': expect.stringMatching(/^"rows-1m"; q=2; w=60; pk=:/),
    })
    expect(refused.body).toMatchObject({
      type: 'urn:acervo:problem:too-many-requests',
      status: 429,
      detail:
        'At most 2 requests in 1m are allowed here; try again in 60 s. For a complete dataset, download its files through the links of its dataset page.',
    })
    await ask(rows, '192.0.2.2').expect(200)
    await ask('/api/v1/datasets/', '192.0.2.1').expect(200)
  })

  test('has every limit of the catalog hold, the longest window too', async () => {
    const { app } = await serve(shop, { rateLimits: true })
    const policies = (await request(app).get(rows).expect(200)).headers['ratelimit-policy']
    expect(policies).toMatch(/^"rows-1m"; q=2; w=60; pk=.*, "rows-1h"; q=3; w=3600; pk=/)
    const hourly = await serve(
      {
        ...shop,
        catalog: {
          ...shop.catalog,
          limits: {
            rows: [
              { requests: 9, per: '1m', windowMs: 60_000 },
              { requests: 2, per: '1h', windowMs: 3_600_000 },
            ],
            catalog: [],
          },
        },
      },
      { rateLimits: true },
    )
    const answers = [1, 2, 3].map(async () => request(hourly.app).get(rows))
    const refused = (await Promise.all(answers)).find((answer) => answer.status === 429)
    expect(refused?.body).toMatchObject({
      detail: expect.stringMatching(/^At most 2 requests in 1h are allowed here; try again in 3600 s\./),
    })
  })

  test('counts both families together, and a forged client does not help', async () => {
    const { app } = await serve(shop, { rateLimits: true })
    const ask = (address: string, client: string) => request(app).get(address).set('X-Forwarded-For', client)
    const answers = [
      await ask(rows, '192.0.2.1'),
      await ask('/api/dataset/d/t/data', '192.0.2.2'),
      await ask(rows, '192.0.2.3'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429])
  })
})

test.each<[zone: string, moment: string, text: string]>([
  ['UTC', '2020-06-12T18:05:00.999Z', '2020-06-12T18:05:00Z'],
  ['America/Sao_Paulo', '2020-06-12T01:05:00Z', '2020-06-11T22:05:00-03:00'],
  ['America/Sao_Paulo', '2018-12-31T23:30:00Z', '2018-12-31T21:30:00-02:00'],
  ['Asia/Kolkata', '2020-06-12T20:05:00Z', '2020-06-13T01:35:00+05:30'],
  ['America/St_Johns', '2020-01-12T00:00:00Z', '2020-01-11T20:30:00-03:30'],
  ['Europe/London', '2020-01-12T00:00:00Z', '2020-01-12T00:00:00Z'],
])('an import date in %s', (zone, moment, text) => {
  expect(timeInZone(new Date(moment), zone)).toBe(text)
})

describe('on a real socket', () => {
  let listening: Listening
  let port: number
  beforeAll(async () => {
    port = await freePort()
    listening = await listen(service.app, '127.0.0.1', port, service.log)
  })
  afterAll(async () => {
    await listening.stop()
  })

  test.each<[what: string, bytes: string, status: number, code: string]>([
    ['what is not HTTP', 'hello\r\n\r\n', 400, 'malformed-request'],
    [
      'a request without Host',
      'GET /api/v1/datasets/ HTTP/1.1\r\nConnection: close\r\n\r\n',
      400,
      'malformed-request',
    ],
    [
      'a request with two Hosts',
      'GET /api/v1/datasets/ HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
      400,
      'malformed-request',
    ],
    ['an unknown method', 'GRAB / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed-request'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`,
      431,
      'headers-too-large',
    ],
    [
      'an address that is too long',
      `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      414,
      'address-too-long',
    ],
    [
      'an address that is far too long',
      `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      414,
      'address-too-long',
    ],
  ])('%s answers problem details', async (_what, bytes, status, code) => {
    const answer = await exchange(port, bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toMatch(/content-type: application\/problem\+json/i)
    const problem = JSON.parse(body) as { instance: string }
    expect(problem).toMatchObject({ type: `urn:acervo:problem:${code}`, status })
    expect(service.logged()).toContain(problem.instance.replace('urn:uuid:', ''))
  })

  test('an absolute form in the request line does not reach the links', async () => {
    const answer = await exchange(
      port,
      `GET http://evil.example${rows}?page_size=1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(
      /^HTTP\/1.1 200 .*\r\n\r\n\{"count":3,"next":"http:\/\/localhost:8000\/api\/v1\/dataset\/d\/t\/data\/\?page=2&page_size=1"/s,
    )
    expect(answer).not.toContain('evil.example')
  })

  test.each(['HTTP/1.0', 'HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nConnection: close'])(
    'a request by %j is answered',
    async (rest) => {
      expect(await exchange(port, `GET ${rows} ${rest}\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    },
  )

  test('a stop answers what has begun, on kept-alive connections too, and takes nothing new', async () => {
    const other = await freePort()
    const stopping = await listen(
      (_req, res) => {
        setTimeout(() => res.end('done'), 200)
      },
      '127.0.0.1',
      other,
      service.log,
    )
    const agent = new http.Agent({ keepAlive: true })
    const answer = new Promise<string>((resolve, reject) => {
      http
        .get({ port: other, agent }, (res) => res.setEncoding('utf8').on('data', resolve))
        .on('error', reject)
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const started = Date.now()
    await stopping.stop()
    expect(await answer).toBe('done')
    expect(Date.now() - started).toBeLessThan(5000)
    await expect(exchange(other, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED')
    agent.destroy()
  })

  test('a stop sends to the end what a slow reader has not taken yet, and does not wait for the silent', async () => {
    const other = await freePort()
    const body = Buffer.alloc(20_000_000, 'x')
    const stopping = await listen((_req, res) => res.end(body), '127.0.0.1', other, service.log)
    const silent = net.connect(other, '127.0.0.1')
    const slow = net.connect(other, '127.0.0.1', () => slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
    let taken = 0
    await new Promise((resolve) => slow.once('readable', resolve))
    const started = Date.now()
    const stopped = stopping.stop()
    await new Promise((resolve) => setTimeout(resolve, 200))
    for await (const chunk of slow) taken += (chunk as Buffer).length
    await stopped
    expect(taken).toBeGreaterThan(body.length)
    expect(Date.now() - started).toBeLessThan(5000)
    silent.destroy()
  })

  test('junk behind a request does not take its answer away', async () => {
    const answer = await exchange(port, `GET ${rows} HTTP/1.1\r\nHost: x\r\n\r\nJUNK\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"n":3\}\]\}$/s)
  })

  test('readers who have gone leave the line', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => String(index)).join('\n')
    const large = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': `n\n${lines}\n` })
    await large.ingest()
    const { app, connections } = await serve(large, { connectionCount: 1 })
    const run = jest.spyOn(connections, 'blobs')
    const other = await freePort()
    const impatient = await listen(app, '127.0.0.1', other, service.log)
    for (let reader = 0; reader < 30; reader += 1) {
      const socket = net.connect(other, '127.0.0.1', () => {
        socket.write(`GET ${rows}?page_size=10000 HTTP/1.1\r\nHost: x\r\n\r\n`, () => socket.destroy())
      })
    }
    while (run.mock.calls.length < 30) await new Promise((resolve) => setTimeout(resolve, 10))
    const outcomes = await Promise.allSettled(
      run.mock.results.map((result) => result.value as Promise<unknown>),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'rejected').length).toBeGreaterThan(20)
    expect((await getPage(app, `${rows}?page_size=1`)).count).toBe(100_000)
    await impatient.stop()
  })

  test('a port that is taken is said in a sentence', async () => {
    await expect(listen(service.app, '127.0.0.1', port, service.log)).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}, the port is taken: set PORT to another`,
    )
  })
})

test('a catalog of one family of another prefix, with a dataset without tables', async () => {
  const party = { name: 'N', url: 'https://example.org/' }
  const catalog = parseCatalog(
    JSON.stringify({
      title: 'T',
      description: 'D',
      notice: 'Sparingly.',
      limits: { rows: [], catalog: [] },
      families: { only: { prefix: '/open/data', scheme: 'https', trailing_slash: false } },
      datasets: [
        {
          slug: 'empty',
          name: 'E',
          description: 'E',
          author: party,
          source: party,
          license: party,
          code_url: party.url,
          listed_in: ['only'],
          collected_at: '2020-01-01',
          links: [],
          tables: [],
        },
      ],
    }),
    'other.yaml',
  )
  const { app } = await serve(await workshop(catalog))
  const detail = await request(app).get('/open/data/dataset/empty/').expect(200)
  expect(detail.body).toMatchObject({
    id: 'http://localhost:8000/open/data/dataset/empty',
    links: [],
    tables: [],
  })
})

function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (answer += text))
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}
