import request from 'supertest'
import { serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'

const rows = '/api/v1/dataset/d/t/data/'

let service: Service
beforeAll(async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'] }), { 'd/t.csv': 'n\n1\n' })
  await shop.ingest()
  service = await serve(shop)
})

const [html, json, csv] = [
  'text/html; charset=utf-8',
  'application/json',
  'text/csv; charset=utf-8; header=present',
]

/** Headers that clients send by default. */
test.each<[client: string, accept: string | null, type: string]>([
  [
    'Chrome',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
    html,
  ],
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html],
  ['Safari', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html],
  ['Internet Explorer', 'text/html, application/xhtml+xml, */*', html],
  ['Lynx', 'text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01', html],
  ['w3m', 'text/html, text/*;q=0.5, image/*', html],
  ['curl, wget, requests, httpx, aiohttp, fetch', '*/*', json],
  ['Go, urllib, HttpClient of Java and .NET, DuckDB', null, json],
  ['URLConnection of Java 17', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', json],
  ['URLConnection of Java 21', 'text/html, image/gif, image/jpeg, */*; q=0.2', json],
  ['axios', 'application/json, text/plain, */*', json],
  ['httr of R', 'application/json, text/xml, application/xml, */*', json],
  ['jQuery', '*/*; q=0.01', json],
  ['jQuery for JSON', 'application/json, text/javascript, */*; q=0.01', json],
  ['Angular', 'application/json, text/plain, */*', json],
  ['RestSharp', 'application/json, text/json, text/x-json, text/javascript, application/xml, text/xml', json],
  ['RestTemplate', 'application/json, application/*+json', json],
  ['Retrofit', 'application/json', json],
  ['an old client of the API', 'application/json; indent=4', json],
  ['one that prefers JSON less than all else', 'application/json;q=0.9, */*', json],
  ['one that wants CSV rather than a page', 'text/csv, text/html;q=0.1', csv],
  ['one that wants CSV', 'text/csv', csv],
  ['one that takes CSV or anything', 'text/csv, */*;q=0.5', csv],
  ['one that wants a page', 'text/html', html],
  ['one that takes a page or JSON', 'text/html, application/json;q=0.5', json],
  ['one that refuses pages', 'text/html;q=0, */*', json],
])('%s gets a format that it can read', async (_client, accept, type) => {
  const asked = request(service.app).get(rows)
  const { status, headers } = await (accept === null ? asked : asked.set('Accept', accept))
  expect([status, (headers as Record<string, string>)['content-type']]).toEqual([200, type])
})

const typeAt = async (address: string, headers: Record<string, string>): Promise<unknown> =>
  ((await request(service.app).get(address).set(headers)).headers as Record<string, string>)['content-type']

test('a navigation of a browser gets a page, and an empty format is ignored', async () => {
  expect(await typeAt(rows, { Accept: 'text/html, */*', 'Sec-Fetch-Mode': 'navigate' })).toBe(html)
  expect(await typeAt(rows, { Accept: '*/*', 'Sec-Fetch-Mode': 'cors' })).toBe(json)
  expect(await typeAt(`${rows}?format=`, { Accept: 'text/html' })).toBe(html)
  expect(await typeAt(`${rows}?format=csv`, { Accept: 'text/html' })).toBe(csv)
})

describe('the index', () => {
  test.each(['/', '/api/', '/api/v1/'])(
    '%s links to all other addresses where programs can start',
    async (target) => {
      for (const method of ['get', 'head'] as const) {
        const answer = await request(service.app)[method](target).set('Accept', '*/*')
        expect([answer.status, answer.headers['content-type']]).toEqual([200, json])
      }
      const { body } = await request(service.app).get(target)
      const addresses = Object.entries(body as Record<string, string>).filter(([name]) =>
        name.endsWith('_url'),
      )
      expect(addresses.length).toBeGreaterThan(4)
      for (const [, address] of addresses) {
        const { pathname } = new URL(address)
        expect([address, (await request(service.app).get(pathname).set('Accept', '*/*')).status]).toEqual([
          address,
          200,
        ])
      }
    },
  )

  test.each([
    ['/api', '/api/'],
    ['/api/v1?format=json', '/api/v1/?format=json'],
  ])('%s redirects to %s', async (target, address) => {
    const { status, headers } = await request(service.app).get(target)
    expect([status, headers['location']]).toEqual([301, address])
    expect((await request(service.app).post(target)).status).toBe(405)
    expect((await request(service.app).options(target)).status).toBe(200)
  })

  test('is a page for people', async () => {
    for (const target of ['/', '/api/v1/'])
      expect(
        (await request(service.app).get(target).set('Accept', 'text/html')).headers['content-type'],
      ).toBe(html)
  })
})
