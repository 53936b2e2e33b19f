import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { numbered, oneTable, startWorkers } from './support/one-table.ts'
import { run, startServer } from './support/programs.ts'
import { testAll } from './support/runs.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'
import { catalogAround, catalogText, fieldOf, workshop } from './support/workshop.ts'

const table = (name: string, tableKeys: object = {}): object => ({
  name,
  order: ['n asc'],
  fields: ['n:integer', 'city:string'].map(fieldOf),
  ...tableKeys,
})

/** A catalog, and a warehouse in which its tables are published. */
async function home(...tables: readonly object[]) {
  const rows = 'n,city\n1,Rio\n2,Salvador\n'
  const shop = await workshop(catalogAround(tables), { 'd/a.csv': rows, 'd/b.csv': rows })
  await shop.ingest()
  const file = path.join(path.dirname(shop.warehouse), 'catalog.yaml')
  const write = async (text: string): Promise<void> => {
    await writeFile(`${file}.next`, text)
    await rename(`${file}.next`, file)
  }
  await write(catalogText(tables))
  return { settings: { CATALOG: file, SOURCES: shop.sources, WAREHOUSE: shop.warehouse }, write }
}

const statusOf = async (port: number, address: string): Promise<number> =>
  (await fetch(`http://localhost:${port}${address}`)).status

const data = (name: string, query = ''): string => `/api/v1/dataset/d/${name}/data/${query}`

const readerCount = 100

testAll(
  'a changed catalog is served without a restart, and no request of many readers fails',
  async () => {
    const { settings, write } = await home(table('a'), table('b'))
    await write(catalogText([table('a')]))
    const server = await startServer({ ...settings, CATALOG_POLL_SECONDS: '1' })
    const { port } = server
    expect(await statusOf(port, data('b'))).toBe(404)
    const readers = new AbortController()
    let asked = 0
    const failed: unknown[] = []
    const reading = Array.from({ length: readerCount }, async (_, reader) => {
      for (let ask = 0; !readers.signal.aborted; ask += 1) {
        const query = ask % 3 === 0 ? '' : `?city__contains=r${reader}${ask}`
        const status = await statusOf(port, data('a', query)).catch((error: unknown) => error)
        asked += 1
        if (status !== 200) failed.push(status)
        await wait(20)
      }
    })
    const catalogs = [[table('a'), table('b')], [table('a', { description: 'A' })], [table('b'), table('a')]]
    for (const tables of catalogs) {
      const taken = server.log().split('catalog reloaded').length
      await write(catalogText(tables))
      for (let tries = 0; tries < 200 && server.log().split('catalog reloaded').length === taken; tries += 1)
        await wait(50)
    }
    readers.abort()
    await Promise.all(reading)
    expect(failed).toEqual([])
    expect(asked).toBeGreaterThan(3 * readerCount)
    expect(server.log().split('catalog reloaded')).toHaveLength(1 + catalogs.length)
    expect(await statusOf(port, data('b'))).toBe(200)
    process.kill(server.pid, 'SIGTERM')
    await expect(server.ended).resolves.toMatchObject({ code: 0 })
  },
  60_000,
)

testAll(
  'a field that is added to the catalog is served only after its publication, while the other fields are served all the time',
  async () => {
    const { settings, write } = await home(table('a'))
    const wider = table('a', {
      fields: ['uf:string', 'city:string', 'n:integer'].map(fieldOf),
      order: ['uf asc', 'n desc'],
      filters: ['uf', 'n'],
      default_columns: ['uf', 'n'],
      default_filter: { uf: 'RJ' },
      chart: { group: ['uf'], measure: 'n__sum' },
    })
    const begin = () => startServer({ ...settings, CATALOG_POLL_SECONDS: '0' })
    const first = await begin()
    await write(catalogText([wider]))
    process.kill(first.pid, 'SIGHUP')
    await first.says('catalog reloaded')
    // One that starts with the new catalog does the same, before it is ready.
    const servers = [first, await begin()]
    const without = {
      rows: [
        { city: 'Rio', n: 1 },
        { city: 'Salvador', n: 2 },
      ],
      ofUf: 400,
      fields: ['n', 'city'],
      order: ['n'],
      isShown: false,
      pages: [200, 200],
      status: 'degraded',
      fault:
        'it is served without "uf", declared after it was published: `acervo ingest d/a` publishes it again',
    }
    for (const { port } of servers) expect(await standOf(port)).toEqual(without)
    await writeFile(path.join(settings.SOURCES, 'd', 'a.csv'), 'n,city,uf\n1,Rio,RJ\n2,Salvador,BA\n')
    await run('ingest', [], settings)
    const whole = {
      rows: [
        { city: 'Salvador', n: 2, uf: 'BA' },
        { city: 'Rio', n: 1, uf: 'RJ' },
      ],
      ofUf: 200,
      fields: ['uf', 'city', 'n'],
      order: ['uf', 'n'],
      isShown: true,
      pages: [200, 200],
      status: 'ok',
      fault: undefined,
    }
    for (const { port, pid, ended, log } of servers) {
      await until(async () => (await standOf(port)).status === 'ok')
      expect(await standOf(port)).toEqual(whole)
      process.kill(pid, 'SIGTERM')
      expect(await ended).toMatchObject({ code: 0 })
      expect(
        log()
          .split('\n')
          .filter((line) => /"level":[56]0/.test(line)),
      ).toEqual([])
      expect(log().match(/"published with other fields; adapting the catalog"/g)).toHaveLength(1)
    }
  },
  60_000,
)

