import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { sourceEndings } from '../../ingest/source/packings.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { file, startWeb, status, webShop, zipOf, type Act } from './support/web-server.ts'
import { testSampled } from '../support/runs.ts'

/** Sources on the web: found, unchanged, fetched again. */

const csv = 'a,b\nx,1\ny,2\n'
const rows = [
  ['x', 1],
  ['y', 2],
]
const changed = 'a,b\nz,3\n'
const modified = 'Wed, 21 Oct 2026 07:28:00 GMT'
const later = { now: () => new Date('2027-01-01T00:00:00Z') }
const at = (name: string): string => `http://web/base/d/${name}`
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

describe('a source on the web', () => {
  const zip = zipOf('inner.csv', csv)
  const gzip = gzipSync(csv)
  testSampled<[name: string, body: string | Uint8Array, asked: string[]]>([
    ['t.csv', csv, ['/base/d/t.csv']],
    ['t.csv.gz', gzip, ['/base/d/t.csv', '/base/d/t.csv.gz']],
    ['t.csv.zip', zip, sourceEndings.map((ending) => `/base/d/t${ending}`)],
  ])('is found as %s, trying the extensions in turn', async (name, body, asked) => {
    const web = await startWeb({
      [`/base/d/${name}`]: file(body, { etag: '"1"', 'last-modified': modified }),
    })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
    expect(web.asked).toEqual(asked)
    const facts = { name, bytes: body.length, sha256: sha256(body) }
    expect(shop.published()).toEqual([{ ...facts, address: at(name), etag: '"1"', last_modified: modified }])
    expect(shop.said.slice(0, 2)).toEqual(['fetching', 'reading'])
  })

  test('is found by an address with a query', async () => {
    const web = await startWeb({ '/export/t.csv?year=2026&of=a%20b': file(csv) })
    const shop = await webShop(web, { files: 'http://web/export/t.csv?year=2026&of=a%20b#top' })
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
  })

  test('that never existed is skipped, and one that disappeared fails its table', async () => {
    const web = await startWeb()
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('skipped')
    expect(web.asked).toEqual(sourceEndings.map((ending) => `/base/d/t${ending}`))
    web.at('/base/d/t.csv', file(csv), status(410))
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.run()).resolves.toBe(
      `failed: the source is missing: there is no http://web/base/d/t.csv (or ${sourceEndings.slice(1).join(', ')}); ` +
        'the snapshot of 2026-01-02T03:04:05.678Z is still served',
    )
    await expect(shop.rows()).resolves.toEqual(rows)
  })

  testSampled<[code: number]>([[400], [401], [403], [451], [204]])('fails at once on a %d', async (code) => {
    const web = await startWeb({ '/base/d/t.csv': status(code, {}, code === 204 ? '' : 'no') })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: http://web/base/d/t.csv answers ${code}: check the address`,
    )
    expect(web.asked).toEqual(['/base/d/t.csv'])
  })
})

