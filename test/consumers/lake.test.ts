import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import request from 'supertest'
import { layout } from '../../core/warehouse/layout.ts'
import { replaceSummed } from '../../core/warehouse/summed-files.ts'
import { publishLake, type LakeOutcome } from '../../ingest/publish/lake.ts'
import { publishViews } from '../../ingest/publish/views.ts'
import { faultOfSummed } from '../../ingest/verify/verify.ts'
import { freePort } from '../support/ports.ts'
import { rawGet, serve, type Service } from '../support/service.ts'
import { temporaryFolder, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import { describeWith, pythonClients } from '../support/needs.ts'
import { describeAll, isQuick } from '../support/runs.ts'

/**
 * The DuckLake that an ingest writes, and the views beside it, in DuckDB from Python: of the oldest and the newest version that is
 * promised. ACERVO_CLIENTS names the bin folder of a Python environment; those of other versions lie beside it.
 */
const clients = process.env['ACERVO_CLIENTS'] ?? ''
const python = path.join(clients, 'python')
const besides = (name: string): string => path.join(clients, '..', name, 'bin', 'python')
const hasClients = clients !== '' && existsSync(besides('duckdb-oldest'))
const run = promisify(execFile)
const moment = (index: number): Date => new Date(Date.UTC(2026, 0, 2 + index, 3, 4, 5))
/** All of them stay. */
const retention = { count: 10, graceMs: 1e12 }
const withClients = isQuick ? describeAll : describeWith(hasClients, pythonClients)

test('without the extension there is a line, and no lake', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
  await shop.ingest()
  // No home folder has it for a version that is none.
  const home = process.env['HOME']
  process.env['HOME'] = await temporaryFolder()
  try {
    const outcome = await publishLake(shop.store, shop.catalog, {
      extension: '',
      filesAddress: 'http://localhost:8000/files',
      now: new Date(),
    })
    expect(outcome).toEqual({
      status: 'skipped',
      reason: "DuckDB's extension ducklake for v1.5.5 is not here; DUCKLAKE_EXTENSION may name its file",
    })
    expect(await shop.store.get(layout.lake)).toBeNull()
  } finally {
    process.env['HOME'] = home
  }
  const { app } = await serve(shop)
  const { status, body } = await request(app).get('/files/acervo.ducklake')
  expect([status, (body as { type: string }).type]).toEqual([404, 'urn:acervo:problem:unknown-address'])
})

test('a lake that is not the one that an ingest wrote is not given out, and verify reports it', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
  await shop.ingest()
  const { app } = await serve(shop)
  const file = path.join(await temporaryFolder(), 'draft')
  const answered = async (): Promise<[status: number, body: string, fault: string | null]> => {
    const { status, body } = await rawGet(app, '/files/acervo.ducklake')
    return [status, body.toString(), await faultOfSummed(shop.store, layout.lake)]
  }
  const fault = 'it is not as it was written: `make ingest` makes it anew'
  for (const text of ['first', 'second']) {
    await writeFile(file, text)
    await replaceSummed(shop.store, file, layout.lake)
    expect(await answered()).toEqual([200, text, null])
    // A byte is changed, the file is cut off, or another one is put there.
    for (const other of [text.replace(/./, 'x'), text.slice(1), `${text} and more`]) {
      await shop.store.put(layout.lake, other)
      expect(await answered()).toEqual([503, expect.stringContaining('damaged-files'), fault])
    }
  }
  await shop.store.remove(layout.sumOf(layout.lake))
  await shop.store.put(layout.lake, 'first')
  expect(await answered()).toEqual([503, expect.stringContaining('damaged-files'), fault])
  // A mirror brings the sum after the lake.
  const sum = createHash('sha256').update('first').digest('hex')
  await shop.store.put(layout.sumOf(layout.lake), `${sum}  ${layout.lake}\n`)
  expect(await answered()).toEqual([200, 'first', null])
})

