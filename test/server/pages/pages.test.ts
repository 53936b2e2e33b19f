import { rowCountOn } from './markup.ts'
import { languages } from '../../../core/catalog/names.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'
import { isQuick } from '../../support/runs.ts'

/** Pages for people, as a browser without JavaScript gets them. */

const rowCount = 260
const hostile = [
  '<script>alert(1)</script>',
  `"><img src=x onerror=alert(1)>`,
  `' onclick='alert(1)`,
  'javascript:alert(1)',
  '\u202Eright to left',
  '🎉 ã & &amp; ]]>',
]

let service: Service
let twin: Service
beforeAll(async () => {
  const fields = [
    'n:integer',
    's:string',
    'kind:string',
    'day:date',
    'x:decimal:12:2',
    'ok:bool',
    'link:string',
  ]
  const lines = Array.from({ length: rowCount }, (_, n) => {
    const text = hostile[n % hostile.length] ?? ''
    const day = `2024-0${1 + (n % 9)}-1${n % 9}`
    const cells = [
      n,
      text,
      ['a', 'b', ''][n % 3],
      day,
      n % 7 === 0 ? '' : `${n % 201}.00`,
      n % 2 === 0,
      `https://example.org/${n}`,
    ]
    return cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',')
  })
  const [first = ''] = hostile
  const table = {
    name: 't',
    description: `${first} table`,
    order: ['n'],
    filters: ['s', 'kind', 'day', 'x', 'ok'],
    search: ['s', 'kind'],
    fields: fields.map((field) => ({
      ...fieldOf(field),
      title: field === 's:string' ? `${first} title` : undefined,
    })),
  }
  const shop = await workshop(catalogAround([JSON.parse(JSON.stringify(table)) as object]), {
    'd/t.csv': `n,s,kind,day,x,ok,link\n${lines.join('\n')}\n`,
  })
  await shop.ingest({ partRows: 64 })
  service = await serve(shop)
  twin = await serve(shop)
})

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

interface Got {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Follows redirects, as a browser does. */
async function get(target: string, headers: Record<string, string> = {}): Promise<Got> {
  const { status, body, headers: got } = await rawGet(service.app, target, { ...browser, ...headers })
  const location = got['location']
  if ([301, 302, 303].includes(status) && typeof location === 'string')
    return get(here(location, target), headers)
  return { status, text: body.toString(), headers: got }
}

/** Path and query of a link on a page. */
function here(link: string, page: string): string {
  const { pathname, search } = new URL(link, `http://localhost:8000${page}`)
  return pathname + search
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

function linksIn({ text }: Got): string[] {
  return [...text.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, link = '']) => unescaped(link))
}

test.each(['/', ...languages.map((language) => `/${language}/`)])('%s is the home page', async (target) => {
  const { status, text, headers } = await get(target)
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(text).toContain('/dataset/d/')
  expect(headers['content-security-policy']).toContain("script-src 'self'")
})

test.each([
  ['pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR'],
  ['en-US,en;q=0.9', 'en'],
  ['de', 'pt-BR'],
])('a browser that requests %s is answered in %s', async (asked, locale) => {
  const { headers, text } = await get('/', { 'Accept-Language': asked })
  expect([headers['content-language'], headers['vary']]).toEqual([
    locale,
    'Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Mode',
  ])
  expect(text).toContain(`<html lang="${locale}">`)
})

const pagesMax = isQuick ? 80 : 400

