import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Manifest } from '../../../core/warehouse/manifest.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { sampled } from '../../support/runs.ts'

/** Published files: addresses, listings, checksums and ranges. */

const catalog = tinyCatalog(
  { fields: ['n:integer', 's:string', 'at:datetime', 'v:decimal:10:2'], order: ['n desc'] },
  { name: 'absent', fields: ['n:integer'] },
)
const source = 'n,s,at,v\n1,"a, ""b""",2020-01-02 03:04:05,1.5\n2,,,\n3,"x\ny",2020-01-02T03:04:05.25,-7\n'

let shop: Workshop
let service: Service
let manifest: Manifest
let base: string
beforeAll(async () => {
  shop = await workshop(catalog, { 'd/t.csv': source })
  const [outcome] = await shop.ingest({ partRows: 2 })
  if (outcome?.status !== 'published') throw new Error('expected a snapshot')
  manifest = outcome.manifest
  service = await serve(shop)
  base = `/files/d/t/${manifest.snapshot}`
})

const get = (target: string, headers: Record<string, string> = {}) => rawGet(service.app, target, headers)
const sha512 = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('hex')

test('the stable address of the full download redirects to the file of the current snapshot', async () => {
  const { status, headers, body } = await get('/files/d/t.csv.gz')
  expect([status, headers['location'], headers['cache-control'], body.length]).toEqual([
    302,
    `${base}/t.csv.gz`,
    'public, max-age=60, stale-while-revalidate=600',
    0,
  ])
  const download = await get(`${base}/t.csv.gz`)
  expect([download.status, download.headers]).toEqual([
    200,
    expect.objectContaining({
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-disposition': 'attachment; filename="t.csv.gz"',
      'content-length': String(download.body.length),
      'content-type': 'application/gzip',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
      'x-content-type-options': 'nosniff',
    }),
  ])
  expect(gunzipSync(download.body).toString()).toBe(
    'n,s,at,v\n3,"x\ny",2020-01-02T03:04:05.25,-7.00\n2,,,\n1,"a, ""b""",2020-01-02T03:04:05,1.50\n',
  )
})

test('files redirect to a public warehouse if an operator sets its address', async () => {
  const { app } = await serve(shop, { filesUrl: 'https://store.example.org/acervo/' })
  const led = await rawGet(app, `${base}/t.csv.gz`)
  expect([led.status, led.headers['location'], led.headers['cache-control'], led.body.length]).toEqual([
    302,
    `https://store.example.org/acervo/${base.replace('/files/', '')}/t.csv.gz`,
    'public, max-age=60, stale-while-revalidate=600',
    0,
  ])
  // Private files have no address.
  expect((await rawGet(app, `${base}/rows-00000.bin`)).status).toBe(404)
})

