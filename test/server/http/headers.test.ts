import { readFile } from 'node:fs/promises'
import request from 'supertest'
import { serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'

/** The table of SECURITY.md, asked of every kind of answer. */

let [plain, secure]: Service[] = []
let snapshot: string
let rows: [header: string, data: string, pages: string][]
beforeAll(async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'] }), {
    'd/t.csv': 'n\n1\n2\n',
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('not published')
  snapshot = outcome.manifest.snapshot
  plain = await serve(shop)
  secure = await serve(shop, { publicUrl: new URL('https://data.example.org') })
  const paper = await readFile('SECURITY.md', 'utf8')
  const table = paper.split('\n').filter((line) => /^\| `[A-Z]/.test(line))
  rows = table.map((line) => {
    const [, header = '', data = '', pages = ''] = line.split('|').map((cell) => cell.trim())
    return [header.replaceAll('`', ''), data, pages]
  })
})

const html = { Accept: 'text/html' }
type Kind = readonly [
  title: string,
  kind: 'data' | 'pages',
  address: string,
  headers?: Record<string, string>,
  method?: 'get' | 'post' | 'options' | 'head',
]

const kinds: readonly Kind[] = [
  ['rows', 'data', '/api/v1/dataset/d/t/data/'],
  ['rows of a HEAD', 'data', '/api/v1/dataset/d/t/data/', {}, 'head'],
  ['rows as CSV', 'data', '/api/v1/dataset/d/t/data/?format=csv'],
  ['the catalog', 'data', '/api/datasets'],
  ['an export', 'data', '/api/v1/dataset/d/t/export/?format=ndjson'],
  ['a file', 'data', '/files/d/t/SNAPSHOT/part-00000.parquet'],
  ['the views', 'data', '/files/warehouse.duckdb'],
  ['a listing', 'data', '/files/d/t/'],
  ['a document', 'data', '/catalog.jsonld'],
  ['the reference', 'data', '/api/v1/openapi.json'],
  ['a feed', 'data', '/feeds/d/t.atom'],
  ['OPTIONS', 'data', '/api/v1/datasets/', {}, 'options'],
  ['the health', 'data', '/health'],
  ['the liveness probe', 'data', '/livez'],
  ['the readiness probe', 'data', '/readyz'],
  ['the limits', 'data', '/limits'],
  ['a redirect', 'data', '/files/d/t.csv.gz'],
  ['a redirect to the address with a slash', 'data', '/api/v1/datasets'],
  ['a problem', 'data', '/nothing/'],
  ['a wrong parameter', 'data', '/api/v1/dataset/d/t/data/?x=1'],
  ['a wrong method', 'data', '/api/v1/datasets/', {}, 'post'],
  ['a style', 'data', 'STYLE'],
  ['the home page', 'pages', '/en/', html],
  ['the page of a table', 'pages', '/en/dataset/d/t/', html],
  ['data as a page', 'pages', '/api/v1/dataset/d/t/data/', html],
  ['the health as a page', 'pages', '/health', html],
  ['a problem as a page', 'pages', '/en/nothing/', html],
]

test('the documented table of headers exists', () => {
  expect(rows.length).toBeGreaterThan(12)
})

test.each(kinds)(
  '%s has the headers that the docs state for its kind',
  async (description, kind, address, headers = {}, method = 'get') => {
    for (const [service, isSecure] of [
      [plain, false],
      [secure, true],
    ] as const) {
      if (service === undefined) throw new Error('no service')
      const style =
        /\/assets\/[\w.-]+\.css/.exec((await request(service.app).get('/en/').set(html)).text)?.[0] ?? ''
      const target = address.replace('SNAPSHOT', snapshot).replace('STYLE', style)
      const answer = await request(service.app)[method](target).set(headers).buffer(true)
      const present = rows.map(([header]) => [header, answer.headers[header.toLowerCase()]])
      const due = rows.map(([header, data, pages]) => [
        header,
        dueOf(kind === 'pages' ? pages : data, isSecure),
      ])
      expect({ description, isSecure, present }).toEqual({
        description,
        isSecure,
        present: due,
      })
    }
  },
)

const allDenied: unknown = expect.stringMatching(/^(\w+(-\w+)*=\(\)(, |$)){20,}$/)

/** Returns the header that a cell of the table describes. */
function dueOf(cell: string, isSecure: boolean): unknown {
  if (cell === '–') return undefined
  if (cell.startsWith('all of')) return allDenied
  const [, value = ''] = /^`([^`]*)`/.exec(cell) ?? []
  return cell.includes('is https') && !isSecure ? undefined : value
}

test('only the page of the SQL console may send requests to this service', async () => {
  const { headers } = await request(plain?.app ?? '')
    .get('/en/dataset/d/t/sql/')
    .set(html)
    .expect(200)
  expect(headers['content-security-policy']).toMatch(/; connect-src 'self'; worker-src 'self'$/)
})
