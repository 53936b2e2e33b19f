import request from 'supertest'
import { rowFormats } from '../../../server/formats/registry.ts'
import { parseCatalog } from '../../../core/catalog/load.ts'
import { timeInZone } from '../../../core/time-in-zone.ts'
import { getPage, serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'

let shop: Workshop
let service: Service
beforeAll(async () => {
  shop = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'] }), { 'd/t.csv': 'n\n1\n2\n3\n' })
  await shop.ingest()
  service = await serve(shop)
})

const rows = '/api/v1/dataset/d/t/data/'
const six = [
  '/api/v1/datasets/',
  '/api/v1/dataset/d/',
  rows,
  '/api/datasets',
  '/api/dataset/d',
  '/api/dataset/d/t/data',
]

/** Removes headers of timing: only new responses have them. */
function steady({ date, 'x-request-id': id, 'server-timing': _timing, ...rest }: Record<string, string>) {
  return [rest, typeof date, typeof id]
}

describe('headers and methods:', () => {
  test('an answer has all expected headers', async () => {
    const { app } = await serve(shop)
    const { headers } = await request(app).get(rows).expect(200)
    const {
      date,
      etag,
      'x-request-id': id,
      'server-timing': timing,
      ...others
    } = headers as Record<string, string>
    expect([typeof date, etag]).toEqual(['string', expect.stringMatching(/^"[\w-]{22}"$/)])
    expect(timing).toMatch(/^queue;dur=[\d.]+, query;dur=[\d.]+, send;dur=[\d.]+, plan;desc="table"$/)
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(others).toEqual({
      'acervo-count': '3',
      'acervo-notice': 'Use sparingly.',
      link: [
        '<http://localhost:8000/files/d/t.csv.gz>; rel="alternate"; type="application/gzip"',
        `<http://localhost:8000${rows}>; rel="first"`,
        `<http://localhost:8000${rows}>; rel="last"`,
        ...rowFormats
          .slice(1)
          .map(
            ({ name, mediaTypes: [mediaType] }) =>
              `<http://localhost:8000${rows}?format=${name}>; rel="alternate"; type="${mediaType}"`,
          ),
      ].join(', '),
      'acervo-snapshot': expect.stringMatching(/^20260102T030405Z-[0-9a-f]{12}$/),
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('Acervo-Snapshot'),
      allow: 'GET, HEAD, OPTIONS',
      'cache-control': 'public, max-age=60, stale-while-revalidate=600',
      connection: 'close',
      'content-length': '75',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'content-type': 'application/json',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'cross-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      vary: 'Accept, Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
  })

  test.each([...six, '/nothing'])('HEAD %s is GET without a body', async (address) => {
    const get = await request(service.app).get(address)
    const head = await request(service.app).head(address)
    expect(head.status).toBe(get.status)
    expect(steady(head.headers)).toEqual(steady(get.headers))
    expect(head.text).toBeFalsy()
  })

  test.each(six)('OPTIONS %s describes the resource', async (address) => {
    const { body, headers } = await request(service.app).options(address).expect(200)
    expect([headers['allow'], headers['content-type']]).toEqual(['GET, HEAD, OPTIONS', 'application/json'])
    expect(body).toEqual({
      name: expect.any(String),
      description: expect.stringContaining('Use sparingly.'),
      renders: address.includes('/t/data')
        ? rowFormats.map(({ mediaTypes: [mediaType] }) => mediaType)
        : ['application/json'],
      parses: [],
    })
  })

  test('a preflight request of a script on another site is accepted', async () => {
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
      'access-control-allow-headers': '*, Authorization',
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
  ['application/json; q=0', 406],
  ['text/html, */*; q=0', 200],
  ['application/xml; charset=utf-8', 406],
  ['text/csv; charset=utf-8', 200],
  ['application/jsonx', 406],
])('a request with Accept: %s is answered with the status %i', async (accept, status) => {
  expect((await request(service.app).get(rows).set('Accept', accept)).status).toBe(status)
})

describe('addresses:', () => {
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
  ])('addresses in answers start with PUBLIC_URL=%s', async (publicUrl, v1, unversioned) => {
    const { app } = await serve(shop, { publicUrl: new URL(publicUrl) })
    const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'ftp' }
    const detail = async (address: string) =>
      (await request(app).get(address).set(forged).expect(200)).body as { id: string }
    expect([(await detail('/api/v1/dataset/d/')).id, (await detail('/api/dataset/d')).id]).toEqual([
      v1,
      unversioned,
    ])
    // Redirects stay on the host of the request, and keep the path before it.
    const { headers } = await request(app).get('/api/v1/dataset/d?x=1').set(forged).expect(301)
    expect(headers['location']).toBe(`${new URL(v1).pathname}?x=1`)
  })

  test('the dataset answers in both families of addresses, but only the family that the catalog names lists it', async () => {
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
    ['/api/v1/dataset/d/t/rows/', 'unknown-address'],
    ['/api/v1/dataset/%/', 'malformed-address'],
    ['/%FF', 'malformed-address'],
    [`${rows}?page=%E0%A4`, 'malformed-address'],
    [`${rows}?%ZZ=1`, 'malformed-address'],
    [`${rows}?__proto__=1`, 'invalid-parameter'],
    [`${rows}?page[]=1`, 'invalid-parameter'],
    [`${rows}?n=x`, 'invalid-parameter'],
    [`${rows}?=1`, 'invalid-parameter'],
    [`/${'a'.repeat(8001)}`, 'address-too-long'],
    [`${rows}?page=${'1'.repeat(7990)}`, 'address-too-long'],
  ])('a request for %.60s is answered with the problem %s', async (address, code) => {
    const response = await request(service.app).get(address)
    expect((response.body as { type: string }).type).toBe(`urn:acervo:problem:${code}`)
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    })
    expect(response.text.length).toBeLessThan(1500)
  })

  test('a slug that looks like an address does not lead to another site', async () => {
    for (const slug of ['https:example.org', '%2F%2Fexample.org', 'javascript:alert(1)']) {
      const response = await request(service.app).get(`/api/v1/dataset/${slug}?x=1`).expect(301)
      expect(new URL(String(response.headers['location']), 'http://here/api/v1/dataset/x').host).toBe('here')
    }
  })
})

