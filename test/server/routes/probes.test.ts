import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import request from 'supertest'
import { allTables, type Table } from '../../../core/catalog/catalog.ts'
import { Readiness } from '../../../server/snapshots/readiness.ts'
import { Scrub } from '../../../server/snapshots/scrub.ts'
import { Snapshots } from '../../../server/snapshots/snapshots.ts'
import { openLog } from '../../../server/base/log.ts'
import { serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'
import { testAll, testSampled } from '../../support/runs.ts'
import { randomBytes } from 'node:crypto'

/** Probes for operating the service. */

const rows = '/api/v1/dataset/d/t/data/'
const fields = [fieldOf('n:integer')]

async function published(table: object = {}, now = new Date()): Promise<Workshop> {
  const shop = await workshop(catalogAround([{ name: 't', order: [], fields, ...table }]), {
    'd/t.csv': 'n\n1\n',
  })
  await shop.ingest({ now: () => now })
  return shop
}

/** A service whose snapshots are loaded when the test says so. */
async function starting(shop: Workshop): Promise<Service & { readonly load: () => Promise<void> }> {
  const { store, catalog } = shop
  const log = openLog('silent')
  const snapshots = new Snapshots({ store, catalog, retention: { count: 2, graceMs: 0 }, log })
  const readiness = new Readiness(snapshots)
  const service = await serve(shop, { snapshots, readiness })
  const load = async (): Promise<void> => {
    await snapshots.refresh()
    readiness.loaded()
  }
  return { ...service, load }
}

test('a scrub reports its progress', async () => {
  const { store, catalog } = await published()
  let lines = ''
  const log = openLog('info', {}, { write: (line: string) => void (lines += line) })
  const snapshots = new Snapshots({ store, catalog, retention: { count: 2, graceMs: 0 }, log })
  await snapshots.refresh()
  const total = await snapshots.bytes()
  await new Scrub(snapshots, log).once(1)
  const reports = [...lines.matchAll(/"bytes":(\d+),"of":(\d+),"msg":"checking files"/g)]
  const read = reports.map(([, bytes]) => Number(bytes))
  expect(read.length).toBeGreaterThan(0)
  expect(read).toEqual(read.toSorted((a, b) => a - b))
  expect(reports.every(([, bytes, of]) => Number(of) === total && Number(bytes) <= total)).toBe(true)
  expect(lines).toContain('files checked')
})

describe('a service that starts', () => {
  let shop: Workshop
  beforeAll(async () => (shop = await published()))

  test('is live at once, reports what is missing, and is ready when everything is loaded', async () => {
    const { app, load } = await starting(shop)
    expect((await request(app).get('/livez').expect(200)).body).toEqual({ status: 'ok' })
    const early = await request(app).get('/readyz').expect(503).expect('Retry-After', '1')
    expect(early.body).toEqual({
      status: 'starting',
      missing: [{ table: 'd/t', why: 'it is being loaded' }],
    })
    const refused = await request(app).get('/api/v1/datasets/').expect(503).expect('Retry-After', '1')
    expect(refused.body).toMatchObject({ type: 'urn:acervo:problem:starting' })
    const waiting = request(app).get('/api/v1/datasets/').expect(200)
    await Promise.all([waiting, load()])
    expect((await request(app).get('/readyz').expect(200)).body).toEqual({ status: 'ready', missing: [] })
    await request(app).get(rows).expect(200)
  })

  test('loads requested tables first', async () => {
    const { app } = await starting(shop)
    await request(app).get(rows).expect(200)
    await request(app).get('/api/v1/dataset/d/').expect(200)
    await request(app).get('/files/d/t.csv.gz').expect(302)
    expect((await request(app).get('/readyz')).body).toEqual({ status: 'starting', missing: [] })
  })

  test('is not ready while a published table cannot be loaded, and stays ready if it fails later', async () => {
    const ownShop = await published()
    const home = path.join(ownShop.warehouse, 'd', 't')
    const { snapshot } = JSON.parse(await readFile(path.join(home, 'current.json'), 'utf8')) as {
      snapshot: string
    }
    const part = path.join(home, snapshot, 'part-00000.parquet')
    const [away, back] = [() => rename(part, `${part}.away`), () => rename(`${part}.away`, part)]
    await away()
    const { app, load } = await starting(ownShop)
    await load()
    const { body } = await request(app).get('/readyz').expect(503)
    expect(body).toEqual({
      status: 'starting',
      missing: [{ table: 'd/t', why: expect.stringMatching(/^part-00000\.parquet is missing/) }],
    })
    await back()
    const pointer = path.join(home, 'current.json')
    await writeFile(`${pointer}.new`, await readFile(pointer))
    await rename(`${pointer}.new`, pointer)
    await load()
    await request(app).get('/readyz').expect(200)
    await away()
    await load()
    await request(app).get('/readyz').expect(200)
    expect((await request(app).get('/health').expect(200)).body).toMatchObject({ status: 'degraded' })
  })

  test('is ready although some tables were never published', async () => {
    const { app, load } = await starting(await workshop(catalogAround([{ name: 't', order: [], fields }])))
    await load()
    await request(app).get('/readyz').expect(200)
  })
})

const dayMs = 86_400_000

testSampled<[refreshed: string | undefined, days: number, isStale: boolean]>([
  ['daily', 1.2, false],
  ['daily', 1.3, true],
  ['weekly', 8, false],
  ['weekly', 9, true],
  ['annual', 400, false],
  [undefined, 4000, false],
])(
  'a table that is refreshed %s, of a source %d days old, is stale: %s',
  async (refreshed, days, isStale) => {
    const imported = new Date(Date.now() - days * dayMs)
    const { app } = await serve(await published(refreshed === undefined ? {} : { refreshed }, imported))
    const stale = [{ table: 'd/t', refreshed, source_from: expect.any(String) }]
    expect((await request(app).get('/health').expect(200)).body).toMatchObject({
      status: isStale ? 'degraded' : 'ok',
      stale: isStale ? stale : [],
    })
  },
)

test.each<[title: string, table: { refreshed?: string; order?: string[] }, isTakenOver: boolean]>([
  ['as before', {}, true],
  ['as refreshed daily', { refreshed: 'daily' }, false],
  ['in another order', { order: ['n desc'] }, false],
])(
  'under a new catalog, a table declared %s is served by its new declaration',
  async (_what, tableKeys, isTakenOver) => {
    const shop = await published({}, new Date(Date.now() - 3 * dayMs))
    const { snapshots } = await serve(shop)
    const catalog = catalogAround([{ name: 't', order: [], fields, ...tableKeys }])
    const retention = { count: 2, graceMs: 0 }
    const log = openLog('silent')
    const after = new Snapshots({ store: shop.store, catalog, retention, log, previous: snapshots })
    const [table] = allTables(catalog) as [Table]
    // A table that was not reused has no snapshot until the first refresh.
    expect(after.current(table) !== null).toBe(isTakenOver)
    await after.refresh()
    expect(after.statuses.map(({ fault, refreshed }) => [fault, refreshed])).toEqual([
      [null, tableKeys.refreshed ?? null],
    ])
  },
)

test('a source that is converted again keeps its age', async () => {
  const shop = await published({ refreshed: 'daily' }, new Date(Date.now() - 4 * dayMs))
  await shop.write('d/t.csv', 'n\n1\n2\n')
  await shop.ingest({ now: () => new Date(Date.now() - 3 * dayMs) })
  expect(await shop.ingest({ now: () => new Date(), converter: 1000 })).toMatchObject([
    { status: 'published' },
  ])
  const { app } = await serve(shop)
  expect((await request(app).get('/health')).body).toMatchObject({ status: 'degraded' })
})

test('another check of the same source does not change its age', async () => {
  const shop = await published({ refreshed: 'daily' }, new Date(Date.now() - 3 * dayMs))
  await shop.ingest({ now: () => new Date() })
  const { app } = await serve(shop)
  expect((await request(app).get('/health')).body).toMatchObject({ status: 'degraded' })
  await shop.write('d/t.csv', 'n\n1\n2\n')
  await shop.ingest({ now: () => new Date() })
  const { app: later } = await serve(shop)
  expect((await request(later).get('/health')).body).toMatchObject({ status: 'ok', stale: [] })
})

testAll('a service that starts reports its progress with unverified files', async () => {
  const count = 60_000
  const lines = Array.from({ length: count }, (_, n) => `${n},${randomBytes(150).toString('base64')}`)
  const shop = await workshop(
    catalogAround([{ name: 't', order: [], fields: [...fields, fieldOf('s:string')] }]),
    { 'd/t.csv': `n,s\n${lines.join('\n')}\n` },
  )
  await shop.ingest()
  const home = path.join(shop.warehouse, 'd', 't')
  const { snapshot, parts } = JSON.parse(await readFile(path.join(home, 'current.json'), 'utf8')) as {
    snapshot: string
    parts: { file: string; bytes: number }[]
  }
  const files = ['t.csv.gz', ...parts.map(({ file }) => file)].map((file) => path.join(home, snapshot, file))
  for (const file of files) await utimes(file, new Date(0), new Date(0))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const { app, load } = await starting(shop)
  const said = new Set<string>()
  const at = { isOver: false }
  const loading = load().finally(() => (at.isOver = true))
  while (!at.isOver) {
    const { missing } = (await request(app).get('/readyz')).body as { missing: { why: string }[] }
    for (const { why } of missing) said.add(why)
  }
  await loading
  const again = [...said].filter((why) => why.startsWith('its files are being read again: '))
  expect(again[0]).toBe(`its files are being read again: 0 % of ${Math.ceil(bytes / 1e6)} MB`)
  expect(again.every((why) => /: \d\d? % of \d+ MB$/.test(why))).toBe(true)
  await request(app).get('/readyz').expect(200)
})
