import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import { startBetween, type Between } from '../components/faulty-proxy.ts'
import { hasNginx, startNginx, type Proxy } from '../components/nginx.ts'
import { hasObjectStore, startObjectStore } from '../components/object-store.ts'
import { numbered, oneTable, rows, type OneTable } from '../support/one-table.ts'
import { freePort } from '../support/ports.ts'
import { startServer, type ServerProgram } from '../support/programs.ts'
import { hasRedis, startRedis } from '../components/redis.ts'
import { describeWith, nginx, objectStore, redis } from '../support/needs.ts'
import { until } from '../support/until.ts'

/**
 * Two servers over one object store, behind nginx, with their limits in one Redis: while parts of this fail,
 * each client pages through one snapshot to its end.
 */

const isWhole = hasObjectStore && hasNginx && hasRedis
const describeCluster = describeWith(isWhole, `${objectStore}, ${nginx} and ${redis}`)

const count = 5000
const pageSize = 250
const walks = 50
/** Time without the store, in ms. */
const awayMs = 60_000

const source = (version: number): string => numbered(count, 'n,version,m', (n) => [version, n % 7])

/** Returns the quota left to a client, as one of the servers reports it. */
async function left(port: number | undefined): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}${rows}?page_size=1`, {
    headers: { 'X-Forwarded-For': '198.51.100.7' },
  })
  await answer.arrayBuffer()
  return Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])
}

/** Waits until the last answer that a server did not give is longer ago than the `fail_timeout` of nginx, of a second. */
const nginxTriesAgain = (): Promise<void> => setTimeout(2000)

describeCluster('two servers behind nginx, with an object store and Redis,', () => {
  let table: OneTable
  let between: Between
  let proxy: Proxy
  let settings: (name: string) => Record<string, string>
  let warehouse: string
  let begun = 0
  const ports: number[] = []
  const servers: ServerProgram[] = []

  beforeAll(async () => {
    const store = await startObjectStore()
    between = await startBetween(store.endpoint)
    const redisPort = await freePort()
    await startRedis(redisPort)
    const address = store.address()
    warehouse = store.folderOf(address)
    const limits = { rows: [{ requests: 1_000_000, per: '1h' }], catalog: [], exports: [] }
    table = await oneTable(source(0), ['n:integer', 'version:integer', 'm:integer'], {
      catalog: { limits: { ...limits, share: { percent: 100, per: '1m' } } },
      table: { filters: ['n', 'm'] },
      settings: (folder) => ({
        ...store.environment,
        WAREHOUSE: address,
        LOCAL_FOLDER: path.join(folder, 'local'),
        TRUST_PROXY: '1',
        PUBLIC_URL: 'https://data.example.org',
      }),
    })
    settings = (name) => ({
      ...table.settings,
      AWS_ENDPOINT_URL_S3: between.address,
      LOCAL_FOLDER: path.join(table.folder, name),
      RATE_LIMIT_STORE: `redis://127.0.0.1:${redisPort}`,
      RATE_LIMITS: 'on',
    })
    for (const name of ['one', 'other']) {
      ports.push(await freePort())
      servers.push(await startServer(settings(name), ports.at(-1)))
    }
    proxy = await startNginx(table.folder, await freePort(), ports)
  }, 120_000)

  afterAll(() => {
    proxy.stop()
  })

  test('answer with the same ETags and bytes', async () => {
    for (const address of [
      `${rows}?page_size=50&page=3`,
      `${rows}?m=3&ordering=-n&page_size=20`,
      `${rows}?format=csv&page_size=20`,
      `${rows}?format=arrow&page_size=20`,
      '/api/v1/dataset/d/t/export/?m=2&format=ndjson',
      '/api/v1/dataset/d/t/',
      '/api/v1/datasets/',
    ]) {
      const [first, second] = await Promise.all(
        ports.map(async (port) => {
          const answer = await fetch(`http://127.0.0.1:${port}${address}`)
          const bytes = Buffer.from(await answer.arrayBuffer())
          return [address, answer.status, answer.headers.get('etag'), bytes.toString('base64')]
        }),
      )
      expect(first).toEqual(second)
      expect(first?.slice(1, 3)).toEqual([200, expect.any(String)])
    }
  })

  /** Versions that a walk has begun with. */
  const met = new Set<number>()

  /** Reads all pages of the snapshot that is current when it begins; null, or what was wrong. */
  async function walk(number: number, versions: Set<number>): Promise<string | null> {
    const localAddress = `127.0.${1 + Math.floor(number / 200)}.${1 + (number % 200)}`
    // Accepts what nobody else does, so that nginx has none of its pages from another walk.
    const accept = { Accept: `application/json, application/x-${(begun += 1)}` }
    let address: string | null = `${rows}?snapshot=current&page_size=${pageSize}`
    let [version, at] = [-1, 0]
    while (address !== null) {
      const answer = await proxy.get(address, accept, localAddress)
      if (answer.status !== 200) return `${address}: ${answer.status} ${answer.body.slice(0, 200)}`
      const page = JSON.parse(answer.body) as {
        next: string | null
        results: { n: number; version: number }[]
      }
      if (version === -1) version = page.results[0]?.version ?? -2
      met.add(version)
      for (const row of page.results) {
        if (row.version !== version) return `${address}: ${row.version} among rows of ${version}`
        if (row.n !== at) return `${address}: ${row.n} where ${at} was due`
        at += 1
      }
      address = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search
      // As a reader would who does something with them, and less than nginx allows a second.
      await setTimeout(250)
    }
    versions.add(version)
    return at === count ? null : `${at} rows of ${count}`
  }

  /** Walks one after the other, until something is over. */
  async function during(work: Promise<unknown>): Promise<{ versions: number[]; faults: string[] }> {
    const end = new AbortController()
    const versions = new Set<number>()
    const faults: string[] = []
    const over = work.finally(() => {
      end.abort()
    })
    const reader = async (number: number): Promise<void> => {
      do {
        const fault = await walk(number, versions).catch((error: unknown) => `no answer: ${String(error)}`)
        if (fault !== null) faults.push(fault)
      } while (!end.signal.aborted)
    }
    await Promise.all([over, ...Array.from({ length: walks }, (_, number) => reader(number))])
    return { versions: [...versions], faults }
  }

  const restart = async (index: number, signal: NodeJS.Signals): Promise<void> => {
    const server = servers[index]
    if (server === undefined) throw new RangeError('there are two')
    process.kill(server.pid, signal)
    await server.ended
    servers[index] = await startServer(settings(index === 0 ? 'one' : 'other'), ports[index])
  }

  test('answer every request of a paging client from one snapshot during a rolling restart and refreshes', async () => {
    const { versions, faults } = await during(
      (async () => {
        await setTimeout(1000)
        await restart(0, 'SIGTERM')
        await nginxTriesAgain()
        await restart(1, 'SIGTERM')
        await nginxTriesAgain()
        await Promise.all([table.publish(source(1)), restart(0, 'SIGTERM')])
        await until(() => met.has(1))
        await nginxTriesAgain()
        await Promise.all([table.publish(source(2)), restart(1, 'SIGTERM')])
        await until(() => met.has(2))
      })(),
    )
    expect(faults).toEqual([])
    expect(versions).toHaveLength(3)
    expect(versions).toEqual(expect.arrayContaining([1, 2]))
  }, 180_000)

  test('fail no paging client when one server is killed, except for requests in flight', async () => {
    const { faults } = await during(
      (async () => {
        await setTimeout(1500)
        await restart(0, 'SIGKILL')
        await setTimeout(1500)
      })(),
    )
    // A response in progress breaks off; nginx requests the rest from the other server.
    expect(faults.filter((fault) => !fault.startsWith('no answer: '))).toEqual([])
    expect(faults.length).toBeLessThan(walks / 5)
  }, 180_000)

  /** Returns whether a server has fetched all files. */
  function hasFiles(server: string): boolean {
    const manifest = JSON.parse(readFileSync(path.join(warehouse, 'd/t/current.json'), 'utf8')) as Manifest
    const folder = path.join(table.folder, server, 'server/d/t', manifest.snapshot)
    return filesOf(manifest)
      .filter((file) => !manifest.files.includes(file))
      .every(({ file }) => existsSync(path.join(folder, file)))
  }

  test('serve local files while the store is unavailable for a minute, and afterwards the snapshot that was published meanwhile', async () => {
    const { faults } = await during(
      (async () => {
        await until(() => hasFiles('one') && hasFiles('other'), 60_000)
        between.isCut = true
        await setTimeout(awayMs / 2)
        await table.publish(source(3))
        await setTimeout(awayMs / 2)
        between.isCut = false
        await setTimeout(3000)
      })(),
    )
    expect(faults).toEqual([])
    const last = await proxy.get(`${rows}?page_size=1&fields=version&n=17`)
    expect(JSON.parse(last.body)).toMatchObject({ results: [{ version: 3 }] })
  }, 240_000)

  test('share their limits', async () => {
    // The headers of either server show the counts of both.
    const remainingOf: number[] = []
    for (let time = 0; time < 6; time += 1) remainingOf.push(await left(ports[time % 2]))
    expect(remainingOf.map((remaining) => (remainingOf[0] ?? 0) - remaining)).toEqual([0, 1, 2, 3, 4, 5])
  })
})
