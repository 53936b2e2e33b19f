import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { aggregates } from './aggregates.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import { duckdbVersion } from '../core/duckdb/database.ts'
import { pageDepths, cachedPages, livePages, htmlPages, type Bench, type Line } from './cases.ts'
import { billion } from './billion.ts'
import { cold } from './cold.ts'
import { rowsOf, writeSources } from './data.ts'
import { engines } from './engines.ts'
import { ingests } from './ingest.ts'
import { atItsLimits } from './limits.ts'
import { selections } from './selections.ts'
import { storedPages } from './stored-pages.ts'
import { partitions } from './partitions.ts'
import { overload, refreshes } from './pressure.ts'
import { twoWorkers } from './workers.ts'

/** `npm run bench`: makes its own data once, measures, prints a table and writes bench/results.json. */
async function main(): Promise<void> {
  const scale = Number(process.env['SCALE'] ?? '1')
  const seconds = Number(process.env['SECONDS_A_CASE'] ?? '3')
  const folder = path.resolve(process.env['BENCH_DATA'] ?? 'bench/data', String(scale))
  const environment = {
    CATALOG: 'bench/catalog.yaml',
    SOURCES: path.join(folder, 'sources'),
    WAREHOUSE: path.join(folder, 'warehouse'),
    LOG_LEVEL: 'info',
    RATE_LIMITS: 'on',
  }
  const catalog = await loadCatalog(environment.CATALOG)
  await mkdir(folder, { recursive: true })
  if (!existsSync(environment.SOURCES)) {
    console.log(`writing sources to ${environment.SOURCES}`)
    await writeSources(environment.SOURCES, catalog, scale)
  }
  const job = spawnSync(process.execPath, ['dist/ingest/main.js', 'ingest', '--unpublished'], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '16', ...environment },
    stdio: 'inherit',
  })
  if (job.status !== 0) throw new Error('the tables were not published')

  const bench: Bench = {
    folder,
    environment,
    pages: Math.floor((rowsOf.large * scale) / 100),
    seconds,
    // With less than a second per case, the run shows only that all cases work.
    rounds: seconds < 1 ? 1 : 3,
    share: seconds < 1 ? 0.1 : 1,
  }
  const lines: Line[] = []
  const tell = (results: readonly Line[]): void => {
    for (const line of results) console.log(rowOf(line))
    lines.push(...results)
  }
  console.log(head)
  const cases: readonly (readonly [name: string, measure: () => Promise<Line[]>])[] = [
    ['ingests', () => ingests(bench)],
    ['partitions', () => partitions(bench, scale)],
    ['selections', () => selections(bench)],
    ['aggregates', () => aggregates(bench)],
    ['cold', () => cold(bench)],
    ['live', () => livePages(bench)],
    ['depth', () => pageDepths(bench)],
    ['billion', () => billion(bench, scale)],
    ['engines', () => engines(bench, scale)],
    ['people', () => htmlPages(bench)],
    ['kept', () => cachedPages(bench)],
    ['stored', () => storedPages(bench)],
    ['workers', () => twoWorkers(bench)],
    ['overload', () => overload(bench, 5 * seconds)],
    ['limits', () => atItsLimits(bench, 10 * seconds)],
    ['refreshes', () => refreshes(bench, catalog, scale, 20 * seconds)],
  ]
  const requestedCases = (process.env['CASES'] ?? '').split(/[ ,]+/).filter((name) => name !== '')
  const unknown = requestedCases.find((name) => !cases.some(([caseName]) => caseName === name))
  if (unknown !== undefined) {
    const caseNames = cases.map(([name]) => name).join(', ')
    throw new Error(`CASES: there is no case ${unknown}; there are ${caseNames}`)
  }
  for (const [name, measure] of cases)
    if (requestedCases.length === 0 || requestedCases.includes(name)) tell(await measure())

  const machine = {
    cpu: os.cpus()[0]?.model,
    cores: os.availableParallelism(),
    node: process.version,
    duckdb: duckdbVersion,
  }
  await writeFile('bench/results.json', `${JSON.stringify({ machine, scale, seconds, lines }, null, 2)}\n`)
  console.log('\nbench/results.json has these figures')
}

const head = `${'case'.padEnd(88)} ${'ours'.padStart(9)} ${'reference'.padStart(9)} ${'ratio'.padStart(6)}  bar`

function rowOf({ title, unit, ours, reference, bar, isReached, detail }: Line): string {
  const ratio = reference === null ? '' : (ours / reference).toFixed(2)
  const name = unit === '' ? title : `${title} (${unit})`
  const verdict = isReached ? bar : `${bar} MISSED`
  const second = reference === null ? '' : number(reference)
  return `${name.padEnd(88)} ${number(ours).padStart(9)} ${second.padStart(9)} ${ratio.padStart(6)}  ${verdict}${detail === '' ? '' : `\n    ${detail}`}`
}

function number(value: number): string {
  return value.toFixed(value < 10 ? 3 : 0)
}

await main()
