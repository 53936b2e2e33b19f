import { spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { programPath } from './support/installed.ts'
import { numbered, oneTable, startWorkers, type OneTable } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import type { ServerProgram } from './support/programs.ts'
import { readers } from './support/readers.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'

/**
 * Two workers, 200 readers and a refresh every ten seconds, for SOAK seconds: nothing fails, no page is mixed, nothing
 * grows, and, where Prometheus is installed, no alert is raised.
 */

const seconds = Number(process.env['SOAK'] ?? 10)
// A short one runs beside other tests, which leave it a part of the machine.
const [readersCount, walkersCount] = seconds < 60 ? [40, 10] : [160, 40]
const refreshEveryMs = 10_000
/** Between an answer and the next request of a reader. */
const thinkMs = (): number => 200 + Math.random() * 1000

const base = '/api/v1/dataset/d/t'
let table: OneTable
let home: string
let settings: Readonly<Record<string, string>>
let version = 1

const ofVersion = (): string => numbered(20_000, 'n,m,version', (n) => [n % 50, version])

beforeAll(async () => {
  table = await oneTable(ofVersion(), ['n:integer', 'm:integer', 'version:integer'], {
    settings: (folder) => ({
      METRICS_FILE: path.join(folder, 'acervo.prom'),
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'info',
    }),
  })
  home = table.folder
  settings = table.settings
}, 60_000)

const targets = [
  (n: number) => `${base}/data/?page=${1 + (n % 20)}`,
  (n: number) => `${base}/data/?page_size=100&page=${1 + (n % 200)}`,
  (n: number) => `${base}/data/?m=${n % 50}`,
  (n: number) => `${base}/data/?ordering=-n&page_size=${1 + (n % 7)}`,
  () => '/api/datasets',
  () => '/en/dataset/d/t/',
  () => '/files/d/t/',
  () => `${base}/export/?format=ndjson&m=3`,
]

/** A page is of one snapshot, and of one that is not older than the refresh before the last. */
function look(target: string, status: number, body: Buffer): string | null {
  // All readers come from one address, which may have half of the exports at a time.
  if (status === 503 && target.includes('/export/')) return null
  if (status !== 200) return `${target} answered ${status}: ${body.toString().slice(0, 200)}`
  const text = body.toString()
  const versions = new Set([...text.matchAll(/"version":(\d+)/g)].map(([, digits]) => Number(digits)))
  if (versions.size > 1) return `${target} has rows of ${[...versions].join()}`
  const [seen = version] = versions
  return seen >= version - 2 ? null : `${target} has version ${seen}, and ${version} is published`
}

/** Walks a snapshot from its first page to its last, again and again: it stays whole through every refresh. */
async function walker(port: number, over: AbortSignal, faults: string[]): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  let walks = 0
  while (!over.aborted) {
    const versions = new Set<number>()
    let rows = 0
    let next: string | null = `${base}/data/?snapshot=current&page_size=2000`
    while (next !== null) {
      const page: Page | string = await pageAt(agent, port, next).catch(String)
      if (typeof page === 'string') {
        faults.push(`${next}: ${page}`)
        break
      }
      for (const row of page.results) versions.add(row.version)
      rows += page.results.length
      next = page.next === null ? null : page.next.slice(page.next.indexOf('/api/'))
      await setTimeout(thinkMs())
    }
    if (next === null && (versions.size !== 1 || rows !== 20_000))
      faults.push(`a walk of ${rows} rows of ${[...versions].join()}`)
    walks += 1
  }
  agent.destroy()
  return walks
}

interface Page {
  readonly next: string | null
  readonly results: readonly { readonly version: number }[]
}

function pageAt(agent: http.Agent, port: number, target: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: target, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text) as Page)
          else reject(new Error(`${response.statusCode}: ${text.slice(0, 200)}`))
        })
      })
      .on('error', reject)
  })
}

interface Taken {
  readonly megabytes: number
  readonly descriptors: number
}

/** Returns the usage of the started process and its workers. */
async function takenBy({ pid }: ServerProgram): Promise<Taken> {
  let [megabytes, descriptors] = [0, 0]
  for (const process of [pid, ...workersOf(pid)]) {
    const status = await readFile(`/proc/${process}/status`, 'utf8')
    megabytes += Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000
    descriptors += (await readdir(`/proc/${process}/fd`)).length
  }
  return { megabytes, descriptors }
}

const prometheus = programPath('prometheus')
if (prometheus === null)
  console.warn('prometheus is not installed: the alerts are not watched during the soak')

function scrape(job: string, target: number): object {
  return { job_name: job, static_configs: [{ targets: [`127.0.0.1:${target}`] }] }
}

