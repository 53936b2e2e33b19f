import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import request from 'supertest'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { Database } from '../../core/duckdb/database.ts'
import { freshnessOf } from '../../server/http/headers.ts'
import { createApp } from '../../server/process/app.ts'
import type { Runtime } from '../../server/routes/runtime.ts'
import { Responder, type ResponderLimits } from '../../server/http/responder.ts'
import { clientOf, type ClientOf, type ClientSettings } from '../../server/http/client.ts'
import { MemoryCounts, Limiter } from '../../server/limits/limiter.ts'
import { policiesOf } from '../../server/limits/policies.ts'
import { openLog, type Log } from '../../server/base/log.ts'
import { ConcurrencyLimit, MemoryGate, type MemoryGateLimits } from '../../server/base/queue.ts'
import { SendBudget, type SendLimits } from '../../server/http/send.ts'
import { Pool, clientShare, type PoolLimits } from '../../server/table/engine/pool.ts'
import type { Retention } from '../../core/warehouse/retention.ts'
import { FinishedExports } from '../../server/table/representations/finished-exports.ts'
import type { RowEngine } from '../../server/table/representations/page.ts'
import { PublicViews } from '../../server/snapshots/public-views.ts'
import { Scrub } from '../../server/snapshots/scrub.ts'
import type { CodedLimits } from '../../server/table/selection/access/codes.ts'
import type { SelectionLimits } from '../../server/table/selection/access/duckdb.ts'
import { Dictionaries } from '../../server/table/indexes/dictionaries.ts'
import { PlannedSelections, type GroupLimits } from '../../server/table/selection/planned-selections.ts'
import { SelectionCache } from '../../server/table/selection/selection-cache.ts'
import type { Selections } from '../../server/table/selection/selections.ts'
import { Readiness } from '../../server/snapshots/readiness.ts'
import { Snapshots } from '../../server/snapshots/snapshots.ts'
import { AnswerChecks } from './answers.ts'
import { temporaryFolder, testFolder, type Workshop } from './workshop.ts'
import { endWithFile, inEachFile } from './each-file.ts'

const checks = new AnswerChecks()

/** Databases that the services of a test file share: opening one takes longer than most tests. */
const shared = new Map<string, Promise<Database>>()

inEachFile(() => {
  afterEach(async () => {
    const faults = await checks.faults()
    if (faults.length > 0) throw new Error(`answers that OpenAPI does not know:\n${faults.join('\n')}`)
  })
})

type DatabaseUse = 'pages' | 'scans'

/** Opens a database that reads all folders of the test file. */
async function openDatabase(use: DatabaseUse, memory: string): Promise<Database> {
  const [scratch, threads] = [await temporaryFolder(), use === 'pages' ? 1 : 2]
  return Database.open({ memory, threads, scratch, folders: [testFolder] })
}

function sharedDatabase(use: DatabaseUse, memory: string): Promise<Database> {
  const known = shared.get(use)
  if (known !== undefined) return known
  const database = openDatabase(use, memory)
  shared.set(use, database)
  endWithFile(async () => {
    shared.delete(use)
    const opened = await database
    opened.close()
  })
  return database
}

export interface Service {
  readonly app: RequestListener
  readonly catalog: Catalog
  readonly snapshots: Snapshots
  readonly pool: Pool
  /** Pool of scans for selections. */
  readonly scans: Pool
  readonly selections: Selections
  readonly engine: RowEngine
  readonly sendBudget: SendBudget
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
  readonly log: Log
  /** Reads all files again, once. */
  readonly scrub: () => Promise<void>
  /** Before the test file ends, where it makes many. */
  readonly close: () => Promise<void>
  /** Lines of the log so far. */
  readonly logged: () => string
}

/** Differences from a service with default limits. */
export type ServiceOptions = Partial<
  Runtime &
    PoolLimits &
    ResponderLimits &
    SendLimits &
    SelectionLimits &
    CodedLimits &
    GroupLimits &
    MemoryGateLimits
> & {
  readonly clickHouse?: ClickHouse
  readonly retention?: Retention
  readonly exportsMax?: number
  readonly finishedBytesMax?: number
  readonly filesMax?: number
  /** DuckDB's memory; such a service has databases of its own. */
  readonly memory?: string
  /** Databases of its own, for tests that change published files in place. */
  readonly ownDatabases?: boolean
  readonly filesAddress?: string
  /** Another engine than DuckDB. */
  readonly otherSelections?: Selections
  /** True to apply the limits of the catalog, for `clientsMax` clients. */
  readonly rateLimits?: boolean
  readonly clientsMax?: number
  readonly trustProxy?: ClientSettings['trustProxy']
}

