import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Act, cut, file, rest, startWeb, status, webShop } from './support/web-server.ts'
import { testAll, testSampled } from '../support/runs.ts'

/** Digests and encodings of sources on the web. */

const csv = 'a,b\nx,1\ny,2\n'
const rows = [
  ['x', 1],
  ['y', 2],
]
const gzip = gzipSync(csv)
const at = '/base/d/t.csv'
const address = 'http://web/base/d/t.csv'
const sum = (
  algorithm: string,
  content: string | Uint8Array = csv,
  as: 'hex' | 'base64' = 'base64',
): string => createHash(algorithm).update(content).digest(as)

describe('a digest that the server sends', () => {
  testSampled<[headers: Record<string, string>]>([
    [{ 'repr-digest': `sha-256=:${sum('sha256')}:` }],
    [{ 'repr-digest': `sha-512=:${sum('sha512')}:` }],
    [{ 'repr-digest': `md5=:${sum('md5', 'x')}:, sha-512=:${sum('sha512')}:, sha-256=:${sum('sha256')}:` }],
    [{ digest: `SHA-256=${sum('sha256')}` }],
    [{ digest: `sha-512=${sum('sha512')},unixsum=30637` }],
    [{ 'content-md5': sum('md5') }],
    [{ 'repr-digest': 'crc32c=:AAAAAA==:' }],
  ])(
    'is accepted if it matches the received bytes, and ignored if its algorithm is unknown: %j',
    async (headers) => {
      const web = await startWeb({ [at]: file(csv, headers) })
      await expect((await webShop(web)).run()).resolves.toBe('published')
      expect(web.asked).toEqual([at])
    },
  )

  testSampled<[algorithm: string, headers: Record<string, string>]>([
    ['sha256', { 'repr-digest': `sha-256=:${sum('sha256', 'x')}:` }],
    ['sha512', { 'repr-digest': `sha-512=:${sum('sha512', 'x')}:` }],
    ['sha512', { 'repr-digest': `sha-256=:${sum('sha256')}:, sha-512=:${sum('sha512', 'x')}:` }],
    ['sha256', { digest: `SHA-256=${sum('sha256', 'x')}` }],
    ['md5', { 'content-md5': sum('md5', 'x') }],
  ])('of other bytes (%s) leads to a second attempt, then a refusal: %j', async (algorithm, headers) => {
    const etag = { etag: '"1"' }
    const web = await startWeb({ [at]: [status(200, { ...headers, ...etag }, csv), file(csv)] })
    const shop = await webShop(web)
    const trouble = `its ${algorithm} digest differs from the one that the server states`
    await expect(shop.run()).resolves.toBe('published')
    expect(shop.said.slice(0, 2)).toEqual(['fetching', `${address}: ${trouble}; next try in 0.0 s`])
    expect(web.asked).toEqual([at, at])
    web.at(at, file(csv, headers))
    await expect(shop.run()).resolves.toBe(
      `failed: ${address} could not be fetched in 5 tries: ${Array.from({ length: 5 }, () => trouble).join('; ')}`,
    )
    await expect(shop.rows()).resolves.toEqual(rows)
  })

  testAll('is compared with the complete file if a part was fetched later', async () => {
    const headers = { etag: '"1"', 'repr-digest': `sha-256=:${sum('sha256')}:` }
    const md5 = { 'content-md5': sum('md5', csv.slice(7)) }
    const web = await startWeb({ [at]: [cut(csv, 7, headers), rest(csv, { ...headers, ...md5 })] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
    expect(web.asked).toEqual([at, `${at} range: bytes=7- if-range: "1"`])
  })

  testAll('is remembered if the later part does not repeat it', async () => {
    const headers = { etag: '"1"', 'repr-digest': `sha-256=:${sum('sha256')}:` }
    const spoilt = rest(csv.replace('y', 'q'), { etag: '"1"' })
    const web = await startWeb({ [at]: [cut(csv, 7, headers), spoilt, file(csv, headers)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
  })
})

describe('a content encoding', () => {
  const etag = { etag: '"1"' }
  const packed = { ...etag, 'content-encoding': 'gzip' }
  testSampled<[title: string, name: string, acts: Act[]]>([
    ['gzip that was not requested', 't.csv', [file(gzip, packed)]],
    [
      'gzip, with a digest',
      't.csv',
      [file(gzip, { ...packed, 'repr-digest': `sha-256=:${sum('sha256', gzip)}:` })],
    ],
    // RFC 9110, 8.4.1: without regard to case, and x-gzip is the same.
    ['GZIP', 't.csv', [file(gzip, { 'content-encoding': 'GZIP' })]],
    ['x-gzip', 't.csv', [file(gzip, { 'content-encoding': 'x-gzip' })]],
    ['identity', 't.csv', [file(csv, { 'content-encoding': 'identity' })]],
    ['gzip of a file that is named .gz', 't.csv.gz', [file(gzip, packed)]],
    ['gzip, cut and resumed', 't.csv', [cut(gzip, 7, packed), file(gzip, packed)]],
    // RFC 9110, 15.3.7: a part leaves out what the whole has said.
    [
      'gzip, resumed by a response that does not state the encoding again',
      't.csv',
      [cut(gzip, 7, packed), rest(gzip, etag)],
    ],
    // Sum of the uncompressed file.
    [
      'gzip, with a digest of the content',
      't.csv',
      [file(gzip, { ...packed, digest: `id-sha-256=${sum('sha256')}` })],
    ],
  ])('is decoded: %s', async (_what, name, acts) => {
    const web = await startWeb({ [`/base/d/${name}`]: acts })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
  })

  testAll.each<[coding: string, body: Uint8Array]>([
    ['br', brotliCompressSync(csv)],
    ['gzip, br', brotliCompressSync(gzip)],
    ['deflate', gzip],
  ])('is refused: %s', async (coding, body) => {
    const web = await startWeb({ [at]: file(body, { 'content-encoding': coding }) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} was sent with the content encoding ${coding}, which was not requested and cannot be read: put the file into SOURCES instead`,
    )
    expect(web.asked).toEqual([at])
  })
})

describe('a list of checksums', () => {
  const [sha256, sha512] = [sum('sha256', csv, 'hex'), sum('sha512', csv, 'hex')]
  const wrong = sum('sha512', 'x', 'hex')
  const none = 'failed: SUMS has no SHA-256 or SHA-512 sum of t.csv: add it, or remove source.checksums'
  const cases: [title: string, list: string | null, outcome: string][] = [
    ['has its SHA-512', `${sum('sha512', 'x', 'hex')}  u.csv\n${sha512}  t.csv\n`, 'published'],
    ['has its SHA-256 as of a binary file', `${sha256} *t.csv\n`, 'published'],
    ['has it in capitals with CRLF', `${sha512.toUpperCase()}  ./t.csv\r\n`, 'published'],
    ['has a file of the same name elsewhere', `${sha512}  t.csv\n${wrong}  old/t.csv\n`, 'published'],
    [
      'has another sum',
      `${wrong}  t.csv\n`,
      'failed: t.csv does not match its checksum in SUMS: fetch it again',
    ],
    ['has other files only', `${sha512}  u.csv\n${sha512}  t.csv.gz\n`, none],
    ['is of MD5', `${sum('md5', csv, 'hex')}  t.csv\n`, none],
    ['is empty', '', none],
    ['is missing', null, 'failed: source.checksums names SUMS, but there is no such file beside PLACE/t.csv'],
  ]

  test.each(cases)(
    'in the folder of a file decides whether an ingest publishes the file: the list %s',
    async (_what, list, outcome) => {
      const shop = await webShop(await startWeb(), { checksums: 'SUMS' }, { 'd/t.csv': csv })
      if (list !== null) await writeFile(path.join(shop.sources, 'd', 'SUMS'), list)
      await expect(shop.run({ sources: shop.sources })).resolves.toBe(
        outcome.replace('PLACE', path.join(shop.sources, 'd')),
      )
    },
  )

  testAll.each(cases)(
    'on the web decides whether an ingest publishes a file: the list %s',
    async (_what, list, outcome) => {
      const web = await startWeb({ [at]: file(csv) })
      if (list !== null) web.at('/base/d/SUMS', file(list))
      const shop = await webShop(web, { checksums: 'SUMS' })
      await expect(shop.run()).resolves.toBe(outcome.replace('PLACE', 'http://web/base/d'))
      expect(web.asked).toEqual([at, '/base/d/SUMS'])
    },
  )

  testAll('refers to the file, however it was encoded for the transfer', async () => {
    const web = await startWeb({ [at]: file(gzip, { 'content-encoding': 'gzip' }) })
    web.at('/base/d/SUMS', file(`${sha512}  t.csv\n`))
    await expect((await webShop(web, { checksums: 'SUMS' })).run()).resolves.toBe('published')
  })
})

describe('the name in an address', () => {
  testSampled<[name: string]>([
    ['%2e%2e%2ft.csv'],
    ['%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fescaped.csv'],
    ['..%5C..%5Cescaped.csv'],
    ['%2Ftmp%2Fescaped.csv'],
    ['t%2F..'],
    ['t%2F.'],
    ['t%2F'],
    ['LONG.csv'],
    ['t%00.csv'],
    ['t%0Aescaped.csv'],
    ['%00'],
    // Latin-1, as older sites write it.
    ['popula%E7%E3o.csv'],
    ['100%.csv'],
    ['~$t (1).csv'],
    [''],
  ])('is not the name of a local file: %s', async (title) => {
    const name = title.replace('LONG', 'long'.repeat(100))
    const web = await startWeb({ [`/files/${name.replaceAll(' ', '%20')}`]: file(csv) })
    const shop = await webShop(web, { files: `http://web/files/${name}` })
    await expect(shop.run()).resolves.toBe('published')
    expect(web.asked).toHaveLength(1)
    await expect(shop.rows()).resolves.toEqual(rows)
    const there = await readdir(path.dirname(shop.warehouse), { recursive: true })
    expect(there.filter((entry) => /escaped|long|%|\$|popula|\0/.test(entry))).toEqual([])
    expect(await readdir(path.dirname(shop.warehouse))).toEqual(['warehouse'])
  })
})

testAll(
  'an address with a password is refused by the catalog, since every report would show it',
  async () => {
    const web = await startWeb()
    const files = `http://me:secret@127.0.0.1:${web.port}/t.csv`
    await expect(webShop(web, { files })).rejects.toThrow('password')
  },
)