test('a table whose field gets another type is reported with the command that publishes it', async () => {
  const { settings, write } = await home(table('a'))
  const { port, says, pid } = await startServer({ ...settings, CATALOG_POLL_SECONDS: '0' })
  await write(catalogText([table('a', { fields: ['n:string', 'city:string'].map(fieldOf) })]))
  process.kill(pid, 'SIGHUP')
  await says('catalog reloaded')
  const health = async (): Promise<unknown> => (await fetch(`http://localhost:${port}/health`)).json()
  const command = 'ingest --accept-drift d/a'
  expect(await statusOf(port, data('a'))).toBe(503)
  expect(await health()).toMatchObject({
    status: 'degraded',
    published: 0,
    unpublished: 0,
    faults: [
      { table: 'd/a', fault: `its fields differ from the catalog: \`acervo ${command}\` publishes it again` },
    ],
  })
  const [verb = '', ...args] = command.split(' ')
  await run(verb, args, settings)
  await until(async () => (await statusOf(port, data('a'))) === 200)
  expect(await health()).toMatchObject({ status: 'ok', published: 1 })
  process.kill(pid, 'SIGTERM')
}, 60_000)

/** The rows of the table, whether it can be asked by `uf`, its fields, and how the server says that it is. */
async function standOf(port: number) {
  const json = async (target: string): Promise<unknown> =>
    (await fetch(`http://localhost:${port}${target}`)).json()
  const { results } = (await json(data('a'))) as { results: unknown }
  const { fields, order } = (await json('/api/v1/dataset/d/a/')) as Record<
    'fields' | 'order',
    { field: string; name: string }[]
  >
  const page = await fetch(`http://localhost:${port}/pt/dataset/d/a/fields/`, {
    headers: { Accept: 'text/html' },
  })
  const shown = await page.text()
  const { status, faults } = (await json('/health')) as { status: string; faults: { fault: string }[] }
  return {
    rows: results,
    ofUf: await statusOf(port, data('a', '?uf=RJ')),
    fields: fields.map(({ name }) => name),
    order: order.map(({ field }) => field),
    isShown: />uf</.test(shown),
    pages: [await statusOf(port, '/pt/dataset/d/a/'), await statusOf(port, '/pt/dataset/d/a/chart/')],
    status,
    fault: faults[0]?.fault,
  }
}

const limited = (tables: readonly object[], requests: number): string =>
  catalogText(tables).replace(/"rows":\[[^\]]*\]/, `"rows":[{"requests":${requests},"per":"1h"}]`)

const faultIn = async (port: number): Promise<unknown> =>
  ((await (await fetch(`http://localhost:${port}/health`)).json()) as Record<string, unknown>)[
    'catalog_fault'
  ]

testAll(
  'a faulty catalog is reported, and the previous one is served; SIGHUP reloads it at once',
  async () => {
    const { settings, write } = await home(table('a'), table('b'))
    const server = await startServer({ ...settings, CATALOG_POLL_SECONDS: '0' })
    const { pid, port } = server
    const good = catalogText([table('a')])
    await write(good.replace('"integer"', '"whole"'))
    process.kill(pid, 'SIGHUP')
    await server.says('catalog rejected; still using the previous one')
    expect(server.log()).toMatch(/catalog\.yaml:\d+:\d+: \\"type\\" is \\"whole\\", which is not one of/)
    expect(await faultIn(port)).toBe(
      'the current catalog has errors, which are in the log; the previous one is used',
    )
    expect(await statusOf(port, data('b'))).toBe(200)
    await write(good)
    process.kill(pid, 'SIGHUP')
    await server.says('catalog reloaded')
    expect([await faultIn(port), await statusOf(port, data('a')), await statusOf(port, data('b'))]).toEqual([
      null,
      200,
      404,
    ])
    process.kill(pid, 'SIGHUP')
    await server.says('catalog unchanged')
    expect(await statusOf(port, data('a'))).toBe(200)
  },
  60_000,
)