/** The real service over a workshop's warehouse, closed when the test file ends. */
export async function serve(
  { catalog, warehouse, store }: Workshop,
  options: ServiceOptions = {},
): Promise<Service> {
  const hasOwnDatabases = options.memory !== undefined || options.ownDatabases === true
  const databaseFor = hasOwnDatabases ? openDatabase : sharedDatabase
  const database = await databaseFor('pages', options.memory ?? '256MB')
  const pool = await Pool.open(database, {
    connections: 2,
    queueTimeoutMs: 20_000,
    queueLengthMax: 1000,
    queryTimeoutMs: 20_000,
    ...options,
  })
  let lines = ''
  const log = openLog('info', {}, { write: (line: string) => void (lines += line) })
  const retention = options.retention ?? { count: 2, graceMs: 3_600_000 }
  const snapshots = new Snapshots({ store, catalog, retention, log })
  await snapshots.refresh()
  const readiness = new Readiness(snapshots)
  readiness.loaded()
  const scanDatabase = await databaseFor('scans', options.memory ?? '256MB')
  const scanConnections = await Pool.open(
    scanDatabase,
    {
      connections: 2,
      queueTimeoutMs: 20_000,
      queueLengthMax: 1000,
      queryTimeoutMs: 20_000,
      ...options,
    },
    clientShare(options.connections ?? 2),
  )
  const limits = {
    selectionBytesMax: 10_000_000,
    codesBytesMax: 10_000_000,
    groupBytesMax: 32_000_000,
    queueTimeoutMs: 20_000,
    scanValuesMax: 1e9,
    queryTimeoutMs: 20_000,
    ...options,
  }
  const dictionaries = new Dictionaries(pool, 10_000_000)
  const selections = new PlannedSelections(
    scanConnections,
    dictionaries,
    new SelectionCache(limits.selectionBytesMax),
    limits,
    options.clickHouse ?? null,
  )
  const memory = new MemoryGate({ makingBytesMax: 32_000_000, queueTimeoutMs: 20_000, ...options })
  const engine = { pool, selections: options.otherSelections ?? selections, memory }
  const views = new PublicViews({
    catalog,
    snapshots,
    warehouse,
    filesAddress: 'http://localhost:8000/files',
    scratch: await temporaryFolder(),
    ...options,
  })
  const sendBudget = new SendBudget({ unsentBytesMax: 100_000_000, sendTimeoutMs: 60_000, ...options })
  const queue = { queueTimeoutMs: 20_000, queueLengthMax: 1000, ...options }
  const exports = new ConcurrencyLimit({ ...queue, max: options.exportsMax ?? 4 }, 'exports')
  const transfers = new ConcurrencyLimit({ ...queue, max: options.filesMax ?? 20 }, 'downloads')
  const publicUrl = options.publicUrl ?? new URL('http://localhost:8000')
  const finished = new FinishedExports(await temporaryFolder(), options.finishedBytesMax ?? 10_000_000)
  const client = clientOf({ trustProxy: options.trustProxy ?? 0, clientIpv6Prefix: 56 })
  const bare = createApp({
    catalog,
    publicUrl,
    limiter: options.rateLimits === true ? limiterOf(catalog, client, options.clientsMax ?? 1000) : null,
    client,
    freshness: freshnessOf(60),
    filesUrl: '',
    pageBytesMax: 64_000_000,
    exports,
    transfers,
    snapshots,
    readiness,
    engine,
    views,
    sendBudget,
    responder: new Responder({ cachedBytesMax: 10_000_000, compressionsMax: 4, ...options }, sendBudget),
    log,
    meter: null,
    scratch: await temporaryFolder(),
    catalogFault: () => null,
    finished,
    ...options,
  })
  const app = checks.around(bare, { catalog, snapshots: options.snapshots ?? snapshots, publicUrl })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    snapshots.stop()
    finished.close()
    await pool.close()
    await scanConnections.close()
    if (!hasOwnDatabases) return
    database.close()
    scanDatabase.close()
  }
  endWithFile(close)
  const scrub = new Scrub(snapshots, log)
  return {
    app,
    catalog,
    snapshots,
    pool,
    scans: scanConnections,
    selections,
    engine,
    sendBudget,
    exports,
    transfers,
    log,
    scrub: () => scrub.once(),
    close,
    logged: () => lines,
  }
}

function limiterOf({ limits }: Catalog, client: ClientOf, clientsMax: number): Limiter {
  return new Limiter(policiesOf(limits, 2), client, (policy) => new MemoryCounts(clientsMax, policy))
}

/** An envelope with its rows, checked to be a 200. */
export interface Page {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly Record<string, unknown>[]
}

/** A page by its address; absolute ones of the service itself are followed too. */
export async function getPage(app: RequestListener, address: string): Promise<Page> {
  const { pathname, search } = new URL(address, 'http://localhost:8000')
  const response = await request(app)
    .get(pathname + search)
    .expect(200)
  return response.body as Page
}

/** An answer as it goes over the wire: not decompressed, and asked for without the headers that clients add. */
export async function rawGet(
  app: RequestListener,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }> {
  const server = http.createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asked = http.get({ port, host: '127.0.0.1', path: target, headers, agent: false })
  // The response reports a broken transfer.
  asked.on('error', () => undefined)
  try {
    const [response] = (await once(asked, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }
  } finally {
    server.close()
  }
}

/** The text of an answer, checked to be a 200. */
export async function textAt(
  app: RequestListener,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, body } = await rawGet(app, target, headers)
  expect([target, status]).toEqual([target, 200])
  return body.toString()
}

export async function jsonAt(app: RequestListener, target: string): Promise<Record<string, unknown>> {
  return JSON.parse(await textAt(app, target)) as Record<string, unknown>
}

/** The ETag of an answer; empty where it has none. */
export async function tagOf(app: RequestListener, target: string, encoding = 'identity'): Promise<string> {
  return (await rawGet(app, target, { 'Accept-Encoding': encoding })).headers['etag'] ?? ''
}

/** All pages from an address on, by their `next`. */
export async function walk(app: RequestListener, address: string): Promise<Page[]> {
  const pages: Page[] = []
  for (let next: string | null = address; next !== null;) {
    const page = await getPage(app, next)
    pages.push(page)
    next = page.next
  }
  return pages
}