/** @returns tells which alerts were raised since it began */
async function watching(metricsPort: number): Promise<() => Promise<string[]>> {
  if (prometheus === null) return async () => []
  const port = await freePort()
  // Serves the ingest's metrics like node_exporter.
  const collector = http.createServer((_req, res) => {
    readFile(settings['METRICS_FILE'] ?? '').then(
      (text) => res.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' }).end(text),
      () => res.writeHead(404).end(),
    )
  })
  const collectorPort = await freePort()
  collector.listen(collectorPort, '127.0.0.1')
  const configuration = {
    global: { scrape_interval: '2s', evaluation_interval: '2s' },
    rule_files: [path.resolve('deploy/prometheus/alerts.yaml')],
    scrape_configs: [scrape('acervo', metricsPort), scrape('node', collectorPort)],
  }
  await writeFile(path.join(home, 'prometheus.json'), JSON.stringify(configuration))
  const child = spawn(
    prometheus,
    [
      `--config.file=${home}/prometheus.json`,
      `--storage.tsdb.path=${home}/tsdb`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const ask = async (query: string): Promise<{ metric: Record<string, string> }[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`)
    return ((await answer.json()) as { data: { result: { metric: Record<string, string> }[] } }).data.result
  }
  await until(async () =>
    ask('acervo_ready == 1').then(
      (ready) => ready.length > 0,
      () => false,
    ),
  )
  return async () => {
    const firing = await ask(`max_over_time(ALERTS{alertstate="firing"}[${seconds + 60}s])`)
    const seen = await ask(`count_over_time(acervo_ingest_rows[${seconds + 60}s])`)
    child.kill()
    collector.close()
    collector.closeAllConnections()
    if (seen.length === 0) throw new Error('Prometheus has seen nothing of the ingest')
    return firing.map(({ metric }) => metric['alertname'] ?? '')
  }
}

test(`${seconds} seconds of ${readersCount + walkersCount} readers and refreshes reveal no fault`, async () => {
  const metricsPort = await freePort()
  const server = await startWorkers({ ...settings, METRICS_PORT: String(metricsPort) }, 2)
  const raised = await watching(metricsPort)
  const over = new AbortController()
  const faults: string[] = []
  const asking = readers({
    port: server.port,
    readers: readersCount,
    target: (reader, asked) =>
      (targets[(reader + asked) % targets.length] ?? targets[0])?.(reader * 7 + asked) ?? '',
    look,
    thinkMs,
  })
  const walks = Array.from({ length: walkersCount }, () => walker(server.port, over.signal, faults))
  const took: Taken[] = []
  const end = performance.now() + seconds * 1000
  let nextRefresh = performance.now() + refreshEveryMs
  while (performance.now() < end) {
    await setTimeout(Math.min(2000, Math.max(0, end - performance.now())))
    took.push(await takenBy(server))
    if (performance.now() >= nextRefresh) {
      nextRefresh += refreshEveryMs
      version += 1
      await table.publish(ofVersion())
    }
  }
  await asking.stop()
  over.abort()
  const walked = (await Promise.all(walks)).reduce((sum, steps) => sum + steps, 0)
  const alerts = await raised()
  const total = [...asking.answers.values()].reduce((sum, count) => sum + count, 0)
  const [early, late] = [middleOf(took, 0.4, 0.6), middleOf(took, 0.8, 1)]
  console.log(
    `soak of ${seconds} s: ${total} answers, ${walked} walks, ${version} snapshots; ` +
      `${early.megabytes.toFixed(0)} and ${late.megabytes.toFixed(0)} MB, ${early.descriptors} and ${late.descriptors} descriptors; ` +
      `the slowest answer took ${asking.longest().toFixed(0)} ms`,
  )
  expect({
    failures: [...asking.failures],
    problems: asking.problems.slice(0, 5),
    faults: faults.slice(0, 5),
    alerts,
  }).toEqual({
    failures: [],
    problems: [],
    faults: [],
    alerts: [],
  })
  // Any other 503 than those of exports is among the faults.
  expect([...asking.answers.keys()].filter((status) => status !== 503)).toEqual([200])
  expect(walked).toBeGreaterThan(0)
  expect(late.megabytes).toBeLessThan(early.megabytes * 1.15 + 30)
  expect(late.descriptors).toBeLessThan(early.descriptors + 50)
}, 7_200_000)

/** The median of a part of the time. */
function middleOf(took: readonly Taken[], from: number, to: number): Taken {
  const slice = took.slice(Math.floor(took.length * from), Math.max(1, Math.ceil(took.length * to)))
  const median = (of: (taken: Taken) => number): number =>
    slice.map(of).toSorted((a, b) => a - b)[Math.floor(slice.length / 2)] ?? 0
  return {
    megabytes: median(({ megabytes }) => megabytes),
    descriptors: median(({ descriptors }) => descriptors),
  }
}
