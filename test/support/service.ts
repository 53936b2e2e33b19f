import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import request from 'supertest'
import type { Catalog } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import { Database } from '../../core/duckdb/database.ts'
import { readSettings, workerShare, type ProcessSettings } from '../../core/settings/read.ts'
import { openLog, type Log } from '../../server/base/log.ts'
import type { ConcurrencyLimit } from '../../server/base/queue.ts'
import type { SendBudget } from '../../server/http/send.ts'
import { createApp } from '../../server/process/app.ts'
import { buildRuntime } from '../../server/process/build-runtime.ts'
import { openResources } from '../../server/process/resources.ts'
import type { Runtime } from '../../server/routes/runtime.ts'
import { Scrub } from '../../server/snapshots/scrub.ts'
import type { Snapshots } from '../../server/snapshots/snapshots.ts'
import type { Pool } from '../../server/table/engine/pool.ts'
import type { RowEngine } from '../../server/table/representations/page.ts'
import type { Selections } from '../../server/table/selection/selections.ts'
import { AnswerChecks } from './answers.ts'
import { endWithFile, inEachFile } from './each-file.ts'
import { temporaryFolder, testFolder, type Workshop } from './workshop.ts'

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
  const service = shared.get(use)
  if (service !== undefined) return service
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

/** Settings of a process as the program reads them, with the small limits that tests need. */
const testSettings: ProcessSettings = {
  ...workerShare(readSettings({ PUBLIC_URL: 'http://localhost:8000', RATE_LIMITS: 'off' })),
  queryConnections: 2,
  scanConnections: 2,
  queueTimeoutMs: 20_000,
  queueLengthMax: 1000,
  queryTimeoutMs: 20_000,
  scanValuesMax: 1e9,
  selectionBytesMax: 10_000_000,
  codesBytesMax: 10_000_000,
  dictionaryBytesMax: 10_000_000,
  groupBytesMax: 32_000_000,
  makingBytesMax: 32_000_000,
  unsentBytesMax: 100_000_000,
  sendTimeoutMs: 60_000,
  cachedBytesMax: 10_000_000,
  compressionsMax: 4,
  finishedBytesMax: 10_000_000,
  filesMax: 20,
  pageBytesMax: 64_000_000,
  clientsMax: 1000,
  processors: 2,
  snapshotsKept: 2,
  snapshotGraceMs: 3_600_000,
}

/** Differences from a service with the settings of tests, and parts to replace. */
export type ServiceOptions = Partial<ProcessSettings & Runtime> & {
  readonly clickHouse?: ClickHouse
  /** DuckDB's memory; such a service has databases of its own. */
  readonly memory?: string
  /** Databases of its own, for tests that change published files in place. */
  readonly ownDatabases?: boolean
  /** Another engine than DuckDB. */
  readonly otherSelections?: Selections
}

/** The real service over a workshop's warehouse, closed when the test file ends. */
export async function serve(
  { catalog, store }: Workshop,
  { clickHouse, memory, ownDatabases, otherSelections, ...options }: ServiceOptions = {},
): Promise<Service> {
  const hasOwnDatabases = memory !== undefined || ownDatabases === true
  const databaseFor = hasOwnDatabases ? openDatabase : sharedDatabase
  const databases = {
    pages: await databaseFor('pages', memory ?? '256MB'),
    scans: await databaseFor('scans', memory ?? '256MB'),
  }
  let lines = ''
  const log = openLog('info', {}, { write: (line: string) => void (lines += line) })
  const resources = await openResources(
    {
      settings: { ...testSettings, ...options },
      store,
      clickHouse: clickHouse ?? null,
      log,
      worker: null,
      meter: null,
      spill: await temporaryFolder(),
      catalogFault: () => null,
      onOtherFields: () => false,
    },
    databases,
  )
  const { runtime: built } = await buildRuntime(resources, { catalog, lacking: new Map() }, null)
  await built.snapshots.refresh()
  built.readiness.loaded()
  const engine = { ...built.engine, ...(otherSelections !== undefined && { selections: otherSelections }) }
  const runtime: Runtime = { ...built, engine, ...options }
  const { snapshots } = built
  const app = checks.around(createApp(runtime), { ...runtime, snapshots: runtime.snapshots })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    snapshots.stop()
    resources.finished.close()
    await resources.pool.close()
    await resources.scanPool.close()
    if (!hasOwnDatabases) return
    databases.pages.close()
    databases.scans.close()
  }
  endWithFile(close)
  const scrub = new Scrub(snapshots, log)
  return {
    app,
    catalog,
    snapshots,
    pool: resources.pool,
    scans: resources.scanPool,
    selections: built.engine.selections,
    engine,
    sendBudget: resources.sendBudget,
    exports: resources.exports,
    transfers: resources.transfers,
    log,
    scrub: () => scrub.once(),
    close,
    logged: () => lines,
  }
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
