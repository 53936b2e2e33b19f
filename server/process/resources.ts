import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Database } from '../../core/duckdb/database.ts'
import type { ProcessSettings } from '../../core/settings/read.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import { ConcurrencyLimit, MemoryGate } from '../base/queue.ts'
import { SendBudget } from '../http/send.ts'
import { Pool, clientShare } from '../table/engine/pool.ts'
import { FinishedExports } from '../table/representations/finished-exports.ts'
import type { Worker } from './workers/worker.ts'

interface GivenResources {
  /** A worker's settings contain its share of divided limits. */
  readonly settings: ProcessSettings
  readonly store: Store
  readonly clickHouse: ClickHouse | null
  readonly log: Log
  readonly worker: Worker | null
  readonly meter: Meter | null
  readonly spill: string
  /** Null if the latest catalog is served. */
  readonly catalogFault: () => string | null
  readonly onOtherFields: (id: string, manifest: Manifest) => boolean
}

/** Live as long as the process, across catalogs. */
export interface Resources extends GivenResources {
  readonly pool: Pool
  /** Separate, so that no page waits for scans. */
  readonly scanPool: Pool
  readonly memory: MemoryGate
  readonly sendBudget: SendBudget
  readonly finished: FinishedExports
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
}

/**
 * @param pages database for pages
 * @param scans another one for scans, so that no page waits for them
 */
export async function openResources(
  external: GivenResources,
  { pages, scans }: { readonly pages: Database; readonly scans: Database },
): Promise<Resources> {
  const { settings, meter, spill } = external
  const { queryConnections, scanConnections } = settings
  return {
    ...external,
    pool: await Pool.open(pages, {
      ...settings,
      connections: queryConnections,
      observe: (timing) => meter?.queried('pages', timing),
    }),
    scanPool: await Pool.open(
      scans,
      {
        ...settings,
        connections: scanConnections,
        observe: (timing) => meter?.queried('scans', timing),
      },
      clientShare(scanConnections),
    ),
    memory: new MemoryGate(settings),
    sendBudget: new SendBudget(settings),
    finished: new FinishedExports(spill, settings.finishedBytesMax),
    exports: new ConcurrencyLimit({ ...settings, max: settings.exportsMax }, 'exports'),
    transfers: new ConcurrencyLimit({ ...settings, max: settings.filesMax }, 'downloads'),
  }
}