test('every link of every page works, and no data becomes markup', async () => {
  const seen = new Set<string>()
  const left = ['/']
  const broken: string[] = []
  while (left.length > 0 && seen.size < pagesMax) {
    const page = left.shift() ?? ''
    if (seen.has(page)) continue
    seen.add(page)
    const got = await get(page)
    if (got.status !== 200) broken.push(`${got.status} ${page}`)
    if (!String(got.headers['content-type']).startsWith('text/html')) continue
    // Text in quotes is no markup.
    const data = /<script type="application\/ld\+json">([^<]*)<\/script>/g
    const bare = got.text.replaceAll(data, '').replaceAll(/"[^"]*"/g, '""')
    const isRun =
      /href="\s*javascript:/i.test(got.text) ||
      /<img\b|<[^>]*\son\w+=/i.test(bare.replaceAll('<script src=""></script>', '')) ||
      /<script\b(?! src="")/i.test(bare)
    if (isRun) broken.push(`markup in ${page}`)
    for (const link of linksIn(got)) {
      const { host, pathname, search } = new URL(link, `http://localhost:8000${page}`)
      if (host === 'localhost:8000' && !link.startsWith('#')) left.push(pathname + search)
    }
  }
  expect(seen.size).toBeGreaterThan(pagesMax / 4)
  expect(broken).toEqual([])
}, 120_000)

describe.each(languages)('on pages in %s,', (language) => {
  const page = `/${language}/dataset/d/t/`

  test('a table shows the rows that the API has, in the declared order of the fields', async () => {
    const { text } = await get(`${page}?page=3`)
    const heads = [...text.matchAll(/<th scope="col"[^>]*aria-sort="(\w+)"/g)].map(([, sort]) => sort)
    expect(heads).toEqual(['ascending', 'none', 'none', 'none', 'none', 'none', 'none'])
    const rows = [...text.matchAll(/<th scope="row"><a [^>]*>([\d.,]+)<\/a>/g)].map(([, number]) => number)
    expect(rows).toEqual(Array.from({ length: 50 }, (_, index) => String(101 + index)))
  })

  test.each([
    'kind=a',
    'kind=a&ok=true',
    'x__isnull=true',
    'day__gte=2024-05-01',
    'search=script',
    's__contains=onerror',
  ])('%s shows the number of rows that the API counts', async (query) => {
    const { status, text } = await get(`${page}?${query}`)
    const { headers } = await rawGet(service.app, `/api/v1/dataset/d/t/data/?${query}`)
    expect([status, Number(headers['acervo-count']) > 30]).toEqual([200, true])
    expect(rowCountOn(text)).toBe(headers['acervo-count'])
  })

  test('the links of a bar and of a frequent value lead to as many rows as they state', async () => {
    const { text } = await get(page)
    const bars = [...text.matchAll(/<a href="([^"]*)"><title>[^<]*: ([\d.,]+) [^<]*<\/title\s*>/g)]
    const values = [...text.matchAll(/<a href="([^"]*)" title="[^"]*: ([\d.,]+) (?:rows?|linhas?)"/g)]
    expect([bars.length, values.length]).toEqual([10, 14])
    // A range excludes its start, unless it is the first.
    const starts = [...text.matchAll(/<title>([\p{L} ]*)[\d.,]+ (?:to|a|até) /gu)].map(([, start]) => start)
    expect(new Set(starts)).toEqual(new Set(['', language === 'en' ? 'over ' : 'acima de ']))
    for (const [, link = '', count] of [...bars, ...values]) {
      const shown = await get(here(unescaped(link), page))
      expect([link, rowCountOn(shown.text)]).toEqual([link, count])
    }
  })

  test.each(['', 'row/3/', 'chart/', 'sql/'])(
    'an expired snapshot is reported at %s, with a link to the current one',
    async (end) => {
      const gone = await rawGet(service.app, `${page}${end}?snapshot=20200101T000000Z-0123456789ab`, browser)
      expect([gone.status, gone.headers['link']]).toEqual([
        410,
        `<http://localhost:8000${page}>; rel="latest-version"`,
      ])
      expect(gone.body.toString()).toContain(`<a href="http://localhost:8000${page}">`)
      const wrong = await rawGet(service.app, `${page}${end}?snapshot=yesterday`, browser)
      expect([wrong.status, wrong.body.toString().includes('snapshot')]).toEqual([400, true])
    },
  )

  test.each([
    [1, 200, 1],
    [200, 200, 200],
    [201, 400, 0],
  ])(
    'a page of %i rows is answered with the status %i, since longer pages would delay other clients',
    async (size, status, shown) => {
      const got = await get(`${page}?page_size=${size}`)
      expect([got.status, got.text.match(/<th scope="row">/g)?.length ?? 0]).toEqual([status, shown])
    },
  )

  test('an invalid query is explained', async () => {
    expect((await get(`${page}?n__gte=1`)).status).toBe(400)
  })

  test('a form with empty fields leads to a clean address', async () => {
    const sent = `${page}?search=&kind=a&day__gte=&day__lte=&fields=n&fields=kind`
    const { status, headers } = await rawGet(service.app, sent, browser)
    expect([status, headers['location']]).toEqual([303, `${page}?kind=a&fields=n%2Ckind`])
    expect((await get(sent)).status).toBe(200)
  })

  test('a row has an address of its own', async () => {
    const { text } = await get(`${page}row/3/`)
    expect(text).toContain(hostile[2]?.replaceAll("'", '&#39;'))
    expect((await get(`${page}row/${rowCount + 1}/`)).status).toBe(404)
    expect((await get(`${page}row/x/`)).status).toBe(404)
  })

  test('a row of a filtered and sorted table leads to the next row of it, and back to it', async () => {
    const query = 'kind=b&ordering=-day'
    const { body } = await rawGet(service.app, `/api/v1/dataset/d/t/data/?${query}&page_size=200&fields=n`)
    const { results } = JSON.parse(body.toString()) as { results: { n: number }[] }
    const listed = results.map(({ n }) => n + 1)
    const table = `${page}?${query}`
    const [, second = ''] = linksIn(await get(table)).filter((link) => link.startsWith('row/'))
    const seen: number[] = []
    for (let target = here(second, table); seen.length < listed.length - 1;) {
      const row = await get(target)
      seen.push(Number(/<h1>[^<]* (\d+)<\/h1>/.exec(row.text)?.[1]))
      expect(linksIn(row)).toContain(table)
      target = linksIn(row).findLast((link) => link.startsWith(`${page}row/`)) ?? ''
    }
    expect(seen).toEqual(listed.slice(1))
    expect((await get(`${page}row/${listed.length + 1}/?${query}`)).status).toBe(404)
    for (const name of ['page', 'page_size', 'fields', 'format'])
      expect((await get(`${page}row/1/?${name}=2`)).status).toBe(400)
  })
})