withClients('a lake of three snapshots', () => {
  interface Found {
    readonly client: string
    readonly versions: readonly (readonly [version: number, time: string, message: string | null])[]
    readonly rows: Readonly<Record<string, readonly (readonly (string | null)[])[]>>
    readonly times: Readonly<Record<string, number>>
    readonly now: readonly (readonly (string | null)[])[]
    readonly comments: readonly (readonly string[])[]
    readonly files_read: readonly (readonly number[])[]
    readonly refused: readonly string[]
  }

  let shop: Workshop
  let service: Service
  let server: http.Server
  let base: string
  let extension: string
  const snapshots: string[] = []
  const written: LakeOutcome[] = []
  const sources = [
    'n,s,d,day,yes\n1,a,1.50,2020-01-01,true\n2,,-2.25,,false\n3,"x, ""y""",3.00,2020-01-03,\n',
    'n,s,d,day,yes\n1,a,1.50,2020-01-01,true\n4,new,4.00,2020-01-04,true\n5,é,,2020-01-05,false\n6,f,6.00,,\n',
    'n,s,d,day,yes\n9,last,9.99,2021-12-31,false\n8,more,8.00,2021-12-30,true\n',
  ]
  async function lake(): Promise<LakeOutcome> {
    return publishLake(shop.store, shop.catalog, {
      extension,
      filesAddress: `${base}/files`,
      now: new Date(),
    })
  }

  async function opened(program: string, ...args: readonly string[]): Promise<Found> {
    const { stdout } = await run(program, [path.resolve('test/consumers/lake.py'), ...args], {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    return JSON.parse(stdout) as Found
  }

  /** All rows of a snapshot by the API, as DuckDB writes values as texts. */
  async function pinned(snapshot: string): Promise<(string | null)[][]> {
    const { text } = await request(service.app).get(
      `/api/v1/dataset/d/t/data/?snapshot=${snapshot}&format=csv&page_size=10000&ordering=n`,
    )
    const [header = [], ...records] = parse(text)
    const order = ['n', 's', 'd', 'day', 'yes'].map((name) => header.indexOf(name))
    return records.map((record) =>
      order.map((index) => (record[index] === '' ? null : (record[index] ?? null))),
    )
  }

  beforeAll(async () => {
    const { stdout } = await run(python, [
      '-c',
      'import duckdb_extension_ducklake as e, glob, os; print(glob.glob(os.path.join(os.path.dirname(e.__file__), "extensions", "*", "*.duckdb_extension"))[0])',
    ])
    extension = stdout.trim()
    const catalog = tinyCatalog(
      { fields: ['n:integer', 's:string', 'd:decimal:6:2', 'day:date', 'yes:bool'], order: ['n'] },
      { name: 'other', fields: ['n:integer'], may_be_empty: true },
    )
    shop = await workshop(catalog, { 'd/other.csv': 'n\n7\n' })
    const port = await freePort()
    base = `http://127.0.0.1:${port}`
    for (const [index, source] of sources.entries()) {
      await shop.write('d/t.csv', source)
      const [outcome] = await shop.ingest({ now: () => moment(index), acceptsDrift: true, partRows: 2 })
      if (outcome?.status !== 'published') throw new Error('not published')
      snapshots.push(outcome.manifest.snapshot)
      written.push(await lake())
    }
    written.push(await lake())
    await publishViews(shop.store, catalog)
    service = await serve(shop, { publicUrl: new URL(base), filesAddress: `${base}/files`, retention })
    server = http.createServer(service.app).listen(port, '127.0.0.1')
    await once(server, 'listening')
  }, 120_000)
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('has a commit a snapshot, and none where nothing changed', () => {
    const commits = [2, 1, 1].map((count) => ({ status: 'written', commits: count }))
    expect(written).toEqual([...commits, { status: 'unchanged' }])
  })

  test('has the rows of the pinned pages in each version, over HTTP, and by its time', async () => {
    const found = await opened(python, `${base}/files/acervo.ducklake`, 'd.t')
    const messages = snapshots.map((snapshot) => `d/t ${snapshot}`)
    for (const [index, message] of messages.entries()) {
      expect(found.rows[message]).toEqual(await pinned(snapshots[index] ?? ''))
      const [, time = ''] = found.versions.find(([, , told]) => told === message) ?? []
      expect(new Date(`${time.replace(' ', 'T')}:00`)).toEqual(moment(index))
    }
    expect(found.times).toMatchObject(
      Object.fromEntries(messages.map((message, index) => [message, [3, 4, 2][index]])),
    )
    expect(found.now).toEqual(await pinned(snapshots[2] ?? ''))
    expect(found.comments.flat()[0]).toMatch(/^D: t\. Source: N \(https:\/\/example\.org\/\)\./)
    expect(found.comments).toHaveLength(6)
    // Of its parts one has such a row, by the statistics of the lake.
    const [[all = 0] = [], some] = found.files_read
    expect([all > 1, some]).toEqual([true, [1]])
    expect(found.refused).toEqual(['InvalidInputException', 'InvalidInputException'])
  }, 120_000)

  test('is opened by the oldest client that is promised', async () => {
    const found = await opened(besides('duckdb-oldest-lake'), `${base}/files/acervo.ducklake`, 'd.t')
    expect(found.client).toBe('1.5.2')
    expect(found.now).toEqual(await pinned(snapshots[2] ?? ''))
  }, 120_000)

  test('a mirror of the files works with another data path', async () => {
    const mirror = await temporaryFolder()
    await cp(shop.warehouse, mirror, { recursive: true })
    await writeFile(
      path.join(mirror, 'lake.ducklake'),
      await readFile(path.join(shop.warehouse, layout.lake)),
    )
    const found = await opened(python, path.join(mirror, 'lake.ducklake'), 'd.t', `${mirror}/`)
    expect(snapshots.map((snapshot) => found.rows[`d/t ${snapshot}`]?.length)).toEqual([3, 4, 2])
  }, 120_000)

  test('the views are opened by the oldest client and by the newest', async () => {
    for (const [name, version] of [
      ['duckdb-oldest', '1.4.4'],
      ['duckdb-newest', '2.0.0'],
    ] as const) {
      const script = `import duckdb; c = duckdb.connect('${path.join(shop.warehouse, layout.views)}', read_only=True)
print(duckdb.__version__, c.sql('select count(*), max(n) from d.t').fetchall()[0])`
      const { stdout } = await run(besides(name), ['-c', script])
      expect(stdout.trim()).toBe(`${version} (2, 9)`)
    }
  }, 120_000)

  test('a damaged lake is made anew of what is kept', async () => {
    const file = path.join(shop.warehouse, layout.lake)
    const bytes = await readFile(file)
    const flipped = bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte))
    for (const damage of ['no lake', flipped]) {
      await writeFile(file, damage)
      expect(await lake()).toEqual({ status: 'written', commits: 4 })
    }
    const found = await opened(python, `${base}/files/acervo.ducklake`, 'd.t')
    expect(found.now).toEqual(await pinned(snapshots[2] ?? ''))
  }, 120_000)
})
