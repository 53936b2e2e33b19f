import { setTimeout } from 'node:timers/promises'
import { numbered, oneTable, rows, type OneTable } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { start } from './support/programs.ts'
import { readers, type Readers } from './support/readers.ts'
import { runsOf } from './support/runs.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'

/** Servers and workers that are killed while readers ask, again and again. */

const kills = runsOf('SERVER_KILLS')

let table: OneTable
let settings: Readonly<Record<string, string>>

const ofVersion = (version: number): string => numbered(2000, 'n,version', () => [version])

beforeAll(async () => {
  table = await oneTable(ofVersion(1), ['n:integer', 'version:integer'], {
    settings: () => ({ RATE_LIMITS: 'off' }),
  })
  settings = table.settings
}, 60_000)

const targets = [
  '?page_size=50',
  '?page=7&page_size=100',
  '?n__gte=1990',
  '?ordering=-n&page_size=5',
  '?page=last',
]

/** Finds faults of a page: rows of two versions, of an older version than before, or wrong ones. */
function looking(published: () => number) {
  return (target: string, status: number, body: Buffer): string | null => {
    if (status === 503) return null
    if (status !== 200) return `${target} answered ${status}`
    const { count, results } = JSON.parse(body.toString()) as {
      count: number
      results: { n: number; version: number }[]
    }
    const versions = [...new Set(results.map(({ version }) => version))]
    const [version = 0] = versions
    // A refresh is followed within two seconds.
    if (versions.length !== 1 || version < published() - 1) return `${target} has versions ${versions.join()}`
    const first = target.includes('page=7')
      ? 600
      : target.includes('n__gte')
        ? 1990
        : target.includes('ordering')
          ? 1999
          : target.includes('last')
            ? 1000
            : 0
    const due = target.includes('n__gte') ? 10 : 2000
    return count === due && results[0]?.n === first
      ? null
      : `${target} has ${count} rows from ${results[0]?.n} on`
  }
}

const load = (port: number, published: () => number): Readers =>
  readers({
    port,
    readers: 20,
    target: (reader, asked) => rows + (targets[(reader + asked) % targets.length] ?? ''),
    look: looking(published),
  })

/** Printed, not asserted: other tests run at the same time. */
function inMs(took: readonly number[]): string {
  const median = took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0
  return `${median.toFixed(0)} ms, at most ${Math.max(...took).toFixed(0)}`
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}${rows}`, { headers: { Connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  )
}

test(`a server that is killed ${kills} times serves the latest snapshot soon after each restart`, async () => {
  const port = await freePort()
  const begin = () => start('server/process/main', [], { ...settings, PORT: String(port) })
  let version = 1
  let server = begin()
  await until(() => answers(port))
  const asking = load(port, () => version)
  const took: number[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(100 + Math.random() * 300)
    server.child.kill('SIGKILL')
    await server.ended
    if (kill % 10 === 5) await table.publish(ofVersion((version += 1)))
    const began = performance.now()
    server = begin()
    await until(() => answers(port))
    took.push(performance.now() - began)
  }
  await asking.stop()
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
  expect(asking.problems).toEqual([])
  expect(asking.answers.get(200)).toBeGreaterThan(kills * 5)
  console.log(`${kills} kills of a server: it serves again after ${inMs(took)}`)
}, 3_600_000)

test(`a worker that is killed ${kills} times leaves no client without an answer to its next request`, async () => {
  const port = await freePort()
  const server = start('server/process/main', [], { ...settings, PORT: String(port), WORKERS: '2' })
  await until(() => server.out().includes('"all workers started"'))
  const asking = load(port, () => 1)
  const serving = (): number => server.out().split('"serving"').length
  const gaps: number[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(100 + Math.random() * 300)
    const pid = server.child.pid ?? 0
    const [victim = 0] = workersOf(pid)
    const before = serving()
    process.kill(victim, 'SIGKILL')
    const began = performance.now()
    await until(() => answers(port))
    gaps.push(performance.now() - began)
    await until(() => workersOf(pid).length === 2 && !workersOf(pid).includes(victim))
    // The new one is to be killed too, once it serves.
    await until(() => serving() > before)
  }
  await asking.stop()
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
  expect(asking.problems).toEqual([])
  expect([...asking.failures.keys()].filter((code) => code === 'ECONNREFUSED')).toEqual([])
  console.log(`${kills} kills of a worker: the next request is answered after ${inMs(gaps)}`)
}, 3_600_000)
