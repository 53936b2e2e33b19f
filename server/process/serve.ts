import type { ProcessSettings } from '../../core/settings/read.ts'
import { StartupGate, listen, stopWithinMs, type Listening } from '../http/listen.ts'
import { connectionsWithin, descriptorsMax } from '../http/descriptors.ts'
import { logWarnings, openLog, terminalLines } from '../base/log.ts'
import { startWatchdog } from './watchdog.ts'
import { printUrl } from './print-url.ts'
import { thisWorker } from './workers/worker.ts'

/**
 * Opens the port first, then the service behind it; finishes running responses before it stops.
 * @param settings of this process; limits for all workers are already divided among them
 */
export async function serve(settings: ProcessSettings): Promise<void> {
  const worker = thisWorker()
  const log = openLog(settings.logLevel, { worker: worker?.id }, await terminalLines())
  logWarnings(log)
  const connectionsMax = connectionsWithin(descriptorsMax(), settings, log)
  const gate = new StartupGate()
  const listenNow = (): Promise<Listening> =>
    listen(gate.answer, {
      ...settings,
      connectionsMax,
      log,
      longestAnswerMs: settings.queueTimeoutMs + settings.queryTimeoutMs,
      ...(worker !== null && { receive: worker.receive }),
    })
  // While other workers serve, a new worker accepts no request before it can answer.
  const isRelieving = worker?.isReplacement === true
  let listening = null as Listening | null
  // Importing the service is synchronous and takes most of the start-up time; the signal handlers below are
  // set first.
  const listenThenOpenService = async () => {
    if (!isRelieving) listening = await listenNow()
    const { openService } = await import('./service.ts')
    return openService(settings, log, worker, gate, () => listening?.connections() ?? 0)
  }
  const opening = listenThenOpenService()
  let isServing = false
  const end = async (withinMs: number): Promise<void> => {
    log.info('stopping')
    // Wait for the service before stopping it, so that requests from the startup are answered.
    const service = await opening
    service.stopping()
    await listening?.stop(withinMs)
    await service.close()
    log.info('stopped')
    // Exit now if the start is unfinished, instead of waiting until all tables are loaded.
    if (!isServing) process.exit()
  }
  let ending: Promise<void> | null = null
  const stop = async (withinMs: number): Promise<void> => {
    // A second signal may shorten the time.
    if (ending !== null) void listening?.stop(withinMs)
    ending ??= end(withinMs)
    await ending
  }
  const isEnding = (): boolean => ending !== null
  if (worker === null) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(stopWithinMs))
    process.on('SIGHUP', () => {
      // SIGHUP from a terminal means that it was closed.
      if (process.stdin.isTTY) void stop(stopWithinMs)
      else void opening.then((service) => service.reload())
    })
  }
  worker?.onStop(stop)

  const service = await opening
  await service.load()
  if (isEnding()) return
  listening ??= await listenNow()
  isServing = true
  const { datasets, tables } = service.served()
  const { host, port, publicUrl } = settings
  log.info({ pages: publicUrl.href, datasets, host, port, tables }, 'serving')
  startWatchdog(log)
  if (worker === null) printUrl(publicUrl)
  worker?.serving()
}
