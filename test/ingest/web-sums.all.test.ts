import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { cut, file, rest, startWeb, webShop } from '../support/web.ts'
import { testSampled } from '../support/runs.ts'

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

describe('a digest that the server states', () => {
  test('is held against the whole where a part was fetched later', async () => {
    const headers = { etag: '"1"', 'repr-digest': `sha-256=:${sum('sha256')}:` }
    const md5 = { 'content-md5': sum('md5', csv.slice(7)) }
    const web = await startWeb({ [at]: [cut(csv, 7, headers), rest(csv, { ...headers, ...md5 })] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
    expect(web.asked).toEqual([at, `${at} range: bytes=7- if-range: "1"`])
  })

  test('is remembered where the later part does not state it again', async () => {
    const headers = { etag: '"1"', 'repr-digest': `sha-256=:${sum('sha256')}:` }
    const spoilt = rest(csv.replace('y', 'q'), { etag: '"1"' })
    const web = await startWeb({ [at]: [cut(csv, 7, headers), spoilt, file(csv, headers)] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
  })
})

describe('a packing on the way', () => {
  testSampled<[coding: string, body: Uint8Array]>([
    ['br', brotliCompressSync(csv)],
    ['gzip, br', brotliCompressSync(gzip)],
    ['deflate', gzip],
  ])('is refused: %s', async (coding, body) => {
    const web = await startWeb({ [at]: file(body, { 'content-encoding': coding }) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} comes encoded as ${coding}, though it was asked for as it is`,
    )
    expect(web.asked).toEqual([at])
  })
})

describe('a list of check sums', () => {
  const [sha256, sha512] = [sum('sha256', csv, 'hex'), sum('sha512', csv, 'hex')]
  const wrong = sum('sha512', 'x', 'hex')
  const none = 'failed: SUMS has no SHA-256 or SHA-512 sum of t.csv'
  const cases: [what: string, list: string | null, outcome: string][] = [
    ['has its SHA-512', `${sum('sha512', 'x', 'hex')}  u.csv\n${sha512}  t.csv\n`, 'published'],
    ['has its SHA-256 as of a binary file', `${sha256} *t.csv\n`, 'published'],
    ['has it in capitals with CRLF', `${sha512.toUpperCase()}  ./t.csv\r\n`, 'published'],
    ['has a file of the same name elsewhere', `${sha512}  t.csv\n${wrong}  old/t.csv\n`, 'published'],
    [
      'has another sum',
      `${wrong}  t.csv\n`,
      'failed: t.csv has another check sum than SUMS says: fetch it again',
    ],
    ['has other files only', `${sha512}  u.csv\n${sha512}  t.csv.gz\n`, none],
    ['is of MD5', `${sum('md5', csv, 'hex')}  t.csv\n`, none],
    ['is empty', '', none],
    ['is missing', null, 'failed: there is no SUMS beside PLACE/t.csv, which source.checksums names'],
  ]

  test.each(cases)('on the web that %s', async (_what, list, outcome) => {
    const web = await startWeb({ [at]: file(csv) })
    if (list !== null) web.at('/base/d/SUMS', file(list))
    const shop = await webShop(web, { checksums: 'SUMS' })
    await expect(shop.run()).resolves.toBe(outcome.replace('PLACE', 'http://web/base/d'))
    expect(web.asked).toEqual([at, '/base/d/SUMS'])
  })

  test('is of what the file is, however it was packed on the way', async () => {
    const web = await startWeb({ [at]: file(gzip, { 'content-encoding': 'gzip' }) })
    web.at('/base/d/SUMS', file(`${sha512}  t.csv\n`))
    await expect((await webShop(web, { checksums: 'SUMS' })).run()).resolves.toBe('published')
  })
})

test('an address with a password is refused by the catalog, since every report would tell it', async () => {
  const web = await startWeb()
  const files = `http://me:secret@127.0.0.1:${web.port}/t.csv`
  await expect(webShop(web, { files })).rejects.toThrow('password')
})
