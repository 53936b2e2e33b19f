import { gzipSync } from 'node:zlib'
import { freePort } from '../support/ports.ts'
import { cut, file, rest, slow, startWeb, status, type Act, webShop } from './support/web-server.ts'
import { testSampled } from '../support/runs.ts'

/** Interrupted downloads, and downloads that state a wrong length. */

const lines = (text: string): string => Array.from({ length: 300 }, (_, n) => `${text}${n},${n}\n`).join('')
const rowsOf = (text: string): unknown[][] => Array.from({ length: 300 }, (_, n) => [`${text}${n}`, n])
const csv = `a,b\n${lines('x')}`
const modified = 'Wed, 21 Oct 2026 07:28:00 GMT'
const now = 'Fri, 23 Oct 2026 07:28:00 GMT'
const validators = { etag: '"1"' }
const at = '/base/d/t.csv'
const resumed = `${at} range: bytes=1000- if-range: "1"`

describe('an interrupted download', () => {
  testSampled<[title: string, headers: Record<string, string>]>([
    ['nothing', {}],
    ['a weak ETag', { etag: 'W/"1"' }],
    // RFC 9110, 13.1.5: the date is for those who have no ETag, and only where it is a strong validator.
    ['a weak ETag and a date', { etag: 'W/"1"', 'last-modified': modified, date: now }],
    ['a Last-Modified of this very second', { 'last-modified': now, date: now }],
  ])('starts again if %s identifies the versions', async (_what, headers) => {
    const web = await startWeb({ [at]: [cut(csv, 1000, headers), file(csv, headers)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, at])
  })

  const size = csv.length
  const part = csv.slice(1000)
  testSampled<[title: string, act: Act]>([
    ['416', status(416, { 'content-range': `bytes */${size}` })],
    ['206 of an earlier range', status(206, { 'content-range': `bytes 900-${size - 1}/${size}` }, part)],
    ['206 of a later range', status(206, { 'content-range': `bytes 1001-${size - 1}/${size}` }, part)],
    ['206 of no range', status(206, {}, part)],
    ['206 of a range without a length', status(206, { 'content-range': `bytes 1000-${size - 1}/*` }, part)],
    ['206 of nonsense', status(206, { 'content-range': 'some of it' }, part)],
    // A partial response must name its version: RFC 9110, 15.3.7.
    ['206 without the ETag', rest(csv)],
    ['206 of the whole', status(206, { 'content-range': `bytes 0-${size - 1}/${size}` }, csv)],
  ])('starts again from the first byte after a %s', async (_what, act) => {
    const web = await startWeb({ [at]: [cut(csv, 1000, validators), act, file(csv, validators)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, resumed, at])
  })

  test('starts again if only its end was cut off', async () => {
    const whole = cut(csv, csv.length, { ...validators, 'transfer-encoding': 'chunked' })
    const web = await startWeb({ [at]: [whole, file(csv, validators)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, resumed.replace('1000', String(csv.length)), at])
  })

  testSampled<[name: string, body: string | Buffer, warnings: string[]]>([
    ['t.csv', csv, ['the server did not state the length of t.csv: check that the file is complete']],
    // Its packing tells where it ends.
    ['t.csv.gz', gzipSync(csv), []],
  ])(
    'without a stated length is published, with a warning if nothing else marks its end: %s',
    async (name, body, warnings) => {
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
    },
  )

  test('with a stated length beyond its bytes publishes nothing', async () => {
    const web = await startWeb({ [at]: cut(csv, csv.length, { 'content-length': csv.length + 9 }) })
    const troubles = Array.from({ length: 5 }, () => 'other side closed')
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`,
    )
  })

  test('with a stated length below its real length ends at the stated length', async () => {
    const web = await startWeb({ [at]: status(200, { 'content-length': csv.length - 9 }, csv) })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x').slice(0, -1))
  })
})

describe('a server in trouble', () => {
  const says: { readonly nothing: Act } = { nothing: () => undefined }

  test('that falls silent is asked for the rest', async () => {
    const stuck: Act = (_request, response) => {
      response.writeHead(200, { 'content-length': csv.length, etag: '"1"' })
      response.write(csv.slice(0, 100))
    }
    const web = await startWeb({ [at]: [says.nothing, stuck, rest(csv, { etag: '"1"' })] })
    const shop = await webShop(web)
    await expect(shop.run({ silenceMs: 300 })).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, at, `${at} range: bytes=100- if-range: "1"`])
  })

  test('that sends very slowly is given up, so that a job ends', async () => {
    const shop = await webShop(await startWeb({ [at]: slow(csv, 1, 20) }))
    const troubles = Array.from({ length: 5 }, () => 'the server sends less than 1000 bytes a second')
    await expect(shop.run({ silenceMs: 100 })).resolves.toBe(
      `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`,
    )
  })

  test('that breaks off repeatedly is asked again as long as it sends more', async () => {
    const long = Array.from({ length: 11 }, (_, n) => `${'x'.repeat(1_000_000)},${n}\n`).join('')
    const breaking: Act = (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
      return cut(`a,b\n${long}`, from + 1_300_000, validators)(request, response)
    }
    const web = await startWeb({ [at]: breaking })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toHaveLength(11)
    expect(web.asked.length).toBeGreaterThan(6)
  })

  test.each([408, 429, 500, 502, 503, 504, 520])('that answers %d is asked again', async (code) => {
    const web = await startWeb({ [at]: [status(code, {}, 'busy'), file(csv)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    const again = `http://web/base/d/t.csv: the server answers ${code}; next try in 0.0 s`
    expect(shop.said.slice(0, 3)).toEqual(['fetching', again, 'reading'])
  })

  test('that is unreachable fails its table after five attempts', async () => {
    const port = await freePort()
    const shop = await webShop(await startWeb(), { files: `http://127.0.0.1:${port}/t.csv` })
    const refused = Array.from({ length: 5 }, () => `connect ECONNREFUSED 127.0.0.1:${port}`)
    await expect(shop.run()).resolves.toBe(
      `failed: http://127.0.0.1:${port}/t.csv could not be fetched in 5 tries: ${refused.join('; ')}`,
    )
  })

  test('that repeatedly sends a file with a wrong digest is given up, however large the file is', async () => {
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

describe('a response that is not a source', () => {
  const page = '<!DOCTYPE html>\n<html><body>Not found</body></html>'
  testSampled<[name: string, message: RegExp]>([
    ['t.csv', /^failed: t\.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself$/],
    [
      't.csv.gz',
      /^failed: t\.csv\.gz is not a gzip file, although its name says so: rename it, or compress it again$/,
    ],
  ])('is refused: an error page served as %s', async (name, message) => {
    const web = await startWeb({ [`/base/d/${name}`]: status(200, { 'content-type': 'text/html' }, page) })
    await expect((await webShop(web)).run()).resolves.toMatch(message)
  })

  testSampled<[title: string, act: Act]>([
    ['with a length', file(csv)],
    ['in chunks', status(200, {}, csv)],
  ])('is refused: more bytes than allowed after decompression, %s', async (_what, act) => {
    const web = await startWeb({ [at]: act })
    const shop = await webShop(web)
    await expect(shop.run({ unpackedBytesMax: csv.length - 1 })).resolves.toMatch(
      /^failed: http:\/\/web\/base\/d\/t\.csv is larger than .* GB: if that is intended, raise UNPACKED_GB$/,
    )
    expect(web.asked).toEqual([at])
    await expect(shop.run({ unpackedBytesMax: csv.length })).resolves.toBe('published')
  })
})
