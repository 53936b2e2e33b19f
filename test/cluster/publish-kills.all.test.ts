import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { startBetween, type Between } from '../components/faulty-proxy.ts'
import { hasObjectStore, startObjectStore } from '../components/object-store.ts'
import { numbered, oneTable, rows, type OneTable } from '../support/one-table.ts'
import { run, start, startServer, type ServerProgram } from '../support/programs.ts'
import { readers } from '../support/readers.ts'
import { runsOf } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { describeWith, objectStore } from '../support/needs.ts'

/** A job that publishes into an object store, and dies at any of its requests, while a server follows. */

const describeWithStore = describeWith(hasObjectStore, objectStore)
const count = 300
const ofVersion = (version: number): string => numbered(count, 'n,version', () => [version])

const isOneVersion = (target: string, status: number, body: Buffer): string | null => {
  if (status !== 200) return `${target} answered ${status}: ${body.toString().slice(0, 300)}`
  const { count: total, results } = JSON.parse(body.toString()) as {
    count: number
    results: { version: number }[]
  }
  const versions = new Set(results.map(({ version }) => version))
  return total === count && results.length > 0 && versions.size === 1
    ? null
    : `${target} has ${total} rows, and versions ${[...versions].join()}`
}

describeWithStore('a publish into an object store', () => {
  let table: OneTable
  let between: Between
  let server: ServerProgram
  let job: Record<string, string>

  beforeAll(async () => {
    const store = await startObjectStore()
    between = await startBetween(store.endpoint)
    table = await oneTable(ofVersion(1), ['n:integer', 'version:integer'], {
      table: { filters: ['version'] },
      settings: (folder) => ({
        ...store.environment,
        WAREHOUSE: store.address(),
        LOCAL_FOLDER: path.join(folder, 'local'),
        LEASE_SECONDS: '1',
      }),
    })
    job = { ...table.settings, AWS_ENDPOINT_URL_S3: between.address }
    server = await startServer({ ...table.settings, LOCAL_FOLDER: path.join(table.folder, 'served') })
  }, 60_000)

  const published = async (): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${rows}?page_size=1`)
    const { results } = (await answer.json()) as { results: { version: number }[] }
    return results[0]?.version ?? 0
  }

  test('is complete or absent, wherever its job is killed', async () => {
    let version = 1
    const write = (): void =>
      writeFileSync(path.join(table.folder, 'sources/d/t.csv'), ofVersion((version += 1)))
    write()
    const before = between.count()
    expect((await run('ingest', [], job)).code).toBe(0)
    const requests = between.count() - before
    expect(requests).toBeGreaterThan(20)
    await until(async () => (await published()) === version)
    const asking = readers({
      port: server.port,
      readers: 4,
      target: () => rows,
      look: isOneVersion,
      // Leaves the processor to the jobs.
      thinkMs: () => 20,
    })
    const kills = runsOf('PUBLISH_KILLS')
    let finished = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const last = await published()
      write()
      // Spread over all requests of a publish, lost on their way there or back.
      const at = between.count() + 1 + Math.floor(((kill + 0.5) / kills) * (requests + 2))
      const dying = start('ingest', [], job)
      between.fate = ({ number }) => {
        if (number !== at) return {}
        dying.child.kill('SIGKILL')
        return { lose: kill % 2 === 0 ? 'request' : 'answer' }
      }
      await dying.ended
      between.fate = () => ({})
      if (dying.child.exitCode === 0) finished += 1
      const current = await published()
      expect([last, version]).toContain(current)
      // The next job is not held up for long, and takes what was meant.
      const { code, out, err } = await run('ingest', [], job)
      expect([code, out + err]).toEqual([0, expect.stringMatching(/1 published|1 unchanged/)])
      await until(async () => (await published()) === version)
    }
    await asking.stop()
    expect(asking.problems).toEqual([])
    expect([...asking.failures]).toEqual([])
    // A few requests are the views', after the publish.
    expect(finished).toBeLessThanOrEqual(Math.ceil(kills / 4))
    const verified = await run('verify', [], table.settings)
    expect([verified.code, verified.out + verified.err]).toEqual([0, expect.stringContaining(', 0 damaged')])
  }, 3_600_000)

  test('succeeds in one of two concurrent jobs, and the other one reports why it stopped', async () => {
    writeFileSync(path.join(table.folder, 'sources/d/t.csv'), ofVersion(-1))
    const jobs = await Promise.all(
      [1, 2].map(async (number) =>
        run('ingest', [], { ...table.settings, LOCAL_FOLDER: path.join(table.folder, `job-${number}`) }),
      ),
    )
    // One that comes a little later finds it done.
    const isDone = ({ out }: (typeof jobs)[number]): boolean => out.includes('1 published')
    const [done, refused] = jobs.toSorted((a, b) => Number(isDone(b)) - Number(isDone(a)))
    expect([done?.code, done?.out]).toEqual([0, expect.stringContaining('1 published')])
    expect(refused?.out).toMatch(/is already working on d\/t:|1 unchanged/)
    await until(async () => (await published()) === -1)
  }, 60_000)

  test('by a job that was suspended for long does not overwrite the newer snapshot of another job', async () => {
    rmSync(path.join(table.folder, 'local'), { recursive: true, force: true })
    writeFileSync(path.join(table.folder, 'sources/d/t.csv'), ofVersion(-2))
    const slow = start('ingest', [], job)
    let stopped = 0
    // While the files of the snapshot go up.
    between.fate = ({ method, path: asked }) => {
      if (stopped === 0 && method === 'PUT' && asked.includes('part-00000.parquet')) {
        stopped = between.count()
        slow.child.kill('SIGSTOP')
      }
      return {}
    }
    await until(() => stopped > 0)
    writeFileSync(path.join(table.folder, 'sources/d/t.csv'), ofVersion(-3))
    const result = await run('ingest', [], {
      ...table.settings,
      LOCAL_FOLDER: path.join(table.folder, 'other'),
    })
    expect([result.code, result.out]).toEqual([0, expect.stringContaining('1 published')])
    slow.child.kill('SIGCONT')
    const { code, out, err } = await slow.ended
    between.fate = () => ({})
    expect([code, out + err]).toEqual([1, expect.stringContaining('another job')])
    await until(async () => (await published()) === -3)
  }, 60_000)
})
