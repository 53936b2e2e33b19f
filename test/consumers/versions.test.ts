import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import request from 'supertest'
import { quotedText } from '../../core/sql.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { publishViews } from '../../ingest/publish/views.ts'
import { describeWith, pythonClients } from '../support/needs.ts'
import { freePort } from '../support/ports.ts'
import { describeAll, isQuick } from '../support/runs.ts'
import { serve, type Service } from '../support/service.ts'
import { temporaryFolder, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'

/**
 * Versions of a table by the macros of `warehouse.duckdb`, in the DuckDB of this package, and in those of Python that the
 * docs promise. ACERVO_CLIENTS names the bin folder of a Python environment; those of other versions are beside it.
 */
const clients = process.env['ACERVO_CLIENTS'] ?? ''
const run = promisify(execFile)
const withClients = isQuick ? describeAll : describeWith(clients !== '' && existsSync(clients), pythonClients)

const sources = ['n,s\n1,a\n2,\n3,"x, ""y"""\n', 'n,s\n1,a\n4,new\n5,é\n6,f\n', 'n,s\n9,last\n8,more\n']
const moment = (index: number): Date => new Date(Date.UTC(2026, 0, 2 + index, 3, 4, 5))

let shop: Workshop
let service: Service
let server: http.Server
let base: string
const snapshots: string[] = []

beforeAll(async () => {
  const catalog = tinyCatalog(
    { fields: ['n:integer', 's:string'], order: ['n'] },
    { name: 'empty', fields: ['n:integer'], may_be_empty: true },
  )
  shop = await workshop(catalog, { 'd/empty.csv': 'n\n' })
  for (const [index, source] of sources.entries()) {
    await shop.write('d/t.csv', source)
    const [outcome] = await shop.ingest({ now: () => moment(index), partRows: 2 })
    if (outcome?.status !== 'published') throw new Error('not published')
    snapshots.push(outcome.manifest.snapshot)
  }
  await publishViews(shop.store, catalog)
  const port = await freePort()
  base = `http://127.0.0.1:${port}/files`
  service = await serve(shop, {
    publicUrl: new URL(base.replace('/files', '')),
    snapshotsKept: 10,
    snapshotGraceMs: 1e12,
  })
  server = http.createServer(service.app).listen(port, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Numbers of the rows that a version has by the API. */
async function pinned(snapshot: string): Promise<number[]> {
  const { body } = await request(service.app).get(`/api/v1/dataset/d/t/data/?snapshot=${snapshot}`)
  return (body as { results: { n: number }[] }).results.map(({ n }) => n)
}

/** The answer of a query on the views of a warehouse, or the message of its error. */
async function answered(sql: string, file: string, setup = 'select 1'): Promise<unknown[][] | string> {
  const instance = await DuckDBInstance.create()
  const db = await instance.connect()
  try {
    await db.run(`attach ${quotedText(file)} as acervo (read_only)`)
    await db.run(setup)
    return (await db.runAndReadAll(sql)).getRowsJson()
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
  } finally {
    db.closeSync()
    instance.closeSync()
  }
}

const numbers = (version: string): string => `select list(n order by n) from acervo.d.t_at(${version})`
const views = (): string => path.join(shop.warehouse, layout.views)
const none = 'Invalid Input Error: no version is kept that was published at or before'

test.each<[version: string, snapshot: number | string]>([
  [`'2026-01-02'`, 0],
  [`date '2026-01-03'`, 1],
  [`'2026-01-03 03:04:04'`, 0],
  [`'2026-01-03T03:04:05Z'`, 1],
  [`'2026-01-03 03:04'`, 1],
  [`timestamp '2026-01-04 03:04:04'`, 1],
  [`timestamp '2026-01-04 03:04:05'`, 2],
  [`'2026-01'`, 2],
  [`'2026'`, 2],
  [`'2030-01-01'`, 2],
  [`'2026-01-01'`, `${none} 2026-01-01: t_versions() lists the versions`],
  [`'2025'`, `${none} 2025: t_versions() lists the versions`],
  [
    `'20250101T000000Z-0123456789ab'`,
    'Invalid Input Error: not the id of a version, nor a time in UTC such as 2026-01-31: 20250101T000000Z-0123456789ab: t_versions() lists the versions',
  ],
  [
    `'2026-01-03T03:04:05-03:00'`,
    'Invalid Input Error: not the id of a version, nor a time in UTC such as 2026-01-31: 2026-01-03T03:04:05-03:00: t_versions() lists the versions',
  ],
])(
  'the DuckDB macro t_at(%s) reads the version of that time, or fails if there is none',
  async (version, due) => {
    const answers = await answered(numbers(version), views())
    const rows = typeof due === 'number' ? [[(await pinned(snapshots[due] ?? '')).map(String)]] : due
    expect(answers).toEqual(rows)
  },
)

test('the macro t_at() reads a version by its id, and t_versions() lists all versions', async () => {
  for (const snapshot of snapshots)
    expect(await answered(numbers(quotedText(snapshot)), views())).toEqual([
      [(await pinned(snapshot)).map(String)],
    ])
  expect(await answered('from acervo.d.t_versions()', views())).toEqual(
    snapshots.map((snapshot, index) => [snapshot, expect.any(String), String([3, 4, 2][index])]).toReversed(),
  )
})

test('a query of a version without rows fails, and the message names that version', async () => {
  expect(await answered(`from acervo.d.empty_at('2030')`, views())).toMatch(
    /^Invalid Input Error: the version \S+ of empty has no rows$/,
  )
})

test('a copy of the warehouse in another folder answers queries of its versions', async () => {
  const mirror = path.join(await temporaryFolder(), 'mirror')
  await cp(shop.warehouse, mirror, { recursive: true })
  const setup = `set variable acervo_files = ${quotedText(mirror)}`
  expect(await answered(numbers(`'2026-01-02'`), path.join(mirror, layout.views), setup)).toEqual([
    [['1', '2', '3']],
  ])
})

withClients('DuckDB in Python', () => {
  test.each([
    ['duckdb-oldest', '1.4.4'],
    ['duckdb-newest', '2.0.0'],
  ])('reads versions from a folder: %s', async (name, version) => {
    const script = `import duckdb; c = duckdb.connect('${views()}', read_only=True)
print(duckdb.__version__, c.sql("select count(*), max(n) from d.t_at('2026-01-03')").fetchall()[0], c.sql("select count(*), max(n) from d.t").fetchall()[0])`
    const { stdout } = await run(path.join(clients, '..', name, 'bin', 'python'), ['-c', script])
    expect(stdout.trim()).toBe(`${version} (4, 6) (2, 9)`)
  })

  test('reads versions over HTTP', async () => {
    const script = `import duckdb, duckdb_extension_httpfs as e, glob, os
c = duckdb.connect()
c.execute("load '" + glob.glob(os.path.join(os.path.dirname(e.__file__), 'extensions', '*', '*.duckdb_extension'))[0] + "'")
c.execute("attach '${base}/warehouse.duckdb' as acervo (read_only)")
for version in ${JSON.stringify(snapshots)}: print(c.execute("select list(n order by n) from acervo.d.t_at($1)", [version]).fetchone()[0])`
    const { stdout } = await run(path.join(clients, 'python'), ['-c', script])
    const due = await Promise.all(snapshots.map(pinned))
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as number[]),
    ).toEqual(due)
  })
})
