import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { freePort } from '../support/ports.ts'
import { cut, file, rest, slow, startWeb, status, webShop, type Act } from '../support/web.ts'
import { testSampled } from '../support/runs.ts'

const lines = (text: string): string => Array.from({ length: 300 }, (_, n) => `${text}${n},${n}\n`).join('')
const rowsOf = (text: string): unknown[][] => Array.from({ length: 300 }, (_, n) => [`${text}${n}`, n])
const csv = `a,b\n${lines('x')}`
/** Of the same length, so that nothing but the ETag tells them apart. */
const changed = `a,b\n${lines('y')}`
const modified = 'Wed, 21 Oct 2026 07:28:00 GMT'
const now = 'Fri, 23 Oct 2026 07:28:00 GMT'
const one = { etag: '"1"' }
const two = { etag: '"2"' }
const at = '/base/d/t.csv'
const resumed = `${at} range: bytes=1000- if-range: "1"`

describe('a line that is cut', () => {
  const broken = 'http://web/base/d/t.csv: other side closed; next try in 0.0 s'

  testSampled<[what: string, acts: Act[], asked: string[]]>([
    ['an ETag', [cut(csv, 1000, one), file(csv, one)], [at, resumed]],
    [
      'a Last-Modified of long ago',
      [cut(csv, 1000, { 'last-modified': modified, date: now }), file(csv, { 'last-modified': modified })],
      [at, `${at} range: bytes=1000- if-range: ${modified}`],
    ],
    [
      'an ETag, in chunks',
      [cut(csv, 1000, { ...one, 'transfer-encoding': 'chunked' }), file(csv, one)],
      [at, resumed],
    ],
    [
      'an ETag, and cut again',
      [cut(csv, 1000, one), cut(csv, 1007, one), cut(csv, 2000, one), file(csv, one)],
      [at, resumed, resumed.replace('1000', '1007'), resumed.replace('1000', '2000')],
    ],
  ])('is taken up where it broke off by %s', async (_what, acts, asked) => {
    const web = await startWeb({ [at]: acts })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual(asked)
    const broke = asked.slice(1).map(() => broken)
    expect(shop.said.slice(0, asked.length + 1)).toEqual(['fetching', ...broke, 'reading'])
  })

  testSampled<[what: string, headers: Record<string, string>]>([
    ['nothing', {}],
    ['a weak ETag', { etag: 'W/"1"' }],
    // RFC 9110, 13.1.5: the date is for those who have no ETag, and only where it is a strong validator.
    ['a weak ETag and a date', { etag: 'W/"1"', 'last-modified': modified, date: now }],
    ['a Last-Modified of this very second', { 'last-modified': now, date: now }],
  ])('is begun anew where %s tells the versions apart', async (_what, headers) => {
    const web = await startWeb({ [at]: [cut(csv, 1000, headers), file(csv, headers)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, at])
  })

  const other = changed.slice(0, -9)
  testSampled<[what: string, acts: Act[], asked: string[]]>([
    ['a good server', [file(changed, two)], [at, resumed]],
    ['a server without ranges', [status(200, two, changed)], [at, resumed]],
    ['a server without If-Range', [rest(changed, two), file(changed, two)], [at, resumed, at]],
    [
      'one without If-Range, by its date',
      [rest(changed, { 'last-modified': now }), file(changed)],
      [at, resumed, at],
    ],
    ['one without If-Range, by its length', [rest(other, one), file(changed)], [at, resumed, at]],
    ['a server that changes its mind', [cut(changed, 2000, two), file(csv, one)], [at, resumed, at]],
  ])('never mixes two versions: %s', async (what, acts, asked) => {
    const first = cut(csv, 1000, { ...one, 'last-modified': modified, date: now })
    const web = await startWeb({ [at]: [first, ...acts] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf(what.endsWith('mind') ? 'x' : 'y'))
    expect(web.asked).toEqual(asked)
  })

  const size = csv.length
  const part = csv.slice(1000)
  testSampled<[what: string, act: Act]>([
    ['416', status(416, { 'content-range': `bytes */${size}` })],
    ['206 of an earlier range', status(206, { 'content-range': `bytes 900-${size - 1}/${size}` }, part)],
    ['206 of a later range', status(206, { 'content-range': `bytes 1001-${size - 1}/${size}` }, part)],
    ['206 of no range', status(206, {}, part)],
    ['206 of a range without a length', status(206, { 'content-range': `bytes 1000-${size - 1}/*` }, part)],
    ['206 of nonsense', status(206, { 'content-range': 'some of it' }, part)],
    // Who sends a part must name the version that it is of: RFC 9110, 15.3.7.
    ['206 without the ETag', rest(csv)],
    ['206 of the whole', status(206, { 'content-range': `bytes 0-${size - 1}/${size}` }, csv)],
  ])('is begun anew after a %s', async (_what, act) => {
    const web = await startWeb({ [at]: [cut(csv, 1000, one), act, file(csv, one)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, resumed, at])
  })

  test('is begun anew where nothing but its end was cut off', async () => {
    const whole = cut(csv, csv.length, { ...one, 'transfer-encoding': 'chunked' })
    const web = await startWeb({ [at]: [whole, file(csv, one)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, resumed.replace('1000', String(csv.length)), at])
  })

  testSampled<[name: string, body: string | Buffer, warnings: string[]]>([
    ['t.csv', csv, ['the server did not say how long t.csv is: see that it is not cut off']],
    // Its packing tells where it ends.
    ['t.csv.gz', gzipSync(csv), []],
  ])('or no length is told of, where nothing else tells of one: %s', async (name, body, warnings) => {
    const endless: Act = (_request, response) => {
      response.useChunkedEncodingByDefault = false
      response.writeHead(200)
      response.write(body)
      response.end()
    }
    const shop = await webShop(await startWeb({ [`/base/d/${name}`]: endless }))
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(shop.warnings()).toEqual(warnings)
  })

  test('or a length that is longer than what comes publishes nothing', async () => {
    const web = await startWeb({ [at]: cut(csv, csv.length, { 'content-length': csv.length + 9 }) })
    const troubles = Array.from({ length: 5 }, () => 'other side closed')
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`,
    )
  })

  test('or a length that is shorter than what comes ends the file', async () => {
    const web = await startWeb({ [at]: status(200, { 'content-length': csv.length - 9 }, csv) })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x').slice(0, -1))
  })
})

describe('a line that is ended right after the header', () => {
  const header = 'a,b\n'
  const noRow =
    'failed: there is no row in t.csv. Look at it; where the table may have none, its may_be_empty: true in the catalog ' +
    'says so; `make ingest ACCEPT_DRIFT=1 TABLES=d/t` (--accept-drift) publishes it all the same'
  const endless: Act = (_request, response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200)
    response.end(header)
  }
  const troubles = Array.from({ length: 5 }, () => 'other side closed')
  const broken = `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`

  testSampled<[what: string, act: Act, told: string]>([
    ['its length', status(200, { 'content-length': header.length }, header), noRow],
    [
      'a length that is shorter than what comes',
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
  ])('publishes nothing, as told by %s', async (_what, act, told) => {
    const shop = await webShop(await startWeb({ [at]: act }))
    await expect(shop.run()).resolves.toBe(told)
    expect(shop.published).toThrow('nothing is published')
  })
})

describe('a server in trouble', () => {
  test.each([408, 429, 500, 502, 503, 504, 520])('that answers %d is asked again', async (code) => {
    const web = await startWeb({ [at]: [status(code, {}, 'busy'), file(csv)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    const again = `http://web/base/d/t.csv: the server answers ${code}; next try in 0.0 s`
    expect(shop.said.slice(0, 3)).toEqual(['fetching', again, 'reading'])
  })

  testSampled<[what: string, after: () => string, seconds: RegExp, least: number]>([
    ['in seconds', () => '1', /^1\.0$/, 950],
    ['as a date', () => new Date(Date.now() + 2000).toUTCString(), /^(0\.[5-9]|[12]\.\d)$/, 450],
    ['as a date that is over', () => modified, /^0\.0$/, 0],
    ['as nonsense', () => 'soon', /^0\.0$/, 0],
    ['below zero', () => '-5', /^0\.0$/, 0],
  ])('is given the time that Retry-After says %s', async (_what, after, seconds, least) => {
    const web = await startWeb({ [at]: [status(503, { 'retry-after': after() }), file(csv)] })
    const shop = await webShop(web)
    const since = Date.now()
    await expect(shop.run()).resolves.toBe('published')
    expect(Date.now() - since).toBeGreaterThanOrEqual(least)
    const [, said = ''] = /next try in (.*) s$/.exec(shop.said[1] ?? '') ?? []
    expect(said).toMatch(seconds)
  })

  test('for ever fails its table after five tries, and the old snapshot goes on serving', async () => {
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

  test('that is not there fails its table after five tries', async () => {
    const port = await freePort()
    const shop = await webShop(await startWeb(), { files: `http://127.0.0.1:${port}/t.csv` })
    const refused = Array.from({ length: 5 }, () => `connect ECONNREFUSED 127.0.0.1:${port}`)
    await expect(shop.run()).resolves.toBe(
      `failed: http://127.0.0.1:${port}/t.csv could not be fetched in 5 tries: ${refused.join('; ')}`,
    )
  })

  test('that sends another file than it says is given up, however large the file', async () => {
    const large = `a,b\n${'x'.repeat(1_500_000)},1\n`
    const web = await startWeb({ [at]: file(large, { 'content-md5': 'rL0Y20zC+Fzt72VPzMSk2A==' }) })
    await expect((await webShop(web)).run()).resolves.toMatch(/could not be fetched in 5 tries/)
    expect(web.asked).toHaveLength(5)
  })

  test('that is slow but steady is waited for', async () => {
    const shop = await webShop(await startWeb({ [at]: slow(csv, 500, 25) }))
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
  })
})

describe('what is no source', () => {
  const page = '<!DOCTYPE html>\n<html><body>Not found</body></html>'
  testSampled<[name: string, message: RegExp]>([
    ['t.csv', /^failed: t\.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself$/],
    ['t.csv.gz', /^failed: t\.csv\.gz is not a gzip file, as its name says$/],
  ])('is refused: an error page served as %s', async (name, message) => {
    const web = await startWeb({ [`/base/d/${name}`]: status(200, { 'content-type': 'text/html' }, page) })
    await expect((await webShop(web)).run()).resolves.toMatch(message)
  })

  testSampled<[what: string, act: Act]>([
    ['with a length', file(csv)],
    ['in chunks', status(200, {}, csv)],
  ])('is refused: more than may be unpacked, %s', async (_what, act) => {
    const web = await startWeb({ [at]: act })
    const shop = await webShop(web)
    await expect(shop.run({ unpackedBytesMax: csv.length - 1 })).resolves.toMatch(
      /^failed: http:\/\/web\/base\/d\/t\.csv is larger than .* GB: set UNPACKED_GB to more if it is meant$/,
    )
    expect(web.asked).toEqual([at])
    await expect(shop.run({ unpackedBytesMax: csv.length })).resolves.toBe('published')
  })
})
