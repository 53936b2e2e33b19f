import { cut, file, rest, startWeb, status, webShop, type Act } from './support/web-server.ts'
import { testSampled } from '../support/runs.ts'

const lines = (text: string): string => Array.from({ length: 300 }, (_, n) => `${text}${n},${n}\n`).join('')
const rowsOf = (text: string): unknown[][] => Array.from({ length: 300 }, (_, n) => [`${text}${n}`, n])
const csv = `a,b\n${lines('x')}`
/** The same length, so that only the ETag differs. */
const changed = `a,b\n${lines('y')}`
const modified = 'Wed, 21 Oct 2026 07:28:00 GMT'
const now = 'Fri, 23 Oct 2026 07:28:00 GMT'
const firstTag = { etag: '"1"' }
const two = { etag: '"2"' }
const at = '/base/d/t.csv'
const resumed = `${at} range: bytes=1000- if-range: "1"`

describe('an interrupted download', () => {
  const broken = 'http://web/base/d/t.csv: other side closed; next try in 0.0 s'

  testSampled<[title: string, acts: Act[], asked: string[]]>([
    ['an ETag', [cut(csv, 1000, firstTag), file(csv, firstTag)], [at, resumed]],
    [
      'a Last-Modified of long ago',
      [cut(csv, 1000, { 'last-modified': modified, date: now }), file(csv, { 'last-modified': modified })],
      [at, `${at} range: bytes=1000- if-range: ${modified}`],
    ],
    [
      'an ETag, in chunks',
      [cut(csv, 1000, { ...firstTag, 'transfer-encoding': 'chunked' }), file(csv, firstTag)],
      [at, resumed],
    ],
    [
      'an ETag, and cut again',
      [cut(csv, 1000, firstTag), cut(csv, 1007, firstTag), cut(csv, 2000, firstTag), file(csv, firstTag)],
      [at, resumed, resumed.replace('1000', '1007'), resumed.replace('1000', '2000')],
    ],
  ])('continues where it broke off, by %s', async (_what, acts, asked) => {
    const web = await startWeb({ [at]: acts })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual(asked)
    const broke = asked.slice(1).map(() => broken)
    expect(shop.said.slice(0, asked.length + 1)).toEqual(['fetching', ...broke, 'reading'])
  })

  const shorter = changed.slice(0, -9)
  testSampled<[title: string, acts: Act[], asked: string[]]>([
    ['a good server', [file(changed, two)], [at, resumed]],
    ['a server without ranges', [status(200, two, changed)], [at, resumed]],
    ['a server without If-Range', [rest(changed, two), file(changed, two)], [at, resumed, at]],
    [
      'a server without If-Range, whose new date shows the change',
      [rest(changed, { 'last-modified': now }), file(changed)],
      [at, resumed, at],
    ],
    [
      'a server without If-Range, whose new length shows the change',
      [rest(shorter, firstTag), file(changed)],
      [at, resumed, at],
    ],
    ['a server that changes its mind', [cut(changed, 2000, two), file(csv, firstTag)], [at, resumed, at]],
  ])('never mixes two versions: %s', async (title, acts, asked) => {
    const first = cut(csv, 1000, { ...firstTag, 'last-modified': modified, date: now })
    const web = await startWeb({ [at]: [first, ...acts] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf(title.endsWith('mind') ? 'x' : 'y'))
    expect(web.asked).toEqual(asked)
  })
})

describe('a download that ends right after the header', () => {
  const header = 'a,b\n'
  const noRow =
    'failed: there is no row in t.csv. Check it; if the table may be empty, declare may_be_empty: true for it in the ' +
    'catalog; `acervo ingest --accept-drift d/t` publishes it anyway'
  const endless: Act = (_request, response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200)
    response.end(header)
  }
  const troubles = Array.from({ length: 5 }, () => 'other side closed')
  const broken = `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`

  testSampled<[title: string, act: Act, message: string]>([
    ['its length', status(200, { 'content-length': header.length }, header), noRow],
    [
      'a length that is shorter than the response',
      status(200, { 'content-length': header.length }, csv),
      noRow,
    ],
    [
      'a length that ends within the header',
      status(200, { 'content-length': header.length - 1 }, csv),
      noRow,
    ],
    ['chunks', status(200, { 'transfer-encoding': 'chunked' }, header), noRow],
    ['no length', endless, noRow],
    ['a length that is longer', cut(csv, header.length), broken],
    ['chunks that are not ended', cut(csv, header.length, { 'transfer-encoding': 'chunked' }), broken],
  ])('publishes nothing if the response announces %s', async (_what, act, message) => {
    const shop = await webShop(await startWeb({ [at]: act }))
    await expect(shop.run()).resolves.toBe(message)
    expect(shop.published).toThrow('nothing is published')
  })
})

describe('a server in trouble', () => {
  testSampled<[title: string, after: () => string, seconds: RegExp, least: number]>([
    ['in seconds', () => '1', /^1\.0$/, 950],
    ['as a date', () => new Date(Date.now() + 2000).toUTCString(), /^(0\.[5-9]|[12]\.\d)$/, 450],
    ['as a date that is over', () => modified, /^0\.0$/, 0],
    ['as nonsense', () => 'soon', /^0\.0$/, 0],
    ['below zero', () => '-5', /^0\.0$/, 0],
  ])('is retried after the time of Retry-After %s', async (_what, after, seconds, least) => {
    const web = await startWeb({ [at]: [status(503, { 'retry-after': after() }), file(csv)] })
    const shop = await webShop(web)
    const since = Date.now()
    await expect(shop.run()).resolves.toBe('published')
    expect(Date.now() - since).toBeGreaterThanOrEqual(least)
    const [, said = ''] = /next try in (.*) s$/.exec(shop.said[1] ?? '') ?? []
    expect(said).toMatch(seconds)
  })

  test('whose trouble lasts fails its table after five attempts, and the old snapshot stays', async () => {
    const web = await startWeb({ [at]: file(csv) })
    const shop = await webShop(web)
    await shop.run()
    web.at(at, status(500), status(503), cut(csv, 0), status(429), status(502), file(changed))
    await expect(shop.run()).resolves.toBe(
      'failed: http://web/base/d/t.csv could not be fetched in 5 tries: the server answers 500; ' +
        'the server answers 503; other side closed; the server answers 429; the server answers 502',
    )
    expect(web.asked).toHaveLength(6)
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('y'))
  })
})
