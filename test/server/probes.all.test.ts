import { randomBytes } from 'node:crypto'
import { readFile, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import request from 'supertest'
import { Readiness } from '../../server/snapshots/readiness.ts'
import { Snapshots } from '../../server/snapshots/snapshots.ts'
import { openLog } from '../../server/log.ts'
import { serve, type Service } from '../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../support/workshop.ts'

/** What those ask who keep the service running. */

const fields = [fieldOf('n:integer')]

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

test('a service that starts says how far it is with files that nobody has found whole as they are', async () => {
  const count = 60_000
  const lines = Array.from({ length: count }, (_, n) => `${n},${randomBytes(150).toString('base64')}`)
  const own = await workshop(
    catalogAround([{ name: 't', order: [], fields: [...fields, fieldOf('s:string')] }]),
    { 'd/t.csv': `n,s\n${lines.join('\n')}\n` },
  )
  await own.ingest()
  const home = path.join(own.warehouse, 'd', 't')
  const { snapshot, parts } = JSON.parse(await readFile(path.join(home, 'current.json'), 'utf8')) as {
    snapshot: string
    parts: { file: string; bytes: number }[]
  }
  const files = ['t.csv.gz', ...parts.map(({ file }) => file)].map((file) => path.join(home, snapshot, file))
  for (const file of files) await utimes(file, new Date(0), new Date(0))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const { app, load } = await starting(own)
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
