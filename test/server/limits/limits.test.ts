import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import request from 'supertest'
import type { Catalog, Dataset, Limits } from '../../../core/catalog/catalog.ts'
import { clientOf, anonymize, type ClientOf } from '../../../server/http/client.ts'
import { serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { isQuick, testAll } from '../../support/runs.ts'

let shop: Workshop
beforeAll(async () => {
  const cells = Array.from({ length: 500 }, (_, index) => `${index},${index % 7}\n`)
  shop = await workshop(
    tinyCatalog({ fields: ['n:integer', 'm:integer'], order: ['n'], filters: ['n', 'm'], search: [] }),
    { 'd/t.csv': `n,m\n${cells.join('')}` },
  )
  await shop.ingest()
})

const rows = '/api/v1/dataset/d/t/data/'
const exported = '/api/v1/dataset/d/t/export/'

const none: Limits = {
  catalog: [],
  rows: [],
  exports: [],
  files: [],
  share: { percent: 50, per: '1m', windowMs: 60_000 },
}
const minute = { per: '1m', windowMs: 60_000 }

/** With these limits alone. */
async function limited(limits: Partial<Limits>, options: Parameters<typeof serve>[1] = {}): Promise<Service> {
  const catalog: Catalog = { ...shop.catalog, limits: { ...none, ...limits } }
  return serve({ ...shop, catalog }, { rateLimits: true, ...options })
}

/** Policy -> what is left of it. */
function leftOf(headers: Readonly<Record<string, string>>): Record<string, number> {
  const matches = [...String(headers['ratelimit']).matchAll(/"([^"]+)"; r=(\d+); t=\d+/g)]
  return Object.fromEntries(matches.map(([, name, left]) => [name ?? '', Number(left)]))
}

const shareIn = (headers: Readonly<Record<string, string>>): number =>
  leftOf(headers)['share-1m'] ?? Number.NaN

async function shareLeft(app: Service['app']): Promise<number> {
  const { body } = await request(app).get('/limits').expect(200)
  const limits = (body as { limits: { of: string; remaining: number }[] }).limits
  return limits.find(({ of }) => of === 'share')?.remaining ?? Number.NaN
}

describe('the limits of the catalog', () => {
  test('apply to each client, and refusals say when to return and what to do instead', async () => {
    const { app, snapshots, catalog } = await serve(shop, { rateLimits: true, trustProxy: 1 })
    const ask = (address: string, client: string) => request(app).get(address).set('X-Forwarded-For', client)
    await ask(rows, '192.0.2.1').expect(200)
    await ask(rows, '192.0.2.1').expect(200)
    const refused = await ask(rows, '192.0.2.1').expect(429)
    expect(refused.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'retry-after': '60',
      ratelimit: expect.stringMatching(/^"rows-1m"; r=0; t=\d+$/),
      'ratelimit-policy': '"rows-1m"; q=2; w=60',
      link: expect.stringMatching(/^<.*\/t\.csv\.gz>; rel="alternate"; type="application\/gzip"$/),
    })
    const [table] = catalog.datasets.get('d')?.tables.values() ?? []
    const manifest = table === undefined ? null : snapshots.current(table)?.manifest
    const download = manifest?.files.find(({ file }) => file === 't.csv.gz')
    // Address in the snapshot that has the checksum.
    const file = `http://localhost:8000/files/d/t/${manifest?.snapshot}/t.csv.gz`
    expect(refused.headers['link']).toContain(`<${file}>`)
    expect(refused.body).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: `At most 2 pages of rows per 1m are allowed; try again in 60 s. All rows are in one file: ${file}.`,
      instance: expect.stringMatching(/^urn:uuid:/),
      'violated-policies': ['rows-1m'],
      file: {
        address: file,
        bytes: download?.bytes,
        sha512: download?.sha512,
      },
      duckdb:
        "INSTALL httpfs; LOAD httpfs; ATTACH 'http://localhost:8000/files/warehouse.duckdb' AS acervo (READ_ONLY); SELECT * FROM acervo.d.t",
    })
    const page = await ask(rows, '192.0.2.1')
      .set('Accept', 'text/html')
      .set('Accept-Language', 'pt')
      .expect(429)
    for (const pattern of [
      `href="${file}"`,
      /Tente de novo em \d+ s\./,
      "ATTACH 'http://localhost:8000/files",
    ]) {
      expect(page.text.replaceAll('&#39;', "'")).toMatch(pattern)
    }
    await ask(rows, '192.0.2.2').expect(200)
    await ask('/api/v1/datasets/', '192.0.2.1').expect(200)
  })

  test('count requests to both families of addresses together, and a forged client address does not evade them', async () => {
    const { app } = await serve(shop, { rateLimits: true })
    const ask = (address: string, client: string) => request(app).get(address).set('X-Forwarded-For', client)
    const answers = [
      await ask(rows, '192.0.2.1'),
      await ask('/api/dataset/d/t/data', '192.0.2.2'),
      await ask(rows, '192.0.2.3'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429])
  })

  test('all apply to concurrent requests, the longest window too', async () => {
    const hour = { per: '1h', windowMs: 3_600_000 }
    const { app } = await limited({
      rows: [
        { requests: 9, ...minute },
        { requests: 2, ...hour },
      ],
    })
    const answers = await Promise.all(Array.from({ length: 6 }, async () => request(app).get(rows)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 429, 429, 429, 429,
    ])
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({
      'violated-policies': ['rows-1h'],
      detail: expect.stringMatching(/^At most 2 pages of rows per 1h are allowed; try again in 3600 s\./),
    })
    // A request refused by one policy counts in no other.
    const { limits } = (await request(app).get('/limits')).body as {
      limits: { policy: string; remaining: number }[]
    }
    expect(limits.find(({ policy }) => policy === 'rows-1m')?.remaining).toBe(7)
  })

  test('forget the least recently seen client if there are too many clients', async () => {
    const { app } = await serve(shop, { rateLimits: true, trustProxy: 1, clientsMax: 2 })
    const status = async (client: string): Promise<number> =>
      (await request(app).get(rows).set('X-Forwarded-For', client)).status
    const asked: number[] = []
    for (const client of ['a', 'a', 'a', 'b', 'a', 'c', 'b'])
      asked.push(await status(`192.0.2.${client.charCodeAt(0)}`))
    expect(asked).toEqual([200, 200, 429, 200, 429, 200, 200])
    for (const client of ['c', 'b', 'a']) asked.push(await status(`192.0.2.${client.charCodeAt(0)}`))
    expect(asked.slice(7)).toEqual([200, 200, 200])
  })
})

