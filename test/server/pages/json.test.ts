import { textIn } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { publishSamples } from '../../support/samples.ts'

/** Addresses of JSON give JSON to programs, and a page with the same answer to browsers. */

let service: Service
beforeAll(async () => {
  service = await serve(await publishSamples(({ name }) => ['caso', 'boletim'].includes(name)))
}, 60_000)

const addresses = [
  '/api/v1/datasets/',
  '/api/datasets',
  '/api/v1/dataset/covid19/',
  '/api/dataset/covid19',
  '/api/v1/dataset/covid19/caso/',
  '/api/v1/dataset/covid19/caso/data/',
  '/api/v1/dataset/covid19/caso/data/?page_size=7&page=3&state__ne=SP',
  '/api/v1/dataset/covid19/boletim/data/?page_size=50',
  '/files/covid19/',
  '/files/covid19/caso/',
]
const accepted = {
  chromium:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  plain: 'text/html',
}
const acceptHeaders = [
  '',
  '*/*',
  'application/json',
  'application/json, text/plain, */*',
  'application/json; indent=4',
  'application/*',
  'text/*;q=0.1, application/json',
  'application/json, text/html;q=0.9',
  'text/plain, */*',
  'text/html, */*;q=0.8',
]

/** JSON without the white space between its values. */
const packed = (text: string): string => (text.match(/"(?:[^"\\]|\\.)*"|[^\s"]+/g) ?? []).join('')

describe.each(addresses)('the JSON at %s', (address) => {
  const get = (headers: Record<string, string>, target = address) => rawGet(service.app, target, headers)

  test.each(acceptHeaders)(
    'is the same to a byte for a program with the header Accept: %s',
    async (accept) => {
      const due = await get({ Accept: 'application/json' })
      const got = await get(accept === '' ? {} : { Accept: accept })
      const headersOf = ({ headers }: typeof due) =>
        Object.entries(headers).filter(([name]) => !/^(date|server-timing|vary|x-request-id)$/.test(name))
      expect([got.status, headersOf(got)]).toEqual([200, headersOf(due)])
      expect(got.headers['content-type']).toBe('application/json')
      // A cache must not give this to a browser that navigates with the same Accept.
      const suffix = accept.includes('html') ? ', Accept-Language, Sec-Fetch-Mode' : ''
      expect(got.headers['vary']).toBe(`Accept, Accept-Encoding${suffix}`)
      expect(got.body.equals(due.body)).toBe(true)
    },
  )

  test.each(Object.entries(accepted))(
    'is sent as an HTML page with the same JSON to a browser: %s',
    async (_name, accept) => {
      const due = await get({ Accept: 'application/json' })
      const page = await get({ Accept: accept })
      expect([page.status, page.headers['content-type'], page.headers['vary']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Mode',
      ])
      const [, code = ''] = /<pre\s+class="json"[^>]*><code>(.*?)<\/code>/s.exec(page.body.toString()) ?? []
      expect(packed(textIn(code))).toBe(packed(due.body.toString()))
      expect(page.body.toString()).toContain(service.catalog.inLanguage.get('pt')?.notice)
      for (const name of ['cache-control', 'acervo-count', 'acervo-snapshot'])
        expect([name, page.headers[name]]).toEqual([name, due.headers[name]])
      const again = await get({ Accept: accept, 'If-None-Match': String(page.headers['etag']) })
      expect([again.status, again.body.length]).toEqual([304, 0])
      expect(page.headers['etag']).not.toBe(due.headers['etag'])
    },
  )

  test('is JSON for a browser that says format=json', async () => {
    const due = await get({ Accept: 'application/json' }, withJson(address))
    const got = await get({ Accept: accepted.chromium }, withJson(address))
    expect([got.status, got.headers['content-type']]).toEqual([200, 'application/json'])
    expect(got.body.equals(due.body)).toBe(true)
  })
})

function withJson(address: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}format=json`
}

test('a page of an answer is in the language of the browser, and its links work', async () => {
  const page = await rawGet(service.app, '/api/v1/datasets/', {
    Accept: 'text/html',
    'Accept-Language': 'en',
  })
  expect(page.headers['content-language']).toBe('en')
  expect(page.body.toString()).toContain(
    '<a href="http://localhost:8000/api/v1/dataset/covid19/" rel="nofollow">&quot;http://localhost:8000/api/v1/dataset/covid19/&quot;</a>',
  )
})

test.each(['/api/v1/dataset/covid19/caso/data/?page_size=x', '/api/v1/dataset/nope/', '/api/v1/nothing/'])(
  '%s is a page that explains the fault, and problem details for programs',
  async (address) => {
    const page = await rawGet(service.app, address, { Accept: accepted.firefox })
    const problem = await rawGet(service.app, address, { Accept: 'application/json' })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(problem.headers['content-type']).toBe('application/problem+json')
    const { status, detail } = JSON.parse(problem.body.toString()) as { status: number; detail: string }
    expect([page.status, textIn(page.body.toString()).includes(detail)]).toEqual([status, true])
  },
)

test('the health of the service is a page for a browser too', async () => {
  const page = await rawGet(service.app, '/health', { Accept: accepted.firefox })
  const due = await rawGet(service.app, '/health', {})
  expect([page.headers['content-type'], page.headers['cache-control']]).toEqual([
    'text/html; charset=utf-8',
    'no-store',
  ])
  const [, code = ''] = /<pre\s+class="json"[^>]*><code>(.*?)<\/code>/s.exec(page.body.toString()) ?? []
  expect(packed(textIn(code))).toBe(due.body.toString())
  const plain = await rawGet(service.app, '/health?format=json', { Accept: accepted.firefox })
  expect([plain.headers['content-type'], plain.body.equals(due.body)]).toEqual(['application/json', true])
})

test.each(['/api/v1/dataset/covid19/caso/export/', '/files/covid19/caso.csv.gz'])(
  '%s is never a page',
  async (address) => {
    const { headers } = await rawGet(service.app, address, { Accept: accepted.chromium })
    expect(String(headers['content-type'])).not.toContain('html')
  },
)