test.each<[zone: string, moment: string, text: string]>([
  ['UTC', '2020-06-12T18:05:00.999Z', '2020-06-12T18:05:00Z'],
  ['America/Sao_Paulo', '2020-06-12T01:05:00Z', '2020-06-11T22:05:00-03:00'],
  ['America/Sao_Paulo', '2018-12-31T23:30:00Z', '2018-12-31T21:30:00-02:00'],
  ['Asia/Kolkata', '2020-06-12T20:05:00Z', '2020-06-13T01:35:00+05:30'],
  ['America/St_Johns', '2020-01-12T00:00:00Z', '2020-01-11T20:30:00-03:30'],
  ['Europe/London', '2020-01-12T00:00:00Z', '2020-01-12T00:00:00Z'],
])('an import date is written in the zone %s', (zone, moment, text) => {
  expect(timeInZone(new Date(moment), zone)).toBe(text)
})

test('a catalog may declare another prefix for the addresses of the API, and a dataset without tables', async () => {
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

test('response headers have at most 3,500 bytes, without repetitions of the query', async () => {
  for (const length of [0, 40, 100, 200, 400, 1000, 4000, 7000]) {
    const values = Array.from({ length: 500 }, (_, n) => 1000 + n).join()
    const query =
      length === 0
        ? ''
        : `n__in=${values
            .repeat(2)
            .slice(0, length)
            .replace(/,?\d*$/, '')}`
    for (const accept of ['application/json', 'text/csv', 'text/html,application/xhtml+xml']) {
      const { headers } = (await request(service.app)
        .get(`${rows}?page_size=1&${query}`)
        .set('Accept', accept)) as { headers: Record<string, unknown> }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
      const text = decodeURIComponent(lines.join(''))
      const bytes = (query === '' ? text : text.replaceAll(query, '')).length
      expect([length, accept, bytes > 500, bytes <= 3500]).toEqual([length, accept, true, true])
    }
  }
})