/** A table whose download has three pieces of 4 MB. */
async function incompressibleTable(): Promise<Workshop> {
  const texts = Array.from({ length: 120 }, () => randomBytes(70_000).toString('base64'))
  const table = await workshop(
    tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: [], search: [] }),
    { 'd/t.csv': `n,s\n${texts.map((text, n) => `${n},${text}\n`).join('')}` },
  )
  await table.ingest()
  return table
}

describe('the cost of a request', () => {
  test('is nothing for an unchanged answer, even beyond the limit', async () => {
    const { app } = await limited({ rows: [{ requests: 1, ...minute }] })
    const first = await request(app).get(rows).expect(200)
    const again = () => request(app).get(rows).set('If-None-Match', String(first.headers['etag']))
    await request(app).get(rows).expect(429)
    for (let time = 0; time < 3; time += 1) {
      const answer = await again().expect(304)
      expect(answer.headers).not.toHaveProperty('ratelimit')
    }
  })

  test.each<[title: string, address: string, policy: string]>([
    ['a page', rows, 'rows-1m'],
    ['a page of a filter that is counted already', `${rows}?m=3`, 'rows-1m'],
    ['a page of several filters', `${rows}?m=3&n__gt=1`, 'rows-1m'],
    ['the catalog', '/api/v1/datasets/', 'catalog-1m'],
    ['a page for people', '/en/', 'catalog-1m'],
    ['rows for people', '/en/dataset/d/t/', 'rows-1m'],
    ['an export', `${exported}?format=ndjson`, 'exports-1m'],
    ['the whole table as it lies', exported, 'files-1m'],
    ['a listing of files', '/files/d/t/', 'catalog-1m'],
    ['sums', '/files/d/SHA512SUMS', 'files-1m'],
    ['a document', '/robots.txt', 'catalog-1m'],
    ['what is not there', '/nothing/', 'catalog-1m'],
    ['a wrong parameter', `${rows}?page_size=x`, 'rows-1m'],
  ])('is one request of its class for %s', async (_what, address, policy) => {
    const each = [{ requests: 100, ...minute }]
    const { app } = await limited({ catalog: each, rows: each, exports: each, files: each })
    const answer = await request(app).get(address)
    expect(leftOf(answer.headers as Record<string, string>)).toMatchObject({ [policy]: 99 })
    expect(answer.headers['ratelimit-policy']).toContain(`"${policy}"; q=100; w=60`)
  })

  test.each(['/health', '/limits', '/livez'])('is nothing for %s', async (address) => {
    const { app } = await limited({ catalog: [{ requests: 100, ...minute }] })
    const answer = await request(app).get(address).expect(200)
    expect(answer.headers).not.toHaveProperty('ratelimit')
    const { body } = await request(app).get('/limits')
    expect(body).toMatchObject({ limits: [{ remaining: 100 }, { remaining: 60_000 }] })
  })

  test('is lower if its selection is cached, and nothing if its answer is cached', async () => {
    const { app } = await limited({})
    const cost = async (query: string): Promise<number> => {
      const before = await shareLeft(app)
      await request(app).get(`${rows}?${query}`).expect(200)
      return before - (await shareLeft(app))
    }
    const firstCost = await cost('m=5&n__gt=1&page_size=20')
    expect(await cost('m=5&n__gt=1&page_size=20&page=2')).toBeLessThan(firstCost)
    await cost('page_size=20')
    await cost('page_size=20')
    expect(await cost('page_size=20')).toBe(0)
  })

  let files: Workshop
  beforeAll(async () => {
    files = await incompressibleTable()
  })
  test.each<[title: string, headers: Record<string, string>, status: number, pieces: number]>([
    ['what the reader has', {}, 304, 0],
    ['the same, by a reader who trusts no cache', { 'Cache-Control': 'no-cache' }, 304, 0],
    ['a range', { 'If-None-Match': '', Range: 'bytes=0-0' }, 206, 1],
    ['a range of another file', { 'If-None-Match': '', Range: 'bytes=0-0', 'If-Range': '"x"' }, 200, 3],
    ['no range', { 'If-None-Match': '', Range: 'foo=0-0' }, 200, 3],
    ['ranges', { 'If-None-Match': '', Range: 'bytes=0-0,9-9' }, 200, 3],
    ['ranges that are one', { 'If-None-Match': '', Range: 'bytes=0-5,6-9' }, 206, 1],
  ])(
    'for a file is one unit of the budget per 4 MB that are sent: %s',
    async (_what, headers, status, pieces) => {
      const catalog: Catalog = { ...files.catalog, limits: none }
      const { app } = await serve({ ...files, catalog }, { rateLimits: true })
      const { headers: redirectHeaders } = await request(app).get('/files/d/t.csv.gz').expect(302)
      const address = new URL(String(redirectHeaders['location']), 'http://localhost/files/d/').pathname
      const { headers: head } = await request(app).head(address).expect(200)
      const before = shareIn(head)
      const answer = await request(app)
        .get(address)
        .set({ 'If-None-Match': String(head['etag']), ...headers })
        .expect(status)
      const after = status === 304 ? before : shareIn(answer.headers)
      expect(Math.ceil((before - after) / 20)).toBe(pieces)
    },
  )

  testAll('for rows is the same on an HTML page as in the API', async () => {
    const wide = tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: [], search: [] })
    const large = await workshop(wide, {
      'd/t.csv': `n,s\n${Array.from({ length: 100 }, (_, n) => `${n},${'x'.repeat(60_000)}\n`).join('')}`,
    })
    await large.ingest()
    const { app } = await serve(
      { ...large, catalog: { ...large.catalog, limits: none } },
      { rateLimits: true },
    )
    const left: unknown[] = []
    for (const accept of ['application/json', 'text/html']) {
      const { headers } = await request(app).get(`${rows}?page_size=100`).set('Accept', accept).expect(200)
      left.push(shareIn(headers))
    }
    // Each is a page of 6 MB; writing it for people takes time, too.
    const costs = [60_000 - Number(left[0]), Number(left[0]) - Number(left[1])]
    expect(costs.every((cost) => cost > 170 && cost < 2000)).toBe(true)
  })

  test('is paid from the quota of its own class, never from the quota of another class', async () => {
    const { app } = await limited({ exports: [{ requests: 3, ...minute }] })
    const get = (address: string) => request(app).get(address)
    await get(`${exported}?format=ndjson&m=1`).expect(200)
    await get(`${exported}?format=ndjson&m=2`).expect(200)
    const last = await get(`${exported}?format=ndjson&m=3`).expect(200)
    expect(leftOf(last.headers as Record<string, string>)).toMatchObject({ 'exports-1m': 0 })
    const refused = await get(`${exported}?format=ndjson&m=4`).expect(429)
    expect(refused.body).toMatchObject({ 'violated-policies': ['exports-1m'] })
    await get(rows).expect(200)
  })

  test('must fit in the share of the machine for one client, however long the client waits', async () => {
    const { app } = await limited({ share: { percent: 1, per: '1s', windowMs: 100 } })
    const answer = await request(app).get(`${exported}?format=ndjson`).expect(422)
    expect(answer.body).toMatchObject({
      type: 'urn:acervo:problem:query-too-costly',
      detail: expect.stringContaining('At most 0.002 seconds of processor time per 1s are allowed'),
    })
  })

  test('does not depend on others who request the same at that moment', async () => {
    const { app } = await limited({ rows: [{ requests: 1, ...minute }] }, { trustProxy: 1 })
    const ask = (client: string, m: number) =>
      request(app).get(`${rows}?m=${m}&n__gt=1`).set('X-Forwarded-For', client)
    await ask('192.0.2.1', 1).expect(200)
    for (const [index, m] of [2, 3, 4, 5].entries()) {
      // The client without quota starts the work, or joins it.
      const both = await Promise.all([ask('192.0.2.1', m), ask(`192.0.2.${index + 10}`, m)])
      expect(both[1].status).toBe(200)
    }
    await ask('192.0.2.1', 6).expect(429)
  })
})