test('the listings name every file, and the checksums are those of its bytes', async () => {
  const table = {
    table: 't',
    snapshot: manifest.snapshot,
    import_date: '2026-01-02T03:04:05.678Z',
    rows: 3,
    files: [
      ['t.csv.gz', 'application/gzip'],
      ['part-00000.parquet', 'application/vnd.apache.parquet'],
      ['part-00001.parquet', 'application/vnd.apache.parquet'],
      ['report.json', 'application/json'],
    ].map(([name = '', media]) => ({
      name,
      address: `http://localhost:8000${base}/${name}`,
      bytes: expect.any(Number),
      sha512: expect.stringMatching(/^[0-9a-f]{128}$/),
      media_type: media,
    })),
  }
  const listing = await get('/files/d/t/')
  expect([listing.status, listing.headers['content-type'], JSON.parse(listing.body.toString())]).toEqual([
    200,
    'application/json',
    table,
  ])
  const fileListing = JSON.parse((await get('/files/d/')).body.toString()) as unknown
  expect(fileListing).toEqual({
    dataset: 'd',
    sums: 'http://localhost:8000/files/d/SHA512SUMS',
    tables: [table],
  })
  const { files } = JSON.parse(listing.body.toString()) as {
    files: { name: string; address: string; bytes: number; sha512: string }[]
  }
  for (const { address, bytes, sha512: sum } of files) {
    const { body } = await get(new URL(address).pathname)
    expect([body.length, sha512(body)]).toEqual([bytes, sum])
  }
  const sums = await get('/files/d/SHA512SUMS')
  expect(sums.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(sums.body.toString()).toBe(
    files
      .map(
        ({ name, sha512: sum }) =>
          `${sum}  ${name === 't.csv.gz' ? name : `t/${manifest.snapshot}/${name}`}\n`,
      )
      .join(''),
  )
})

describe('a part of a file', () => {
  test.each<[range: string, from: number, to: number]>([
    ['bytes=0-9', 0, 10],
    ['bytes=-5', -5, Infinity],
    ['bytes=10-', 10, Infinity],
    ['bytes=-99999', 0, Infinity],
  ])('%s is sent alone', async (range, from, to) => {
    const whole = (await get(`${base}/part-00000.parquet`)).body
    const { status, headers, body } = await get(`${base}/part-00000.parquet`, { range })
    expect(status).toBe(206)
    expect(body.equals(whole.subarray(from, to === Infinity ? undefined : to))).toBe(true)
    const start = from < 0 ? whole.length + from : from
    expect(headers['content-range']).toBe(`bytes ${start}-${start + body.length - 1}/${whole.length}`)
  })

  test('beyond its end is answered with 416 and the length of the file', async () => {
    const { length } = (await get(`${base}/t.csv.gz`)).body
    const { status, headers, body } = await get(`${base}/t.csv.gz`, { range: 'bytes=99999-' })
    expect([status, headers['content-range'], headers['content-type'], headers['cache-control']]).toEqual([
      416,
      `bytes */${length}`,
      'application/problem+json',
      'no-store',
    ])
    expect(JSON.parse(body.toString())).toMatchObject({ type: 'urn:acervo:problem:unsatisfiable-range' })
  })

  test('is the complete new file if If-Range names an older one', async () => {
    const headers = { range: 'bytes=0-3', 'if-range': '"0123456789abcdef0123456789abcdef"' }
    expect((await get(`${base}/t.csv.gz`, headers)).status).toBe(200)
  })

  test('is a range if If-Range names the current file', async () => {
    const { etag = '' } = (await get(`${base}/t.csv.gz`)).headers
    expect((await get(`${base}/t.csv.gz`, { range: 'bytes=0-3', 'if-range': etag })).status).toBe(206)
  })
})

test('a request of a client that already has the file is answered with 304', async () => {
  const { etag = '' } = (await get(`${base}/t.csv.gz`)).headers
  const { status, body } = await get(`${base}/t.csv.gz`, { 'if-none-match': etag })
  expect([status, body.length]).toEqual([304, 0])
})

describe('if a file is missing,', () => {
  test.each<[target: string, status: number, detail: RegExp]>([
    ['/files/none/t.csv.gz', 404, /^There is no dataset "none"\.$/],
    ['/files/d/none.csv.gz', 404, /^There is no table "none" in d; its tables: t, absent\.$/],
    ['/files/d/absent.csv.gz', 503, /^The table d\/absent is not published: its operator must run/],
    ['/files/d/absent/', 503, /^The table d\/absent is not published/],
    [
      '/files/d/t/x/t.csv.gz',
      404,
      /^There is no such file; those of d\/t are at http:\/\/localhost:8000\/files\/d\/t\/\.$/,
    ],
    [
      '/files/d/t/20200101T000000Z-0123456789ab/report.json',
      410,
      /^The snapshot .* is no longer kept; the current files are at/,
    ],
    ['/files/d/absent.parquet', 503, /^The table d\/absent is not published/],
    ['SNAPSHOT/manifest.json', 404, /^There is no such file/],
    ['SNAPSHOT/..%2f..%2fcurrent.json', 404, /^There is no such file/],
    ['SNAPSHOT/%00', 404, /^There is no such file/],
    ['SNAPSHOT/.', 404, /./],
    ['/files/d/t', 301, /^$/],
    ['/files/', 404, /./],
  ])('%s is answered with %i and a reason', async (target, status, detail) => {
    const answer = await get(target.replace('SNAPSHOT', base))
    const { detail: shown = '' } = (status < 400 ? {} : JSON.parse(answer.body.toString())) as {
      detail?: string
    }
    expect([answer.status, shown]).toEqual([status, expect.stringMatching(detail)])
  })
})

test('answers about rows and datasets link to the files', async () => {
  const rows = await get('/api/v1/dataset/d/t/data/')
  expect(rows.headers['link']).toContain(
    '<http://localhost:8000/files/d/t.csv.gz>; rel="alternate"; type="application/gzip"',
  )
  const detail = await get('/api/v1/dataset/d/')
  expect(detail.headers['link']).toBe(
    '<http://localhost:8000/files/d/>; rel="describedby"; type="application/json", ' +
      '<http://localhost:8000/metadata/d/linkset.json>; rel="linkset"; type="application/linkset+json"',
  )
})

test('a client that requests rows too often is referred to the file', async () => {
  const limited = await serve(shop, { rateLimits: true })
  const ask = () => rawGet(limited.app, '/api/v1/dataset/d/t/data/')
  await ask()
  await ask()
  const { status, headers, body } = await ask()
  expect([status, headers['link']]).toEqual([
    429,
    expect.stringMatching(
      /^<http:\/\/localhost:8000\/files\/d\/t\/[^/]+\/t\.csv\.gz>; rel="alternate"; type="application\/gzip"$/,
    ),
  ])
  expect(JSON.parse(body.toString())).toMatchObject({
    detail: expect.stringMatching(
      /All rows are in one file: http:\/\/localhost:8000\/files\/d\/t\/[^/]+\/t\.csv\.gz\.$/,
    ),
  })
})

const healthOf = async (of: Service): Promise<unknown> => {
  const { status, headers, body } = await rawGet(of.app, '/health')
  expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
  return JSON.parse(body.toString())
}

const count = async (of: Service): Promise<unknown> =>
  (JSON.parse((await rawGet(of.app, '/api/v1/dataset/d/t/data/')).body.toString()) as { count: number }).count

describe('health', () => {
  test('is degraded if nothing is published, as in the wrong warehouse', async () => {
    const empty = await serve(await workshop(tinyCatalog({ fields: ['n:integer'] })))
    expect(await healthOf(empty)).toEqual({
      status: 'degraded',
      published: 0,
      unpublished: 1,
      catalog_fault: null,
      faults: [],
      stale: [],
    })
  })

  test('is ok if everything published is served', async () => {
    expect(await healthOf(service)).toEqual({
      status: 'ok',
      published: 1,
      unpublished: 1,
      catalog_fault: null,
      faults: [],
      stale: [],
    })
  })

  test.each<[title: string, harm: (pointer: string) => Promise<void>, fault: RegExp]>(
    sampled<[title: string, harm: (pointer: string) => Promise<void>, fault: RegExp]>(
      [
        ['is cut off', (pointer) => truncate(pointer, 40), /^its manifest is damaged/],
        ['is gone', (pointer) => rm(pointer), /^current\.json is missing/],
        [
          'is no file',
          async (pointer) => {
            await rm(pointer)
            await mkdir(pointer)
          },
          /cannot be read \(EISDIR\)/,
        ],
        [
          'leads round in a circle',
          async (pointer) => rm(pointer).then(() => symlink(pointer, pointer)),
          /cannot be read \(ELOOP\)/,
        ],
        [
          'names a part that is gone',
          async (pointer) => {
            const { snapshot } = JSON.parse(await readFile(pointer, 'utf8')) as { snapshot: string }
            await rm(path.join(path.dirname(pointer), snapshot, 'part-00000.parquet'))
          },
          /^part-00000\.parquet is missing/,
        ],
      ],
      4,
    ),
  )('explains that the file current.json of a table %s, but shows no path', async (_what, harm, fault) => {
    const ownShop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    await ownShop.ingest()
    await harm(path.join(ownShop.warehouse, 'd', 't', 'current.json'))
    const running = await serve(ownShop)
    const body = (await healthOf(running)) as { status: string; faults: { fault: string }[] }
    expect(body).toMatchObject({
      status: 'degraded',
      faults: [{ table: 'd/t', fault: expect.stringMatching(fault) }],
    })
    const rows = await rawGet(running.app, '/api/v1/dataset/d/t/data/')
    for (const shown of [JSON.stringify(body), rows.body.toString()])
      expect(shown).not.toMatch(/\/(tmp|work|home)|warehouse/)
    expect(running.logged()).toContain(ownShop.warehouse)
  })

  test('is degraded after a check of all files finds damage, and the previous snapshot is served', async () => {
    const ownShop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    await ownShop.ingest({ now: () => new Date('2026-01-01T00:00:00Z') })
    await ownShop.write('d/t.csv', 'n\n1\n2\n')
    const [outcome] = await ownShop.ingest({ now: () => new Date('2026-02-01T00:00:00Z') })
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    const running = await serve(ownShop)
    expect(await count(running)).toBe(2)

    const part = path.join(ownShop.warehouse, 'd', 't', outcome.manifest.snapshot, 'part-00000.parquet')
    const bytes = await readFile(part)
    bytes[30] = (bytes[30] ?? 0) ^ 4
    await writeFile(part, bytes)
    const degraded = {
      status: 'degraded',
      published: 1,
      unpublished: 0,
      catalog_fault: null,
      faults: [
        {
          table: 'd/t',
          serving: expect.stringMatching(/^20260101T000000Z-/),
          fault: 'part-00000.parquet is damaged: its hash differs from that in the manifest',
        },
      ],
      stale: [],
    }
    await running.scrub()
    expect([await count(running), await healthOf(running)]).toEqual([1, degraded])
    const restarted = await serve(ownShop)
    expect([await count(restarted), await healthOf(restarted)]).toEqual([1, degraded])

    await ownShop.write('d/t.csv', 'n\n1\n2\n3\n')
    await ownShop.ingest({ now: () => new Date('2026-03-01T00:00:00Z') })
    await running.snapshots.refresh()
    expect([await count(running), await healthOf(running)]).toEqual([
      3,
      { status: 'ok', published: 1, unpublished: 0, catalog_fault: null, faults: [], stale: [] },
    ])
  })
})