test('errors are pages for people, and problem details for programs', async () => {
  const wrong = '/pt/dataset/d/t/?kin=a'
  const page = await get(wrong)
  expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
  expect(page.text).toContain('kin')
  for (const accept of ['*/*', 'application/json', '']) {
    const { headers } = await rawGet(service.app, '/api/v1/dataset/nope/', { Accept: accept })
    expect(headers['content-type']).toBe('application/problem+json')
  }
})

test.each(['/en/?q=a+b+c+d+e+f+g+h+i+j+k', '/api/v1/dataset/d/t/data/?page=99999'])(
  '%s is refused',
  async (target) => {
    expect((await get(target)).status).toBeGreaterThanOrEqual(400)
    const { headers } = await rawGet(service.app, `${target}&format=json`, browser)
    expect(headers['content-type']).toBe('application/problem+json')
  },
)

test('every process gives a page the same ETag', async () => {
  for (const target of [
    '/en/',
    '/pt/dataset/d/',
    '/en/dataset/d/t/?kind=a',
    '/en/dataset/d/t/chart/',
    '/api/v1/datasets/',
  ]) {
    const [first, second] = [
      await rawGet(service.app, target, browser),
      await rawGet(twin.app, target, browser),
    ]
    expect([target, first.headers['etag'], first.body.equals(second.body)]).toEqual([
      target,
      second.headers['etag'],
      true,
    ])
  }
})

test('an unchanged page is not sent again', async () => {
  for (const target of ['/en/', '/en/dataset/d/', '/en/dataset/d/t/?kind=a', '/en/dataset/d/t/fields/']) {
    const { headers } = await get(target)
    const again = await rawGet(service.app, target, { ...browser, 'If-None-Match': String(headers['etag']) })
    expect([target, again.status]).toEqual([target, 304])
  }
})