test('the cost of documents and pages is the time to build them, and nothing if they are cached', async () => {
  const [dataset] = [...shop.catalog.datasets.values()] as [Dataset]
  const datasets = new Map(
    Array.from({ length: isQuick ? 50 : 200 }, (_, n) => [`d${n}`, { ...dataset, slug: `d${n}` }] as const),
  )
  const catalog: Catalog = {
    ...shop.catalog,
    datasets,
    limits: { ...none, share: { percent: 50, ...minute } },
  }
  const { app } = await serve({ ...shop, catalog }, { rateLimits: true })
  let left = 60_000
  for (const address of ['/api/v1/openapi.json', '/api/3/action/package_search?q=-x', '/en/reference/']) {
    const work: number[] = []
    for (let time = 0; time < 4; time += 1) {
      const { status } = await request(app).get(address).set('Accept', '*/*')
      expect([address, status]).toEqual([address, 200])
      const rest = await shareLeft(app)
      work.push(left - rest)
      left = rest
    }
    const [first = 0] = work
    expect([address, first > 1, work.at(-1)]).toEqual([address, true, 0])
  }
})

test('the remaining quotas of a client are listed with all limits, at no cost', async () => {
  const { app } = await limited({ rows: [{ requests: 5, ...minute }], files: [{ requests: 9, ...minute }] })
  await request(app).get(rows).expect(200)
  for (let time = 0; time < 3; time += 1) {
    const { body, headers } = await request(app).get('/limits').expect(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toEqual({
      limits: [
        {
          policy: 'rows-1m',
          of: 'rows',
          quota: 5,
          unit: 'requests',
          window_seconds: 60,
          remaining: 4,
          reset_seconds: expect.any(Number),
          meaning: 'At most 5 pages of rows per 1m are allowed.',
        },
        expect.objectContaining({ policy: 'files-1m', quota: 9, remaining: 9 }),
        {
          policy: 'share-1m',
          of: 'share',
          quota: 60_000,
          unit: 'ms',
          window_seconds: 60,
          remaining: 60_000 - 9,
          reset_seconds: expect.any(Number),
          meaning: 'At most 60 seconds of processor time per 1m are allowed for one client.',
        },
      ],
    })
  }
  await request(app).get('/limits').set('Accept', 'text/html').expect(200).expect('Content-Type', /html/)
})

test('a share of 100 percent of the machine means no limit', async () => {
  const { app } = await limited({ rows: [{ requests: 5, ...minute }], share: { percent: 100, ...minute } })
  const { headers } = await request(app).get(rows).expect(200)
  expect(headers['ratelimit-policy']).toBe('"rows-1m"; q=5; w=60')
})

test('a service without limits sends no headers about limits', async () => {
  const { app } = await serve(shop)
  const { headers } = await request(app).get(rows).expect(200)
  expect(headers['ratelimit']).toBeUndefined()
  expect((await request(app).get('/limits').expect(200)).body).toEqual({ limits: [] })
})

function keyOf(client: ClientOf, forwarded: string, remoteAddress = '10.0.0.1'): string {
  const asked = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }
  return client(asked as unknown as IncomingMessage)
}