describe('a source that was fetched before', () => {
  testSampled<[validators: Record<string, string>, condition: string]>([
    [{ etag: '"1"' }, ' if-none-match: "1"'],
    [{ etag: 'W/"1"' }, ' if-none-match: W/"1"'],
    [{ etag: '"1"', 'last-modified': modified }, ' if-none-match: "1"'],
    [{ 'last-modified': modified }, ` if-modified-since: ${modified}`],
    [{}, ''],
  ])('with %j is requested conditionally', async (validators, condition) => {
    const web = await startWeb({ '/base/d/t.csv': file(csv, validators) })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.run(later)).resolves.toBe('unchanged')
    web.at('/base/d/t.csv', file(changed, { etag: '"2"', 'last-modified': 'Thu, 22 Oct 2026 07:28:00 GMT' }))
    await expect(shop.run(later)).resolves.toBe('published')
    const conditional = `/base/d/t.csv${condition}`
    expect(web.asked).toEqual(['/base/d/t.csv', conditional, conditional])
    await expect(shop.rows()).resolves.toEqual([['z', 3]])
  })

  test('is unchanged if another ETag comes with the same bytes', async () => {
    const web = await startWeb({ '/base/d/t.csv': [file(csv, { etag: '"1"' }), file(csv, { etag: '"2"' })] })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.run(later)).resolves.toBe('unchanged')
  })

  test('is fetched again if the catalog reads it in another way', async () => {
    const web = await startWeb({ '/base/d/t.csv': file('a,b\nx,1\n-,2\n', { etag: '"1"' }) })
    const { store, run } = await webShop(web)
    await run()
    const renewed = await webShop(web, { nulls: ['-'] })
    await expect(renewed.run({ store, ...later })).resolves.toBe('published')
    expect(web.asked).toEqual(['/base/d/t.csv', '/base/d/t.csv'])
    await expect(renewed.run({ store, ...later })).resolves.toBe('unchanged')
    expect(web.asked.at(-1)).toBe('/base/d/t.csv if-none-match: "1"')
  })

  test('is fetched again if the catalog names another address', async () => {
    const act = file(csv, { etag: '"1"' })
    const web = await startWeb({ '/one/t.csv': act, '/two/t.csv': [act, status(304)] })
    const { store, run } = await webShop(web, { files: 'http://web/one/t.csv' })
    await run()
    const moved = await webShop(web, { files: 'http://web/two/t.csv' })
    await expect(moved.run({ store, ...later })).resolves.toBe('unchanged')
    expect(web.asked).toEqual(['/one/t.csv', '/two/t.csv'])
    // Nothing was asked on condition here, so a 304 says nothing.
    await expect(moved.run({ store, ...later })).resolves.toMatch(/^failed: .*http:\/\/web\/two\/t\.csv/)
  })

  test('is fetched again if a published part is missing', async () => {
    const web = await startWeb({ '/base/d/t.csv': file(csv, { etag: '"1"' }) })
    const shop = await webShop(web)
    await shop.run()
    const home = path.join(shop.warehouse, 'd', 't')
    const manifest = await publishedOf(shop.store, { dataset: 'd', name: 't' })
    await rm(path.join(home, manifest?.snapshot ?? '', 'part-00000.parquet'))
    await expect(shop.run(later)).resolves.toBe('published')
    expect(web.asked).toEqual(['/base/d/t.csv', '/base/d/t.csv'])
  })

  test('is not taken as unchanged if a server answers 304 to an unconditional request', async () => {
    const web = await startWeb({ '/base/d/t.csv': status(304) })
    await expect((await webShop(web)).run()).resolves.toMatch(/^failed: .*http:\/\/web\/base\/d\/t\.csv/)
  })
})

describe('a source of several files', () => {
  const first = file('a,b\nx,1\n', { etag: '"one"' })
  const two = file('a,b\ny,2\n', { etag: '"two"' })
  const files = ['http://web/1.csv', 'http://web/2.csv']

  test('is fetched completely if one of them changed, and not at all if none did', async () => {
    const web = await startWeb({ '/1.csv': first, '/2.csv': two })
    const shop = await webShop(web, { files })
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
    await expect(shop.run(later)).resolves.toBe('unchanged')
    web.at('/2.csv', file('a,b\nz,3\n', { etag: '"three"' }))
    await expect(shop.run(later)).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual([
      ['x', 1],
      ['z', 3],
    ])
    const asked = ['/1.csv if-none-match: "one"', '/2.csv if-none-match: "two"']
    expect(web.asked).toEqual(['/1.csv', '/2.csv', ...asked, ...asked, '/1.csv', '/2.csv'])
    expect(shop.published().map(({ name, etag }) => [name, etag])).toEqual([
      ['1.csv', '"one"'],
      ['2.csv', '"three"'],
    ])
  })

  testSampled<[title: string, acts: Record<string, Act>, gone: string]>([
    ['the first is', { '/2.csv': two }, 'http://web/1.csv'],
    ['the second is', { '/1.csv': first }, 'http://web/2.csv'],
  ])('fails if %s missing, and the message names this file', async (_what, acts, gone) => {
    const shop = await webShop(await startWeb(acts), { files })
    await expect(shop.run()).resolves.toBe(`failed: a file of the source is missing: ${gone}`)
  })

  test('fails if one of them disappeared while the others are unchanged', async () => {
    const web = await startWeb({ '/1.csv': first, '/2.csv': [two, status(404)] })
    const shop = await webShop(web, { files })
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.run()).resolves.toBe('failed: a file of the source is missing: http://web/2.csv')
  })

  test('combines files of a folder with files of the web, and leaves out neither', async () => {
    const web = await startWeb({ '/1.csv': first })
    const shop = await webShop(web, { files: ['http://web/1.csv', 'd/2.csv'] }, { 'd/2.csv': 'a,b\ny,2\n' })
    const { sources } = shop
    await expect(shop.run({ sources })).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rows)
    await expect(shop.run({ sources, ...later })).resolves.toBe('unchanged')
    await rm(path.join(sources, 'd', '2.csv'))
    await expect(shop.run({ sources, ...later })).resolves.toMatch(
      /^failed: a file of the source is missing: .*d\/2\.csv$/,
    )
    await expect(shop.rows()).resolves.toEqual(rows)
  })
})
