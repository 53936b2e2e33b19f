import type { Meter } from '../base/meter.ts'
import type { Server } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { ClickHouse } from '../../core/clickhouse/link.ts'
import { StartError } from '../../core/errors.ts'
import { catalogVersion } from '../../core/catalog/catalog-files.ts'
import { allTables, tableId, type Catalog } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import type { ProcessSettings } from '../../core/settings/read.ts'
import { ParsedCatalog } from '../../core/warehouse/parsed-catalog.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { Database } from '../../core/duckdb/database.ts'
import { CatalogWatch } from './catalog-watch.ts'
import { addressesOf } from '../http/addresses.ts'
import type { StartupGate } from '../http/listen.ts'
import { problemCodes } from '../http/problems.ts'
import type { Metrics } from './metrics/metrics.ts'
import { fitToWarehouse, isServable } from '../snapshots/fitted-catalog.ts'
import { openSpill } from '../table/engine/spill.ts'
import { preparePublication } from './publication.ts'
import { openResources } from './resources.ts'
import type { Log } from '../base/log.ts'
import type { Worker } from './workers/worker.ts'

/**
 * DuckDB reads a page from one row group, with one thread. A second thread would use a fifth more CPU without
 * gain.
 */
const queryThreads = 1
/** Other optimizers change nothing on simple queries, but take a tenth of the time. */
const optimizersOfPages = ['expression_rewriter', 'filter_pushdown', 'in_clause', 'unused_columns']

const refitAgainMs = 5000

export interface Service {
  readonly load: () => Promise<void>
  readonly reload: () => Promise<void>
  readonly served: () => { readonly datasets: readonly string[]; readonly tables: number }
  readonly stopping: () => void
  /** Called after the last request. */
  readonly close: () => Promise<void>
}

/**
 * @param settings of this process; limits for all workers are already divided among them
 * @param gate passes requests to the app of the current catalog
 * @param connections returns the number of open connections
 */
export async function openService(
  settings: ProcessSettings,
  log: Log,
  worker: Worker | null,
  gate: StartupGate,
  connections: () => number,
): Promise<Service> {
  const store = openStore(settings.warehouse, {
    ...settings,
    localFolder: path.join(settings.localFolder, 'server'),
    isOnlyRead: true,
  })
  if (store.isRemote && worker !== null)
    throw new StartError(
      `WORKERS must be 1 with ${store.address}, since each process would fetch its own copies: start several servers instead`,
    )
  const version = await catalogVersion(settings.catalog).catch(() => null)
  const catalog = await loadCatalog(settings.catalog, new ParsedCatalog(store))

  // Load metrics only if they are on.
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
  // A separate database, so that no page waits for a scan.
  const scanDatabase = await Database.open({
    memory: `${settings.scanBytes / 1e6}MB`,
    // A scan reads all row groups in parallel.
    threads: Math.max(1, Math.floor(os.availableParallelism() / settings.workers)),
    scratch: path.join(spill, 'scans'),
    folders: [store.localFolder],
  })
  const catalogFault = (): string | null => worker?.notReplaced() ?? watch.fault
  const resources = await openResources(
    {
      settings,
      store,
      clickHouse: await ClickHouse.open(settings.clickHouseUrl),
      log,
      worker,
      meter,
      spill,
      catalogFault,
      onOtherFields: (id, manifest) => {
        void refit()
        return allTables(newestCatalog).some((table) => tableId(table) === id && isServable(table, manifest))
      },
    },
    { pages: database, scans: scanDatabase },
  )
  await database.lock()
  await scanDatabase.lock()
  const { pool, scanPool, exports, transfers, sendBudget, memory } = resources
  let current = await preparePublication(resources, await fitToWarehouse(store, catalog, () => null), null)
  let declaredCatalog = catalog
  // Also while it is being loaded.
  let newestCatalog = catalog
  let isStopping = false
  let swapping: Promise<void> = Promise.resolve()
  /** Serves another catalog, or the same one fitted anew, once its tables are loaded. */
  const swap = async (next: Catalog): Promise<void> => {
    const before = current
    const fittedCatalog = await fitToWarehouse(store, next, (table) =>
      before.built.runtime.snapshots.latest(table),
    )
    if (next === declaredCatalog && fittedCatalog.key === before.fitted.key) return
    const publication = await preparePublication(resources, fittedCatalog, before)
    newestCatalog = next
    try {
      await publication.load()
    } catch (error) {
      newestCatalog = declaredCatalog
      publication.retire({ successor: before })
      throw error
    }
    current = publication
    gate.open(publication.app)
    declaredCatalog = next
    if (isStopping) publication.built.runtime.readiness.stopping()
    before.retire({ successor: publication })
  }
  const swapInTurn = (catalogOf: () => Catalog): Promise<void> => {
    const swapped = swapping.then(() => swap(catalogOf()))
    swapping = swapped.catch(() => undefined)
    return swapped
  }
  const refit = (): Promise<void> =>
    swapInTurn(() => declaredCatalog).catch((error: unknown) => {
      log.error(
        { err: error },
        'the catalog could not be adapted to the fields of the published tables; trying again',
      )
      if (!isStopping) setTimeout(() => void refit(), refitAgainMs).unref()
    })
  const watch = new CatalogWatch(settings.catalog, catalog, log, (next) => swapInTurn(() => next))
  metrics?.watch({
    pools: { pages: pool, scans: scanPool },
    caches: {
      // Read the statistics on each call: every catalog has caches of its own.
      answers: {
        get stats() {
          return current.built.runtime.responder.stats
        },
      },
      selections: {
        get stats() {
          return current.built.selectionCache.stats
        },
      },
    },
    tables: () => current.built.runtime.snapshots.statuses,
    isCatalogFaulty: () => catalogFault() !== null,
    isReady: () => current.built.runtime.readiness.now().state === 'ready',
    readLevels: {
      connections,
      exports_running: () => exports.running,
      transfers_running: () => transfers.running,
      unsent_bytes: () => sendBudget.bytes,
      making_bytes: () => memory.reservedBytes,
      rate_limit_store_up: () => Number(current.built.limits.counting?.isUp() ?? true),
    },
  })
  const metricsServer = metrics === null ? null : await exposeMetrics(metrics.registry, settings, worker)
  gate.open(current.app)
  return {
    load: async () => {
      const loading = current.load()
      swapping = loading.catch(() => undefined)
      await loading
      // The primary watches the catalog for workers, and replaces them when it changes.
      if (worker === null) watch.begin(settings.catalogPollMs, version)
      if (current.built.runtime.snapshots.size > 0) return
      log.warn(
        { warehouse: store.address },
        'the warehouse is empty: check WAREHOUSE, or run `acervo ingest` first',
      )
    },
    reload: async () => void (await watch.reload()),
    served: () => ({
      datasets: current.fitted.catalog.families.map((family) => addressesOf(family, settings.publicUrl).list),
      tables: current.built.runtime.snapshots.size,
    }),
    stopping: () => {
      isStopping = true
      current.built.runtime.readiness.stopping()
    },
    close: async () => {
      metricsServer?.close()
      await watch.stop()
      await swapping
      resources.finished.close()
      current.retire({ successor: null })
      await pool.close()
      await scanPool.close()
      await resources.clickHouse?.close()
      database.close()
      scanDatabase.close()
    },
  }
}

async function exposeMetrics(
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