test.each([
  [['4.4.4.4', '4.4.4.4:1000', '4.4.4.4:2000', ' 4.4.4.4 ', '::ffff:4.4.4.4']],
  [['2001:db8::1', '[2001:db8::1]:80', '[2001:db8:0:ff::2]', '2001:db8:0:12::3%eth0']],
  [['junk', 'more junk', '4.4.4', '1', '0x7f.1', '999.1.1.1', '[::1', '127.0.0.1:x']],
])(
  'the addresses %j count as one client, and every other address counts as another client',
  async (forms) => {
    const client = clientOf({ trustProxy: 1, clientIpv6Prefix: 56 })
    expect(new Set(forms.map((form) => keyOf(client, form))).size).toBe(1)
    const [firstForm = ''] = forms
    for (const form of ['4.4.4.5:1000', '[2001:db9::1]:80'])
      expect(keyOf(client, form)).not.toBe(keyOf(client, firstForm))
  },
)

test.each<[proxies: number, client: string]>([
  [0, '10.0.0.1'],
  [1, '3.3.3.3'],
  [2, '2.2.2.2'],
  [3, '1.1.1.1'],
  [9, '1.1.1.1'],
])('%i proxies are trusted, and addresses before them are ignored', (trustProxy, address) => {
  const client = clientOf({ trustProxy, clientIpv6Prefix: 56 })
  expect(keyOf(client, '1.1.1.1, 2.2.2.2, 3.3.3.3')).toBe(address)
})

