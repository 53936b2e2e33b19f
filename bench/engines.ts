import { existsSync } from 'node:fs'
import path from 'node:path'
import { allTables } from '../core/catalog/catalog.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import { ClickHouse } from '../core/clickhouse/link.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { fillClickHouse } from '../ingest/job/fill-clickhouse.ts'
import { silentProgress } from '../ingest/base/progress.ts'
import { hasClickHouse, spawnClickHouse } from '../test/components/clickhouse-process.ts'
import { bareLine, type Bench, type Line } from './cases.ts'
import { linkTables } from './linked.ts'
import { median } from './median.ts'
import { startService, type Server } from './servers.ts'

const rows = 100_000_000
const roundsEach = 3
const port = 18_190

/**
 * Compares filters, searches and orders without indexes in ClickHouse and DuckDB. Needs `ACERVO_CLICKHOUSE`,
 * the folder of chdb.
 */
export async function engines(bench: Bench, scale: number): Promise<Line[]> {
  if (!hasClickHouse) return []
  const folder = path.join(bench.folder, 'engines')
  const environment = {
    ...bench.environment,
    CATALOG: path.join(folder, 'catalog.yaml'),
    WAREHOUSE: path.join(folder, 'warehouse'),
    CACHE_MB: '0',
    QUERY_TIMEOUT_MS: '120000',
    SCAN_MILLIONS: '1000000',
  }
  const table = { name: 'hundred', rows: Math.max(1, Math.round(rows * scale)), keys: 'engine: clickhouse' }
  if (!existsSync(environment.CATALOG))
    await linkTables(bench, folder, [{ ...table, manifest: { clickhouse: true } }])
  const { address: url, child } = await spawnClickHouse(port, path.join(folder, 'clickhouse'))
  const stops: (() => unknown)[] = [() => child.kill()]
  const startTracked = async (settings: Readonly<Record<string, string>>): Promise<Server> => {
    const server = await startService(settings)
    stops.push(() => server.stop())
    return server
  }
  try {
    await load(environment, url)
    const clickHouse = await startTracked({ ...environment, CLICKHOUSE_URL: url })
    // Without CLICKHOUSE_URL, DuckDB answers.
    const duckdb = await startTracked(environment)
    const lines: Line[] = []
    for (const [title, targetOf] of Object.entries(cases)) {
      const [clickHouseMs, duckdbMs]: [number[], number[]] = [[], []]
      for (let round = 0; round < roundsEach; round += 1) {
        clickHouseMs.push(await msOf(clickHouse, targetOf(round, scale)))
        duckdbMs.push(await msOf(duckdb, targetOf(round, scale)))
      }
      const name = `${title}, ${(table.rows / 1e6).toFixed(0)} M rows: ClickHouse to DuckDB`
      lines.push(bareLine(name, 'ms', median(clickHouseMs), median(duckdbMs), ['<', Infinity], ''))
    }
    return lines
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

const states = ['SP', 'RJ', 'MG']
const cases: Readonly<Record<string, (time: number, scale: number) => string>> = {
  'first page of a state': (time) => `state=${states[time]}`,
  'a page far into it': (time, scale) =>
    `state=${states[time]}&page=${1 + Math.floor(20_000 * scale) + time}`,
  'cities that contain a text': (time) => `city__contains=${['nova', 'santa', 'porto'][time]}`,
  'two conditions': (time) => `state=${states[time]}&order_for_place__gt=${100 + time}`,
  'first page in another order': (time) =>
    `ordering=${['-order_for_place', 'order_for_place', '-city_ibge_code'][time]}`,
  'a state in another order': (time) => `state=${states[time]}&ordering=-order_for_place`,
}

async function msOf({ port: servicePort }: Server, target: string): Promise<number> {
  const began = performance.now()
  const answer = await fetch(
    `http://127.0.0.1:${servicePort}/api/v1/dataset/bench/hundred/data/?page_size=100&${target}`,
  )
  const body = await answer.text()
  if (answer.status !== 200) console.log(`${target}: ${answer.status} ${body.slice(0, 200)}`)
  return performance.now() - began
}

async function load(environment: Readonly<Record<string, string>>, url: string): Promise<void> {
  const link = await ClickHouse.open(url)
  const store = openStore(String(environment['WAREHOUSE']))
  const [table] = allTables(await loadCatalog(String(environment['CATALOG'])))
  const manifest = table === undefined ? null : await publishedOf(store, table)
  if (link === null || table === undefined || manifest === null)
    throw new Error('nothing is there to be loaded')
  const began = performance.now()
  await fillClickHouse(store, table, manifest, link, { memory: '1GB', threads: 2, progress: silentProgress })
  console.log(
    `ClickHouse has ${manifest.rows} rows after ${((performance.now() - began) / 1000).toFixed(0)} s`,
  )
  await link.close()
}
