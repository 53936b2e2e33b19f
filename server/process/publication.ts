import { freshnessOf } from '../http/headers.ts'
import { mkdir, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import type { ProcessSettings } from '../../core/settings/read.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { createApp } from './app.ts'
import type { ConcurrencyLimit, MemoryGate } from '../base/queue.ts'
import type { Pool } from '../table/engine/pool.ts'
import { fileAddresses, mixedFamilies } from '../http/addresses.ts'
import { clientOf, type ClientOf } from '../http/client.ts'
import { Responder } from '../http/responder.ts'
import type { SendBudget } from '../http/send.ts'
import { Dictionaries } from '../table/indexes/dictionaries.ts'
import { Limiter } from '../limits/limiter.ts'
import { policiesOf, type Policy } from '../limits/policies.ts'
import type { CacheStats } from '../base/cache.ts'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import type { FinishedExports } from '../table/representations/finished-exports.ts'
import { PlannedSelections } from '../table/selection/planned-selections.ts'
import { SelectionCache } from '../table/selection/selection-cache.ts'
import type { FittedCatalog } from '../snapshots/fitted-catalog.ts'
import { PublicViews } from '../snapshots/public-views.ts'
import { Readiness } from '../snapshots/readiness.ts'
import { Prefetch } from '../snapshots/prefetch.ts'
import { Scrub } from '../snapshots/scrub.ts'
import { Snapshots } from '../snapshots/snapshots.ts'
import { openCounts, type Counting } from './workers/counts.ts'
import type { Worker } from './workers/worker.ts'

/** Objects that live as long as the process, across catalogs. */
export interface Shared {
  readonly settings: ProcessSettings
  readonly store: Store
  readonly pool: Pool
  readonly scanPool: Pool
  /** Null if no ClickHouse is configured. */
  readonly clickHouse: ClickHouse | null
  readonly log: Log
  readonly worker: Worker | null
  /** Null if metrics are off. */
  readonly meter: Meter | null
  readonly spill: string
  readonly memory: MemoryGate
  readonly sendBudget: SendBudget
  readonly finished: FinishedExports
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
  /** Returns why the latest catalog is not served; null if it is. */
  readonly catalogFault: () => string | null
  /** See `TablesContext`. */
  readonly onOtherFields: (id: string, manifest: Manifest) => boolean
}

/** A catalog while it is served. */
interface Publication {
  readonly fitted: FittedCatalog
  readonly app: RequestListener
  readonly snapshots: Snapshots
  readonly readiness: Readiness
  readonly caches: Readonly<Record<'answers' | 'selections', { readonly stats: CacheStats }>>
  readonly isCountingUp: () => boolean
  readonly limits: Limits
  /** Loads every table, and then follows newly published snapshots. */
  readonly load: () => Promise<void>
  /** Stops background work; running requests are finished. */
  readonly retire: (next: Publication | null) => void
}

interface Limits {
  readonly policies: readonly Policy[]
  readonly counting: Counting | null
  readonly limiter: Limiter | null
}

let number = 0
/** Time after which the temporary files of a replaced catalog are deleted. */
const scratchGraceMs = 600_000

/** @param before the publication that this one replaces; null at the start of the process */
export async function publishCatalog(
  shared: Shared,
  fitted: FittedCatalog,
  before: Publication | null,
): Promise<Publication> {
  const { catalog, lacking } = fitted
  const { settings, store, pool, scanPool, log, spill } = shared
  const { snapshotsKept, snapshotGraceMs } = settings
  const retention = { count: snapshotsKept, graceMs: snapshotGraceMs }
  const snapshots = new Snapshots({
    store,
    catalog,
    retention,
    log,
    before: before?.snapshots ?? null,
    lacking,
    onOtherFields: shared.onOtherFields,
  })
  const readiness = new Readiness(snapshots, before?.readiness ?? null)
  const indexBytesMax = settings.indexBytesMax / 2
  const dictionaries = new Dictionaries(pool, indexBytesMax)
  const found = new SelectionCache(settings.selectionBytesMax)
  const selections = new PlannedSelections(
    scanPool,
    dictionaries,
    found,
    { ...settings, codesBytesMax: indexBytesMax, groupBytesMax: settings.indexBytesMax },
    shared.clickHouse,
  )
  const responder = new Responder({ ...settings, cachedBytesMax: settings.pageCacheBytes }, shared.sendBudget)
  number += 1
  const scratch = path.join(spill, `catalog-${number}`)
  await mkdir(scratch)
  const views = new PublicViews({
    catalog,
    snapshots,
    warehouse: store.isRemote ? null : store.localFolder,
    filesAddress: fileAddresses(settings.publicUrl).base,
    scratch,
  })
  const scrub = new Scrub(snapshots, log)
  const prefetch = new Prefetch(snapshots, store, log)
  const client = clientWith(settings, log)
  const limits = await limitsOf(shared, catalog, client, before)
  const app = createApp({
    ...shared,
    ...settings,
    catalog,
    client,
    limiter: limits.limiter,
    freshness: freshnessOf(settings.maxAgeSeconds),
    snapshots,
    readiness,
    engine: { pool, selections, memory: shared.memory },
    responder,
    views,
    scratch,
  })
  for (const { name } of mixedFamilies(catalog.families, settings.publicUrl)) {
    log.warn(
      { family: name },
      'PUBLIC_URL is https, but this family writes http addresses, which browsers block: declare scheme: public for it',
    )
  }
  // Closures below must not use `before`: they would keep every earlier publication, with its caches.
  const isFirst = before === null
  return {
    fitted,
    app,
    snapshots,
    readiness,
    caches: { answers: responder, selections: found },
    isCountingUp: () => limits.counting?.isUp() ?? true,
    limits,
    load: async () => {
      await snapshots.refresh()
      snapshots.follow()
      readiness.loaded()
      if (isFirst) warnOfOlder(allTables(catalog), snapshots, log)
      scrub.begin(settings.scrubMs)
      prefetch.begin()
    },
    retire: (next) => {
      snapshots.stop()
      scrub.stop()
      prefetch.stop()
      if (next !== null) removeLater(scratch)
      if (next?.limits.counting !== limits.counting) limits.counting?.close()
    },
  }
}

/** The next publications keep this function with their limits, so it must not keep the objects of one. */
function clientWith(settings: ProcessSettings, log: Log): ClientOf {
  return clientOf(settings, () => {
    log.warn('X-Forwarded-For is ignored, so all clients of a proxy count as one: set TRUST_PROXY')
  })
}

/** Removes temporary files of a replaced catalog when no request can need them. */
function removeLater(scratch: string): void {
  setTimeout(() => void rm(scratch, { recursive: true, force: true }), scratchGraceMs).unref()
}

/**
 * Warns about tables published by an earlier version of Acervo. Without a row store, DuckDB reads their
 * pages, which is slower.
 */
function warnOfOlder(tables: readonly Table[], snapshots: Snapshots, log: Log): void {
  const older = tables.filter((table) => {
    const manifest = snapshots.current(table)?.manifest
    return (
      table.hasRowStore && manifest !== undefined && manifest.rows > 0 && manifest.row_stores === undefined
    )
  })
  if (older.length > 0)
    log.warn(
      { tables: older.map(tableId) },
      'tables of an earlier version are slower until the next `acervo ingest` writes them again',
    )
}

/** Reuses the counts of the previous catalog if the limits are equal, so that a reload does not reset usage. */
async function limitsOf(
  { settings, worker, log }: Shared,
  catalog: Catalog,
  client: ClientOf,
  before: Publication | null,
): Promise<Limits> {
  const policies = policiesOf(catalog.limits, os.availableParallelism())
  if (before !== null && isDeepStrictEqual(before.limits.policies, policies)) return before.limits
  const counting = settings.rateLimits ? await openCounts(policies, settings, worker, log) : null
  return {
    policies,
    counting,
    limiter: counting === null ? null : new Limiter(policies, client, counting.countsFor),
  }
}
