import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { loadCatalog } from '../core/catalog/load.ts'
import { readSettings } from '../core/settings.ts'
import { lastWords } from '../core/errors.ts'
import { Database } from '../core/warehouse/duckdb.ts'
import { createApp } from './app.ts'
import { addressesOf } from './http/addresses.ts'
import { listen } from './http/listen.ts'
import { openLog } from './http/logging.ts'
import { Connections } from './rows/connections.ts'
import { Snapshots } from './rows/snapshots.ts'

/** The process: settings, what lives, listening, and a stop that lets every answer finish. */
async function main(): Promise<void> {
  const settings = readSettings(process.env)
  const log = openLog(settings.logLevel)
  const catalog = await loadCatalog(settings.catalog)

  const spill = await mkdtemp(path.join(os.tmpdir(), 'acervo-'))
  process.once('exit', () => rmSync(spill, { recursive: true, force: true }))
  const database = await Database.open({
    memory: settings.queryMemory,
    threads: os.availableParallelism(),
    scratch: spill,
    folders: [settings.warehouse],
  })
  const limits = { connections: settings.queryConnections, timeoutMs: settings.queryTimeoutMs }
  const connections = await Connections.open(database, limits)
  await database.lock()
  const snapshots = new Snapshots(settings.warehouse, catalog, log)
  await snapshots.refresh()
  snapshots.follow()

  const app = createApp({ ...settings, catalog, snapshots, connections, log })
  // A query may wait in line for as long as it may run.
  const longestAnswerMs = 2 * settings.queryTimeoutMs
  const listening = await listen(app, { ...settings, log, longestAnswerMs })
  const datasets = catalog.families.map((family) => addressesOf(family, settings.publicUrl).list)
  log.info({ datasets, host: settings.host, port: settings.port, tables: snapshots.size }, 'serving')

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping')
    await listening.stop()
    snapshots.stop()
    await connections.close()
    database.close()
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