testAll(
  'changed settings are checked anew, and unchanged limits continue to count',
  async () => {
    const { settings, write } = await home(table('a'))
    await write(limited([table('a')], 3))
    const server = await startServer({ ...settings, CATALOG_POLL_SECONDS: '0', RATE_LIMITS: 'on' })
    const { pid, port } = server
    const statuses = async (): Promise<number[]> => [
      await statusOf(port, data('a')),
      await statusOf(port, data('a')),
    ]
    expect(await statuses()).toEqual([200, 200])
    // The fields differ from the published ones.
    await write(limited([table('a', { fields: ['n:integer', 'town:string'].map(fieldOf) })], 3))
    process.kill(pid, 'SIGHUP')
    await server.says('catalog reloaded')
    // A table that waits for its ingest takes no server out of service.
    expect(await statusOf(port, '/readyz')).toBe(200)
    expect((await statuses())[1]).toBe(429)
    await write(limited([table('a')], 5))
    process.kill(pid, 'SIGHUP')
    for (let tries = 0; tries < 200 && server.log().split('catalog reloaded').length < 3; tries += 1)
      await wait(50)
    expect(await statuses()).toEqual([200, 200])
  },
  60_000,
)

testAll(
  'several workers are replaced when the catalog changes, and a catalog that no worker can load is reported',
  async () => {
    const { settings, write } = await home(table('a'), table('b'))
    await write(catalogText([table('a')]))
    const server = await startServer({ ...settings, CATALOG_POLL_SECONDS: '1', WORKERS: '2' })
    await server.says('all workers started')
    await write(catalogText([table('a'), table('b')]))
    await server.says('all workers replaced', 20_000)
    expect(await statusOf(server.port, data('b'))).toBe(200)
    expect(await faultIn(server.port)).toBe(null)
    await write('title: T')
    await server.says('new worker failed to start', 20_000)
    await until(async () => (await faultIn(server.port)) !== null)
    expect(await faultIn(server.port)).toBe(
      'no worker starts with the current catalog, for a reason that is in the log; the previous one is used',
    )
    expect(await statusOf(server.port, data('b'))).toBe(200)
    process.kill(server.pid, 'SIGTERM')
    await server.ended
  },
  60_000,
)

const oneTableToReload = () =>
  oneTable(
    numbered(5000, 'n,s', (n) => [`text ${n} `.repeat(5)]),
    ['n:integer', 's:string'],
    {
      table: { filters: ['n', 's'] },
      catalog: { limits: { rows: [{ requests: 100_000, per: '1m' }], catalog: [] } },
    },
  )

testAll(
  'the heap does not grow with the number of reloads',
  async () => {
    const { settings } = await oneTableToReload()
    const text = await readFile(settings['CATALOG'] ?? '', 'utf8')
    const program = await run('test/support/reload-heap', [], {
      ...settings,
      CATALOG_TEXT: text,
      RELOADS: '31',
    })
    expect(program.err).toBe('')
    expect(program.out.split('\n').filter((line) => line.startsWith('{'))).toEqual([])
    const [early = 0, late = Infinity] = JSON.parse(program.out) as number[]
    expect(late / early).toBeLessThan(1.2)
  },
  120_000,
)

/** Resident memory of a process, in KiB. */
const memoryOf = async (pid: number): Promise<number> =>
  Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])

testAll(
  'with several workers, memory does not grow with the number of reloads either',
  async () => {
    const { settings } = await oneTableToReload()
    const file = settings['CATALOG'] ?? ''
    const catalog = JSON.parse(await readFile(file, 'utf8')) as object
    const server = await startWorkers({ ...settings, CATALOG_POLL_SECONDS: '0' }, 2)
    const used: { primary: number; workers: number }[] = []
    // Each takes seconds, since new processes replace the workers.
    for (let reload = 0; reload < 9; reload += 1) {
      const replacements = server.log().split('"all workers replaced"').length
      await writeFile(`${file}.next`, JSON.stringify({ ...catalog, title: `Catalog ${reload}` }))
      await rename(`${file}.next`, file)
      process.kill(server.pid, 'SIGHUP')
      // Two processes start one after the other, beside all other tests.
      await until(() => server.log().split('"all workers replaced"').length > replacements, 60_000)
      // The replaced ones still end.
      await until(() => workersOf(server.pid).length === 2)
      for (let request = 0; request < 8; request += 1)
        expect(await statusOf(server.port, data('t'))).toBe(200)
      const workers = await Promise.all(workersOf(server.pid).map(memoryOf))
      used.push({
        primary: await memoryOf(server.pid),
        workers: workers.reduce((sum, bytes) => sum + bytes, 0),
      })
    }
    const [early, late] = [used[2], used[8]]
    expect((late?.primary ?? Infinity) / (early?.primary ?? 0)).toBeLessThan(1.2)
    expect((late?.workers ?? Infinity) / (early?.workers ?? 0)).toBeLessThan(1.2)
  },
  300_000,
)
