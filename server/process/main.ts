import cluster from 'node:cluster'
import { readSettings, workerShare } from '../../core/settings/read.ts'
import { logFatal } from '../base/log.ts'

/** Starts one process that serves, or a primary with workers. */
process.on('uncaughtException', fail)
try {
  const settings = readSettings(process.env)
  // Import on demand, so that the primary does not load the modules that serve requests.
  if (settings.workers > 1 && cluster.isPrimary) {
    const { runPrimary: keepWorkers } = await import('./workers/primary.ts')
    await keepWorkers(settings)
  } else {
    const { serve } = await import('./serve.ts')
    await serve(workerShare(settings))
  }
} catch (error) {
  fail(error)
}

function fail(error: unknown): never {
  logFatal(error)
  // Open resources would keep the process alive.
  process.exit(1)
}
