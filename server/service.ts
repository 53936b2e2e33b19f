import type { RequestListener, Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { loadCatalog } from '../core/catalog/load.ts'
import type { Settings } from '../core/settings/read.ts'
import { ParsedCatalog } from '../core/warehouse/parsed-catalog.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { Database } from '../core/duckdb/database.ts'
import { createApp } from './app.ts'
import { clientOf } from './http/client.ts'
import { addressesOf, fileAddresses, mixedFamilies } from './http/addresses.ts'
import { problemCodes } from './http/problems.ts'
import { Responder } from './http/responder.ts'
import { countingFor } from './workers/counts.ts'
import { noMeter, type Meter } from './metrics/meter.ts'
import type { Metrics } from './metrics/metrics.ts'
import { Limiter } from './limits/limiter.ts'
import { policiesOf } from './limits/policies.ts'
import { ConcurrencyLimit } from './concurrency/limit.ts'
import { SendBudget } from './http/send-budget.ts'
import { Blocks } from './fetch/blocks.ts'
import { Pool, shareOf } from './engine/pool.ts'
import { PublicLake } from './snapshots/public-lake.ts'
import { PublicViews } from './snapshots/public-views.ts'
import { PackedRows } from './fetch/packed-rows.ts'
import { Dictionaries } from './indexes/dictionaries.ts'
import { openSelections } from './select/open.ts'
import { MemoryGate } from './engine/memory-gate.ts'
import { Scrub } from './snapshots/scrub.ts'
import { Readiness } from './snapshots/readiness.ts'
import { Snapshots } from './snapshots/snapshots.ts'
import { openSpill } from './engine/spill.ts'
import type { Log } from './log.ts'
import type { Worker } from './workers/worker.ts'

/**
 * Of each query. A block lies in one row group, which one thread reads, and a second one would cost a fifth more
 * CPU for nothing; different queries run side by side all the same.
 */
const queryThreads = 1

/** What lives in a process that serves, besides its connections. */
export interface Service {
  readonly app: RequestListener
  /** Looks at every table once; from then on nobody waits. */
  readonly load: () => Promise<void>
  /** Where the lists of datasets are, and how many tables are served. */
  readonly served: () => { readonly datasets: readonly string[]; readonly tables: number }
  /** Tells that it takes no new work. */
  readonly stopping: () => void
  /** Once nobody is answered any more. */
  readonly close: () => Promise<void>
}

/**
 * @param settings what the process has of them, where it is one of several workers
 * @param connections how many are open
 */
export async function openService(
  settings: Settings,
  log: Log,
  worker: Worker | null,
  connections: () => number,
): Promise<Service> {
  const store = openStore(settings.warehouse)
  const catalog = await loadCatalog(settings.catalog, new ParsedCatalog(store))

  // Nobody loads what measures where nobody asks for it.
  const metrics =
    settings.metricsPort === 0 ? null : new (await import('./metrics/metrics.ts')).Metrics(problemCodes)
  const meter: Meter = metrics ?? noMeter

  const spill = await openSpill()
  const database = await Database.open({
    memory: settings.queryMemory,
    threads: queryThreads,
    scratch: spill,
    folders: [store.localFolder],
  })
  const pool = await Pool.open(database, {
    ...settings,
    connections: settings.queryConnections,
    observe: (timing) => meter.queried('pages', timing),
  })
  await database.lock()
  // A database of their own, so that no page waits for a scan.
  const scanDatabase = await Database.open({
    memory: settings.scanMemory,
    // Of each scan for a selection, which goes through all row groups.
    threads: Math.max(1, Math.floor(os.availableParallelism() / settings.workers)),
    scratch: path.join(spill, 'scans'),
    folders: [store.localFolder],
  })
  const scanPool = await Pool.open(
    scanDatabase,
    {
      ...settings,
      connections: settings.scanConnections,
      observe: (timing) => meter.queried('scans', timing),
    },
    shareOf(settings.scanConnections),
  )
  await scanDatabase.lock()
  const { snapshotsKept, snapshotGraceMs } = settings
  const retention = { count: snapshotsKept, graceMs: snapshotGraceMs }
  const snapshots = new Snapshots({ store, catalog, retention, log })
  const readiness = new Readiness(snapshots)
  const indexBytesMax = settings.indexBytesMax / 2
  const dictionaries = new Dictionaries(pool, indexBytesMax)
  const limits = { ...settings, codesBytesMax: indexBytesMax }
  const selections = openSelections(scanPool, dictionaries, limits)
  const packed = new PackedRows(dictionaries)
  const blocks = new Blocks(pool, packed, settings.blockCacheBytes)
  const engine = { pool, blocks, packed, selections, memory: new MemoryGate(settings) }
  const sendBudget = new SendBudget(settings)
  const responder = new Responder({ ...settings, keptBytesMax: settings.pageCacheBytes }, sendBudget)

  const filesAddress = fileAddresses(settings.publicUrl).base
  const views = new PublicViews({
    catalog,
    snapshots,
    warehouse: store.localFolder,
    filesAddress,
    scratch: spill,
  })
  const lake = new PublicLake(store, spill)
  const scrub = new Scrub(snapshots, log)
  scrub.begin(settings.scrubMs)

  const [exports, transfers] = [
    new ConcurrencyLimit(settings.exportsMax, 'exports'),
    new ConcurrencyLimit(settings.filesMax, 'transfers'),
  ]
  const policies = policiesOf(catalog.limits, os.availableParallelism())
  const counting = settings.rateLimits ? await countingFor(policies, settings, worker, log) : null
  const limiter = counting === null ? null : new Limiter(policies, counting.storeFor)
  const app = createApp({
    ...settings,
    limiter,
    client: clientOf(settings, () => {
      log.warn(
        'X-Forwarded-For comes in and is not believed, so all who come by a proxy are one client: set TRUST_PROXY',
      )
    }),
    exports,
    transfers,
    catalog,
    snapshots,
    readiness,
    engine,
    responder,
    sendBudget,
    views,
    lake,
    log,
    meter,
    scratch: spill,
    startedAt: worker?.startedAt ?? new Date(),
  })
  for (const { name } of mixedFamilies(catalog.families, settings.publicUrl)) {
    log.warn(
      { family: name },
      'PUBLIC_URL is https, and the catalog has this family write http addresses, which browsers block: give it scheme public',
    )
  }
  metrics?.watch({
    pools: { pages: pool, scans: scanPool },
    caches: { answers: responder, blocks, selections },
    tables: () => snapshots.statuses,
    isReady: () => readiness.now().state === 'ready',
    levels: {
      connections,
      exports_running: () => exports.running,
      transfers_running: () => transfers.running,
      unsent_bytes: () => sendBudget.bytes,
      making_bytes: () => engine.memory.taken,
      rate_limit_store_up: () => Number(counting?.isUp() ?? true),
    },
  })
  const metricsServer = metrics === null ? null : await tellMetrics(metrics.registry, settings, worker)
  return {
    app,
    load: async () => {
      await snapshots.refresh()
      snapshots.follow()
      readiness.loaded()
      if (snapshots.size > 0) return
      log.warn(
        { warehouse: store.address },
        'nothing is published there: WAREHOUSE names another folder, or an ingest comes first',
      )
    },
    served: () => ({
      datasets: catalog.families.map((family) => addressesOf(family, settings.publicUrl).list),
      tables: snapshots.size,
    }),
    stopping: () => readiness.stopping(),
    close: async () => {
      metricsServer?.close()
      snapshots.stop()
      scrub.stop()
      await pool.close()
      await scanPool.close()
      database.close()
      scanDatabase.close()
      counting?.close()
    },
  }
}

/** On a port of their own, or to the process that keeps this one. */
async function tellMetrics(
  registry: Metrics['registry'],
  { metricsPort }: Settings,
  worker: Worker | null,
): Promise<Server | null> {
  if (worker === null) {
    const { listenForMetrics } = await import('./metrics/listen.ts')
    return listenForMetrics(metricsPort, () => registry.metrics())
  }
  worker.measure(() => registry.getMetricsAsJSON())
  return null
}
