import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { oneTable, rows, type OneTable } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { run, startServer } from './support/programs.ts'
import { isQuick, testAll } from './support/runs.ts'
import { until } from './support/until.ts'
import { temporaryFolder } from './support/workshop.ts'

/** Metrics of the programs for operators, in the format of Prometheus. */

let table: OneTable
let settings: Readonly<Record<string, string>>
beforeAll(async () => {
  table = await oneTable('n\n1\n2\n', ['n:integer'], { table: { refreshed: 'daily' } })
  settings = table.settings
}, 60_000)

/** Samples by name and labels, such as `acervo_ready` or `up{job="x"}`. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

/** The counters, which only requests and queries may increase. */
const counted = (samples: Map<string, number>): object =>
  Object.fromEntries([...samples].filter(([name]) => /^acervo_\w+_(total|count|sum)\b/.test(name)))

async function scraped(port: number): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return samplesOf(await answer.text())
}

testAll.each([1, 2])(
  '%d workers report metrics on a port of their own',
  async (workers) => {
    const metrics = await freePort()
    const started = performance.now()
    const server = await startServer({
      ...settings,
      WORKERS: String(workers),
      METRICS_PORT: String(metrics),
      RATE_LIMITS: 'on',
    })
    if (workers > 1) await server.says('"all workers started"')
    const get = (address: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${server.port}${address}`, { headers: { Connection: 'close' } })
    const statuses: number[] = []
    const began = performance.now()
    for (const address of [
      rows,
      `${rows}?format=arrow`,
      `${rows}?page=9`,
      `${rows}?n=1`,
      '/nothing/',
      '/metrics',
    ]) {
      const answer = await get(address)
      await answer.arrayBuffer()
      statuses.push(answer.status)
    }
    // The third and the fourth are past the limit of rows: 2 in a minute.
    expect(statuses).toEqual([200, 200, 429, 429, 404, 404])
    const askedSeconds = (performance.now() - began) / 1000
    const series = await scraped(metrics)
    expect(Object.fromEntries(series)).toMatchObject({
      'acervo_requests_total{route="Table Rows",status="200",class="rows"}': 2,
      'acervo_requests_total{route="Table Rows",status="429",class="rows"}': 2,
      'acervo_requests_total{route="none",status="404",class="catalog"}': 2,
      'acervo_request_seconds_count{route="Table Rows"}': 4,
      'acervo_refusals_total{reason="too-many-requests"}': 2,
      'acervo_refusals_total{reason="unknown-address"}': 2,
      'acervo_refusals_total{reason="internal-error"}': 0,
      'acervo_query_seconds_count{pool="pages"}': expect.any(Number),
      'acervo_queue_wait_seconds_count{pool="pages"}': expect.any(Number),
      'acervo_queue_length{pool="pages"}': 0,
      'acervo_queue_length{pool="scans"}': 0,
      'acervo_cache_misses_total{cache="answers"}': 3,
      'acervo_cache_entries{cache="selections"}': 0,
      acervo_ready: 1,
      acervo_rate_limit_store_up: 1,
      acervo_connections: expect.any(Number),
      acervo_catalog_faulty: 0,
      'acervo_table_faulty{table="d/t"}': 0,
      'acervo_table_stale{table="d/t"}': 0,
      ...(workers > 1 && { acervo_workers: 2, acervo_workers_wanted: 2, acervo_worker_deaths_total: 0 }),
    })
    // One after the other they took no longer than all of this.
    const taken = series.get('acervo_request_seconds_sum{route="Table Rows"}') ?? Infinity
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThan(askedSeconds)
    // Reading the metrics increases no counter.
    expect(counted(await scraped(metrics))).toEqual(counted(series))
    // Each worker has two connections, so queries take no longer than that since the start.
    const seconds = (name: string): number => series.get(`acervo_${name}_seconds_sum{pool="pages"}`) ?? NaN
    const most = (2 * workers * (performance.now() - started)) / 1000
    expect([seconds('query') > 0, seconds('query') < most, seconds('queue_wait') < most]).toEqual([
      true,
      true,
      true,
    ])
    const age = series.get('acervo_snapshot_age_seconds{table="d/t"}') ?? -1
    expect(age).toBeGreaterThan(0)
    expect(age).toBeLessThan(600)
    expect(series.get('acervo_event_loop_delay_seconds')).toBeGreaterThan(0)
    expect(series.get('process_resident_memory_bytes')).toBeGreaterThan(5e7)
    expect((await fetch(`http://127.0.0.1:${metrics}/`)).status).toBe(404)
  },
  60_000,
)

describe('an ingest', () => {
  let environment: Record<string, string>
  const file = (): string => path.join(environment['SOURCES'] ?? '', 'd', 't.csv')
  const left = async (): Promise<Record<string, number>> =>
    Object.fromEntries(samplesOf(await readFile(environment['METRICS_FILE'] ?? '', 'utf8')))

  beforeAll(async () => {
    const place = await temporaryFolder()
    await mkdir(path.join(place, 'sources', 'd'), { recursive: true })
    await mkdir(path.join(place, 'collector'))
    environment = {
      ...settings,
      SOURCES: path.join(place, 'sources'),
      WAREHOUSE: path.join(place, 'warehouse'),
      METRICS_FILE: path.join(place, 'collector', 'acervo.prom'),
    }
  })

  test('writes the state of all tables for a collector, whichever tables it ingested', async () => {
    const began = Date.now() / 1000
    await writeFile(file(), 'n\n1\n2\n3\n')
    expect((await run('ingest', [], environment)).code).toBe(0)
    const first = await left()
    expect(first).toMatchObject({
      'acervo_ingest_rows{table="d/t"}': 3,
      'acervo_ingest_rejected_rows{table="d/t"}': 0,
      'acervo_ingest_step_seconds{table="d/t",step="reading"}': expect.any(Number),
      'acervo_ingest_step_seconds{table="d/t",step="packing"}': expect.any(Number),
      'acervo_ingest_failing{table="d/t"}': 0,
      'acervo_ingest_last_run_tables{outcome="published"}': 1,
      'acervo_ingest_last_run_tables{outcome="failed"}': 0,
    })
    const success = 'acervo_ingest_last_success_timestamp_seconds{table="d/t"}'
    expect(first[success]).toBeGreaterThanOrEqual(Math.floor(began))

    await writeFile(file(), 'n\nnone\n')
    expect((await run('ingest', [], environment)).code).toBe(1)
    const failed = await left()
    expect(failed).toMatchObject({
      'acervo_ingest_rows{table="d/t"}': 3,
      'acervo_ingest_failing{table="d/t"}': 1,
      'acervo_ingest_last_run_tables{outcome="failed"}': 1,
    })
    expect(failed[success]).toBe(first[success])

    // The collector is another user.
    expect((await stat(environment['METRICS_FILE'] ?? '')).mode & 0o777).toBe(0o644)
    // No half-written file is left beside it.
    expect(await readdir(path.dirname(environment['METRICS_FILE'] ?? ''))).toEqual(['acervo.prom'])
    if (isQuick) return
    await writeFile(file(), 'n\n1\n2\n3\n')
    await run('ingest', [], environment)
    const again = await left()
    expect(again).toMatchObject({
      'acervo_ingest_failing{table="d/t"}': 0,
      'acervo_ingest_last_run_tables{outcome="unchanged"}': 1,
    })
    expect(again[success]).toBeGreaterThan(first[success] ?? Infinity)
  }, 60_000)

  testAll('that cannot write its metrics reports that, and fails', async () => {
    const { code, err } = await run('ingest', [], { ...settings, METRICS_FILE: '/nowhere/acervo.prom' })
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^the tables are as reported above, but METRICS_FILE \(\/nowhere\/acervo\.prom\) was not written: ENOENT/,
      ),
    ])
  })
})

