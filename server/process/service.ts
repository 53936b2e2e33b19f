import type { Meter } from '../base/meter.ts'
import type { Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { ClickHouse } from '../../core/clickhouse/link.ts'
import { StartError } from '../../core/errors.ts'
import { catalogVersion } from '../../core/catalog/catalog-files.ts'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import type { ProcessSettings } from '../../core/settings/read.ts'
import { ParsedCatalog } from '../../core/warehouse/parsed-catalog.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { Database } from '../../core/duckdb/database.ts'
import { CatalogWatch } from './catalog-watch.ts'
import { addressesOf } from '../http/addresses.ts'
import type { Door } from '../http/listen.ts'
import { problemCodes } from '../http/problems.ts'
import type { Metrics } from './metrics/metrics.ts'
import { ConcurrencyLimit, MemoryGate } from '../base/queue.ts'
import { SendBudget } from '../http/send.ts'
import { Pool, shareOf } from '../table/engine/pool.ts'
import { asDeclared, fitCatalog } from '../snapshots/fitted-catalog.ts'
import { openSpill } from '../table/engine/spill.ts'
import { FinishedExports } from '../table/representations/finished-exports.ts'
import { publish, type Shared } from './publish.ts'
import type { Log } from '../base/log.ts'
import type { Worker } from './workers/worker.ts'

/**
 * Of each query. A block lies in one row group, which one thread reads, and a second one would cost a fifth more
 * CPU for nothing; different queries run side by side all the same.
 */
const queryThreads = 1
/** Pages are some rows of some columns: all the others find nothing in such statements, and take a tenth of their time. */
const optimizersOfPages = ['expression_rewriter', 'filter_pushdown', 'in_clause', 'unused_columns']

/** A catalog that could not be fitted to what is published is fitted again after this time. */
const refitAgainMs = 5000

/** What lives in a process that serves, besides its connections. */
export interface Service {
  /** Looks at every table once; from then on nobody waits. */
  readonly load: () => Promise<void>
  /** Reads the catalog again, and serves by it where it is another without a fault. */
  readonly reload: () => Promise<void>
  /** Where the lists of datasets are, and how many tables are served. */
  readonly served: () => { readonly datasets: readonly string[]; readonly tables: number }
  /** Tells that it takes no new work. */
  readonly stopping: () => void
  /** Once nobody is answered any more. */
  readonly close: () => Promise<void>
}

/**
 * @param settings what the process has of them, where it is one of several workers
 * @param door opened to what answers, by each catalog that comes to serve
 * @param connections how many are open
 */
export async function openService(
  settings: ProcessSettings,
  log: Log,
  worker: Worker | null,
  door: Door,
  connections: () => number,
): Promise<Service> {
  const store = openStore(settings.warehouse, {
    ...settings,
    localFolder: path.join(settings.localFolder, 'server'),
    isOnlyRead: true,
  })
  if (store.isElsewhere && worker !== null)
    throw new StartError(
      `WORKERS: each process would bring files of ${store.address} here for itself; start several servers instead`,
    )
  const version = await catalogVersion(settings.catalog).catch(() => null)
  const catalog = await loadCatalog(settings.catalog, new ParsedCatalog(store))

  // Nobody loads what measures where nobody asks for it.
  const metrics =
    settings.metricsPort === 0 ? null : new (await import('./metrics/metrics.ts')).Metrics(problemCodes)
  const meter: Meter | null = metrics

  const spill = await openSpill()
  const database = await Database.open({
    memory: `${settings.queryBytes / 1e6}MB`,
    threads: queryThreads,
    scratch: spill,
    folders: [store.localFolder],
    optimizers: optimizersOfPages,
  })
  const pool = await Pool.open(database, {
    ...settings,
    connections: settings.queryConnections,
    observe: (timing) => meter?.queried('pages', timing),
  })
  await database.lock()
  // A database of their own, so that no page waits for a scan.
  const scanDatabase = await Database.open({
    memory: `${settings.scanBytes / 1e6}MB`,
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
      observe: (timing) => meter?.queried('scans', timing),
    },
    shareOf(settings.scanConnections),
  )
  await scanDatabase.lock()
  const shared: Shared = {
    settings,
    store,
    pool,
    scanPool,
    clickHouse: await ClickHouse.open(settings.clickHouseUrl),
    log,
    worker,
    meter,
    spill,
    memory: new MemoryGate(settings),
    sendBudget: new SendBudget(settings),
    finished: new FinishedExports(spill, settings.finishedBytesMax),
    exports: new ConcurrencyLimit(settings.exportsMax, 'exports'),
    transfers: new ConcurrencyLimit(settings.filesMax, 'transfers'),
    catalogFault: () => watch.fault,
    onOtherFields: () => void refit(),
  }
  const { exports, transfers, sendBudget, memory } = shared
  let current = await publish(shared, asDeclared(catalog), null)
  let declared = catalog
  let isStopping = false
  let swapping: Promise<void> = Promise.resolve()
  const swap = async (next: Catalog): Promise<void> => {
    const before = current
    const fitted = fitCatalog(next, (table) => before.snapshots.latest(table))
    if (next === declared && fitted.key === before.fitted.key) return
    const after = await publish(shared, fitted, before)
    try {
      await after.load()
    } catch (error) {
      after.leave(before)
      throw error
    }
    current = after
    door.open(after.app)
    declared = next
    if (isStopping) after.readiness.stopping()
    before.leave(after)
  }
  const swapInTurn = (catalogOf: () => Catalog): Promise<void> => {
    const swapped = swapping.then(() => swap(catalogOf()))
    swapping = swapped.catch(() => undefined)
    return swapped
  }
  const refit = (): Promise<void> =>
    swapInTurn(() => declared).catch((error: unknown) => {
      log.error({ err: error }, 'tables are not served with the fields that are published now')
      if (!isStopping) setTimeout(() => void refit(), refitAgainMs).unref()
    })
  const watch = new CatalogWatch(settings.catalog, catalog, log, (next) => swapInTurn(() => next))
  metrics?.watch({
    pools: { pages: pool, scans: scanPool },
    caches: {
      // Of whichever catalog serves.
      answers: {
        get stats() {
          return current.caches.answers.stats
        },
      },
      selections: {
        get stats() {
          return current.caches.selections.stats
        },
      },
    },
    tables: () => current.snapshots.statuses,
    isReady: () => current.readiness.now().state === 'ready',
    levels: {
      connections,
      exports_running: () => exports.running,
      transfers_running: () => transfers.running,
      unsent_bytes: () => sendBudget.bytes,
      making_bytes: () => memory.taken,
      rate_limit_store_up: () => Number(current.isCountingUp()),
    },
  })
  const metricsServer = metrics === null ? null : await tellMetrics(metrics.registry, settings, worker)
  door.open(current.app)
  return {
    load: async () => {
      const loaded = current.load()
      swapping = loaded.catch(() => undefined)
      await loaded
      // Tables whose published fields turned out to be others are taken again.
      await swapping
      // Several workers are replaced by the process that keeps them.
      if (worker === null) watch.begin(settings.catalogPollMs, version)
      if (current.snapshots.size > 0) return
      log.warn(
        { warehouse: store.address },
        'nothing is published there: WAREHOUSE names another folder, or an ingest comes first',
      )
    },
    reload: async () => void (await watch.look()),
    served: () => ({
      datasets: current.fitted.catalog.families.map((family) => addressesOf(family, settings.publicUrl).list),
      tables: current.snapshots.size,
    }),
    stopping: () => {
      isStopping = true
      current.readiness.stopping()
    },
    close: async () => {
      metricsServer?.close()
      await watch.stop()
      await swapping
      shared.finished.close()
      current.leave(null)
      await pool.close()
      await scanPool.close()
      await shared.clickHouse?.close()
      database.close()
      scanDatabase.close()
    },
  }
}

/** On a port of their own, or to the process that keeps this one. */
async function tellMetrics(
  registry: Metrics['registry'],
  settings: ProcessSettings,
  worker: Worker | null,
): Promise<Server | null> {
  if (worker === null) {
    const { listenForMetrics } = await import('./metrics/listen.ts')
    return listenForMetrics(settings, () => registry.metrics())
  }
  worker.measure(() => registry.getMetricsAsJSON())
  return null
}
