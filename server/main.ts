import os from 'node:os'
import path from 'node:path'
import { loadCatalog } from '../core/catalog/load.ts'
import { readSettings } from '../core/settings.ts'
import { lastWords } from '../core/errors.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { Database } from '../core/duckdb/database.ts'
import { createApp } from './app.ts'
import { connectionsWithin, descriptorsMax } from './http/descriptors.ts'
import { addressesOf, fileAddresses, mixedFamilies } from './http/addresses.ts'
import { Responder } from './http/responder.ts'
import { listen } from './http/listen.ts'
import { openLog } from './log.ts'
import { ConcurrencyLimit } from './concurrency/limit.ts'
import { SendBudget } from './http/send-budget.ts'
import { Blocks } from './fetch/blocks.ts'
import { Pool, shareOf } from './engine/pool.ts'
import { PublicLake } from './snapshots/public-lake.ts'
import { PublicViews } from './snapshots/public-views.ts'
import { DuckDbSelections } from './select/duckdb/duckdb-selections.ts'
import { MemoryGate } from './engine/memory-gate.ts'
import { Scrub } from './snapshots/scrub.ts'
import { Snapshots } from './snapshots/snapshots.ts'
import { openSpill } from './engine/spill.ts'

/**
 * Of each query. A block lies in one row group, which one thread reads, and a second one would cost a fifth more
 * CPU for nothing; different queries run side by side all the same.
 */
const queryThreads = 1
/** Of each scan for a selection, which goes through all row groups. */
const scanThreads = os.availableParallelism()

/** The process: settings, what lives, listening, and a stop that lets every answer finish. */
async function main(): Promise<void> {
  const settings = readSettings(process.env)
  const log = openLog(settings.logLevel)
  const store = openStore(settings.warehouse)
  const catalog = await loadCatalog(settings.catalog)

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
  })
  await database.lock()
  // A database of their own, so that no page waits for a scan.
  const scanDatabase = await Database.open({
    memory: settings.scanMemory,
    threads: scanThreads,
    scratch: path.join(spill, 'scans'),
    folders: [store.localFolder],
  })
  const scanPool = await Pool.open(
    scanDatabase,
    { ...settings, connections: settings.scanConnections },
    shareOf(settings.scanConnections),
  )
  await scanDatabase.lock()
  const { snapshotsKept, snapshotGraceMs } = settings
  const retention = { count: snapshotsKept, graceMs: snapshotGraceMs }
  const snapshots = new Snapshots({ store, catalog, retention, log })
  await snapshots.refresh()
  snapshots.follow()
  const engine = {
    pool,
    blocks: new Blocks(pool, settings.blockCacheBytes),
    selections: new DuckDbSelections(scanPool, settings),
    memory: new MemoryGate(settings),
  }
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
  const app = createApp({
    ...settings,
    exports,
    transfers,
    catalog,
    snapshots,
    engine,
    responder,
    sendBudget,
    views,
    lake,
    log,
    scratch: spill,
  })
  const longestAnswerMs = settings.queueTimeoutMs + settings.queryTimeoutMs
  const connectionsMax = connectionsWithin(descriptorsMax(), settings, log)
  for (const { name } of mixedFamilies(catalog.families, settings.publicUrl)) {
    log.warn(
      { family: name },
      'PUBLIC_URL is https, and the catalog has this family write http addresses, which browsers block: give it scheme public',
    )
  }
  const listening = await listen(app, { ...settings, connectionsMax, log, longestAnswerMs })
  const datasets = catalog.families.map((family) => addressesOf(family, settings.publicUrl).list)
  // For whoever started it by hand; what reads the log finds it there.
  process.stderr.write(`The pages are at ${settings.publicUrl.href}\n`)
  log.info({ datasets, host: settings.host, port: settings.port, tables: snapshots.size }, 'serving')

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping')
    await listening.stop()
    snapshots.stop()
    scrub.stop()
    await pool.close()
    await scanPool.close()
    database.close()
    scanDatabase.close()
    log.info('stopped')
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, (name) => void stop(name))
}

try {
  await main()
} catch (error) {
  console.error(lastWords(error))
  // What was opened so far would keep the process alive.
  process.exit(1)
}