test('an IPv6 client is a network of the configured size', () => {
  const client = clientOf({ trustProxy: 1, clientIpv6Prefix: 48 })
  expect(keyOf(client, '2001:db8:0:1000::1')).toBe(keyOf(client, '2001:db8:0:ff00::1'))
  expect(keyOf(client, '2001:db8:0:1000::1')).not.toBe(keyOf(client, '2001:db8:1:1000::1'))
})

test('only proxies within the configured subnets are trusted', () => {
  const client = clientOf({ trustProxy: ['10.0.0.0/8', 'loopback'], clientIpv6Prefix: 56 })
  expect(keyOf(client, '192.0.2.7', '10.1.2.3')).toBe('192.0.2.7')
  expect(keyOf(client, '192.0.2.7, 10.9.9.9', '127.0.0.1')).toBe('192.0.2.7')
  // A client that is no trusted proxy is identified by its own address.
  expect(keyOf(client, '192.0.2.7', '203.0.113.9')).toBe('203.0.113.9')
  expect(keyOf(client, '192.0.2.7, 198.51.100.4', '10.1.2.3')).toBe('198.51.100.4')
  // An invalid address ends the list.
  expect(keyOf(client, '192.0.2.7, junk', '10.1.2.3')).toBe('unknown')
})

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1234:5600::/56', '2001:db8:1234::/48'],
  ['unknown', 'unknown'],
])('the log shows the client %s as %s', (client, logged) => {
  expect(anonymize(client)).toBe(logged)
})