testAll(
  'a table with damaged files is reported as faulty',
  async () => {
    const oneTableShop = await oneTable('n\n1\n', ['n:integer'])
    const place = path.join(oneTableShop.settings['WAREHOUSE'] ?? '', 'd', 't')
    const snapshot = (await readdir(place)).find((name) => name !== 'current.json') ?? ''
    await writeFile(path.join(place, snapshot, 'part-00000.parquet'), 'not what was written')
    const metrics = String(await freePort())
    await startServer({ ...oneTableShop.settings, METRICS_PORT: metrics })
    expect(Object.fromEntries(await scraped(Number(metrics)))).toMatchObject({
      'acervo_table_faulty{table="d/t"}': 1,
      acervo_ready: 0,
    })
  },
  60_000,
)

testAll(
  'metrics are served only if a port is set, and an occupied port is reported',
  async () => {
    const server = await startServer(settings)
    expect(server.log()).not.toContain('metrics')
    const { code, err } = await run('server/process/main', [], {
      ...settings,
      PORT: String(await freePort()),
      METRICS_PORT: String(server.port),
    })
    expect([code, (JSON.parse(err) as { msg: string }).msg]).toEqual([
      1,
      `cannot listen on 127.0.0.1:${server.port}: the port is in use; set METRICS_PORT to another`,
    ])
  },
  60_000,
)

testAll(
  'a declared mask is reported as missing until an ingest applies it, and so is a faulty catalog',
  async () => {
    const { settings: masked } = await oneTable('cpf\n12345678909\n', ['cpf:string'])
    const catalogFile = masked['CATALOG'] ?? ''
    const text = await readFile(catalogFile, 'utf8')
    const metrics = await freePort()
    const { port } = await startServer({
      ...masked,
      METRICS_PORT: String(metrics),
      CATALOG_POLL_SECONDS: '1',
    })
    const reported = async (): Promise<object> => {
      const { status, catalog_fault, faults } = (await (
        await fetch(`http://127.0.0.1:${port}/health`)
      ).json()) as { status: string; catalog_fault: string | null; faults: { fault: string }[] }
      const samples = await scraped(metrics)
      return {
        status,
        isCatalogFaulty: catalog_fault !== null,
        faults: faults.map(({ fault }) => fault),
        metrics: [samples.get('acervo_catalog_faulty'), samples.get('acervo_table_faulty{table="d/t"}')],
      }
    }
    const reports = async (expected: object): Promise<void> => {
      await until(async () => isDeepStrictEqual(await reported(), expected)).catch(() => undefined)
      expect(await reported()).toEqual(expected)
    }
    const healthy = { status: 'ok', isCatalogFaulty: false, faults: [], metrics: [0, 0] }
    await reports(healthy)

    await writeFile(catalogFile, '{')
    await reports({ ...healthy, status: 'degraded', isCatalogFaulty: true, metrics: [1, 0] })

    await writeFile(catalogFile, text.replace('"name":"cpf"', '"name":"cpf","mask":"cpf"'))
    await reports({
      ...healthy,
      status: 'degraded',
      faults: ['it is served without the declared mask of "cpf": `acervo ingest d/t` publishes it again'],
      metrics: [0, 1],
    })

    expect((await run('ingest', [], masked)).code).toBe(0)
    await reports(healthy)
    expect(await (await fetch(`http://127.0.0.1:${port}${rows}`)).json()).toMatchObject({
      results: [{ cpf: '***456789**' }],
    })
  },
  60_000,
)
