import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { codeOf } from '../core/errors.ts'
import { describeWith } from './support/needs.ts'
import { numbered, type OneTable, oneTable, rows, startWorkers } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { run, start, startServer } from './support/programs.ts'
import { readers } from './support/readers.ts'
import { describeAll, isQuick, testAll } from './support/runs.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'

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

describeAll('with many readers,', () => {
  test('workers are replaced one after the other, and no request of 200 readers fails', async () => {
    const server = await startWorkers(table.settings, 2)
    const before = workersOf(server.pid)
    const asking = readers({ port: server.port, readers: 200, target: () => rows, look: isWhole })
    const answered = (): number => asking.answers.get(200) ?? 0
    await until(() => answered() > 400)
    process.kill(server.pid, 'SIGHUP')
    await server.says('"all workers replaced"')
    const answeredByOld = answered()
    await until(() => answered() > answeredByOld + 400)
    await asking.stop()
    expect([...asking.failures]).toEqual([])
    expect(asking.problems).toEqual([])
    await until(() => !workersOf(server.pid).some((pid) => before.includes(pid)))
  }, 60_000)

  test.each([1, 3])(
    'a stop of %d workers lets every request of 200 readers be answered',
    async (count) => {
      const server =
        count === 1 ? await startServer(table.settings) : await startWorkers(table.settings, count)
      const asking = readers({
        port: server.port,
        readers: 200,
        target: (_reader, asked) => `${rows}?page_size=${1 + (asked % 100)}`,
        look: isWhole,
        mustBeThere: false,
      })
      await until(() => asking.begun() === 200)
      process.kill(server.pid, 'SIGTERM')
      expect((await server.ended).code).toBe(0)
      await asking.stop()
      expect([...asking.failures]).toEqual([])
      expect(asking.problems).toEqual([])
      expect(asking.answers.get(200)).toBeGreaterThan(200)
    },
    60_000,
  )

  test('a refresh reaches all workers, and paging stays on its snapshot whichever worker answers', async () => {
    const server = await startWorkers(table.settings, 3)
    const get = async (address: string): Promise<{ next: string | null; results: { version: number }[] }> => {
      const { pathname, search } = new URL(address, 'http://here')
      const answer = await fetch(`http://127.0.0.1:${server.port}${pathname}${search}`, {
        headers: { Connection: 'close' },
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as never
    }
    const walk = async (): Promise<Set<number>> => {
      const versions = new Set<number>()
      for (let next: string | null = `${rows}?snapshot=current&page_size=20`; next !== null;) {
        const page = await get(next)
        for (const { version } of page.results) versions.add(version)
        next = page.next
        await setTimeout(30)
      }
      return versions
    }
    const walks = Array.from({ length: 20 }, async (_, index) => {
      await setTimeout(index * 100)
      return walk()
    })
    await table.publish(ofVersion(2))
    for (const versions of await Promise.all(walks)) expect(versions.size).toBe(1)
    await until(async () => {
      const after = await Promise.all(Array.from({ length: 12 }, () => get(`${rows}?page_size=1`)))
      return after.every(({ results: [row] }) => row?.version === 2)
    })
  }, 60_000)

  test('a failure to start the first worker is reported once, and nothing keeps running', async () => {
    const broken = path.join(table.folder, 'broken.json')
    await writeFile(broken, '{}')
    const { code, err } = await run('server/process/main', [], {
      ...table.settings,
      CATALOG: broken,
      WORKERS: '3',
    })
    expect(code).toBe(1)
    expect(err.match(/broken\.json has/g)).toHaveLength(1)
  })

  test.each([200, 700, 1200, 2500])(
    'a stop %d ms after the start leaves nothing running',
    async (ms) => {
      const server = start('server/process/main', [], {
        ...table.settings,
        PORT: String(await freePort()),
        WORKERS: '3',
      })
      await setTimeout(ms)
      server.child.kill('SIGTERM')
      await server.ended
      expect(workersOf(server.child.pid ?? 0)).toEqual([])
      // Its own lines are in their order; those of its workers come in between.
      const lines = server
        .out()
        .split('\n')
        .filter((line) => !line.includes('"worker":'))
      const stopping = lines.findIndex((line) => line.includes('"stopping"'))
      expect(lines.slice(Math.max(0, stopping)).join('\n')).not.toContain('all workers started')
    },
    60_000,
  )

  test('a worker that dies while all workers are being replaced is replaced only once', async () => {
    const server = await startWorkers(table.settings, 2)
    const old = workersOf(server.pid)
    process.kill(server.pid, 'SIGHUP')
    await until(() => workersOf(server.pid).some((pid) => !old.includes(pid)))
    process.kill(old[1] ?? 0, 'SIGKILL')
    await server.says('"all workers replaced"')
    await until(() => !workersOf(server.pid).some((pid) => old.includes(pid)))
    await setTimeout(2500)
    const fresh = workersOf(server.pid)
    expect(fresh.length).toBe(2)
    // The new ones are replaced too when they die.
    for (const pid of fresh) process.kill(pid, 'SIGKILL')
    await until(() => workersOf(server.pid).filter((pid) => !fresh.includes(pid)).length === 2)
  }, 60_000)

  const prlimit = '/usr/bin/prlimit'
  const hasPrlimit = existsSync(prlimit)
  describeWith(hasPrlimit, 'prlimit of util-linux')('without free descriptors', () => {
    test('existing workers continue if the system starts no more processes', async () => {
      const server = await startWorkers(table.settings, 2)
      const limit = (descriptors: number): unknown =>
        execFileSync(prlimit, ['--pid', String(server.pid), `--nofile=${descriptors}:`])
      limit(readdirSync(`/proc/${server.pid}/fd`).length + 2)
      process.kill(server.pid, 'SIGHUP')
      await server.says('new worker failed to start; the old ones stay')
      // One that was replaced before may still end.
      await until(() => workersOf(server.pid).length === 2)
      const [first = 0, second = 0] = workersOf(server.pid)
      // The descriptors of the dead worker must not suffice for a new one.
      limit(readdirSync(`/proc/${server.pid}/fd`).length - 10)
      process.kill(second, 'SIGKILL')
      // The place of the one that died, and that of the one that could not take it.
      await until(() => server.log().split('worker died; starting another').length > 2)
      expect(workersOf(server.pid)).toEqual([first])
      limit(1000)
      expect((await fetch(`http://127.0.0.1:${server.port}${rows}`)).status).toBe(200)
      await until(() => workersOf(server.pid).length === 2)
      process.kill(server.pid, 'SIGTERM')
      expect((await server.ended).code).toBe(0)
    }, 60_000)
  })

  test('a stop while all workers are being replaced waits for no new worker', async () => {
    const server = await startWorkers(table.settings, 2)
    const old = workersOf(server.pid)
    process.kill(server.pid, 'SIGHUP')
    await until(() => workersOf(server.pid).some((pid) => !old.includes(pid)))
    process.kill(server.pid, 'SIGTERM')
    await server.ended
    expect(server.log()).toContain('"stopped"')
    expect(server.log()).not.toContain('all workers replaced')
  }, 60_000)

  test('an answer that is read slowly continues while its worker is replaced', async () => {
    const count = 300_000
    const large = await oneTable(
      numbered(count, 'n,s', (n) => [`${n}`.repeat(8)]),
      ['n:integer', 's:string'],
    )
    const server = await startWorkers(large.settings, 2)
    const answer = await fetch(
      `http://127.0.0.1:${server.port}/api/v1/dataset/d/t/export/?format=ndjson&n__gte=0`,
    )
    process.kill(server.pid, 'SIGHUP')
    await server.says('"all workers replaced"')
    const lines = (await answer.text()).trimEnd().split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([
      count,
      JSON.stringify({ n: count - 1, s: `${count - 1}`.repeat(8) }),
    ])
  }, 60_000)
})
