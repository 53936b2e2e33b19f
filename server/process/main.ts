import cluster from 'node:cluster'
import { lastWords } from '../../core/errors.ts'
import { readSettings, shareOf } from '../../core/settings/read.ts'

/** The program: one process that serves, or several and one that keeps them. */
try {
  const settings = readSettings(process.env)
  // The one that keeps the others opens nothing of what they work with.
  if (settings.workers > 1 && cluster.isPrimary) {
    const { keepWorkers } = await import('./workers/primary.ts')
    await keepWorkers(settings)
  } else {
    const { serve } = await import('./serve.ts')
    await serve(shareOf(settings))
  }
} catch (error) {
  console.error(lastWords(error))
  // What was opened so far would keep the process alive.
  process.exit(1)
}
