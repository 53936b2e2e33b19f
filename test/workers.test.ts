import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import path from 'node:path'
import { codeOf } from '../core/errors.ts'
import { numbered, oneTable, rows, startWorkers, type OneTable } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { start, startServer } from './support/programs.ts'
import { readers } from './support/readers.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'
import { isQuick, testAll } from './support/runs.ts'

/** Several processes on one port, as an operator runs them. */

let table: OneTable

/** Each row has the version of its snapshot, so that pages of two that are mixed show. */
const ofVersion = (version: number): string => numbered(300, 'n,version', () => [version])

beforeAll(async () => {
  const limits = { rows: [{ requests: 100, per: '1h' }], catalog: [] }
  table = await oneTable(ofVersion(1), ['n:integer', 'version:integer'], { catalog: { limits } })
}, 60_000)

const isWhole = (target: string, status: number, body: Buffer): string | null => {
  if (status !== 200) return `${target} answered ${status}`
  const { results } = JSON.parse(body.toString()) as { results: { version: number }[] }
  const versions = new Set(results.map(({ version }) => version))
  return results.length > 0 && versions.size === 1 ? null : `${target} has versions ${[...versions].join()}`
}

testAll(
  'a limit holds over all workers exactly',
  async () => {
    const { pid, port } = await startServer({ ...table.settings, WORKERS: '2', RATE_LIMITS: 'on' })
    const statuses = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const response = await fetch(`http://127.0.0.1:${port}${rows}`, { headers: { Connection: 'close' } })
        await response.arrayBuffer()
        return response.status
      }),
    )
    const count = (status: number): number => statuses.filter((code) => code === status).length
    expect([count(200), count(429)]).toEqual([100, 200])
    // One that is started in the place of another knows what was counted before; the next test replaces a worker, too.
    const workers = workersOf(pid)
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    await until(
      () => workersOf(pid).length === 2 && !workersOf(pid).some((worker) => workers.includes(worker)),
    )
    expect((await fetch(`http://127.0.0.1:${port}${rows}`)).status).toBe(429)
  },
  60_000,
)

test('after a stop before the first worker exists, no worker starts', async () => {
  // Reading it waits until somebody writes.
  const catalog = path.join(table.folder, 'catalog.fifo')
  execFileSync('mkfifo', [catalog])
  const settings = { ...table.settings, CATALOG: catalog, WORKERS: '2', PORT: String(await freePort()) }
  const { child, ended, out } = start('server/process/main', [], settings)
  let writing = 0
  await until(() => {
    try {
      writing = openSync(catalog, constants.O_WRONLY | constants.O_NONBLOCK)
      return true
    } catch (error) {
      if (codeOf(error) === 'ENXIO') return false
      throw error
    }
  })
  child.kill('SIGTERM')
  await until(() => out().includes('"stopped"'))
  closeSync(writing)
  expect((await ended).code).toBe(0)
}, 60_000)

const kills = isQuick ? 1 : 3

test('a worker that is killed is replaced, and the others answer meanwhile', async () => {
  const server = await startWorkers(table.settings, 2)
  const asking = readers({ port: server.port, readers: 20, target: () => rows, look: isWhole })
  const answered = (): number => asking.answers.get(200) ?? 0
  const answersGrow = async (): Promise<void> => {
    const before = answered()
    await until(() => answered() > before + 25)
  }
  for (let kill = 0; kill < kills; kill += 1) {
    await answersGrow()
    const [victim = 0] = workersOf(server.pid)
    process.kill(victim, 'SIGKILL')
    await until(() => workersOf(server.pid).length === 2 && !workersOf(server.pid).includes(victim))
  }
  await answersGrow()
  await asking.stop()
  expect(asking.problems).toEqual([])
  // Readers with a connection to the killed worker failed once, and continued.
  const failed = [...asking.failures.values()].reduce((sum, times) => sum + times, 0)
  expect(failed).toBeLessThanOrEqual(20 * kills)
  expect([...asking.failures.keys()].filter((code) => code === 'ECONNREFUSED')).toEqual([])
}, 60_000)
