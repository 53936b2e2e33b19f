import cluster, { type Worker } from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { catalogVersion, followVersions } from '../../../core/catalog/catalog-files.ts'
import { workerShare, type Settings } from '../../../core/settings/read.ts'
import { answerQuestions } from '../../limits/channel.ts'
import { MemoryCounts } from '../../limits/limiter.ts'
import { logWarnings, openLog, terminalLines, type Log } from '../../base/log.ts'
import { startWatchdog } from '../watchdog.ts'
import { printUrl } from '../print-url.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { ConnectionDispatcher } from './connection-dispatcher.ts'
import { stopWithinMs } from '../../http/listen.ts'
import { replacementVariable } from './worker.ts'

const serverProgram = fileURLToPath(new URL('../main.js', import.meta.url))

const pauseMs = 1000
const drainMs = 600_000
const tardinessMs = 3000

const notReplaced = 'new worker failed to start; the old ones stay'
const catalogFault =
  'no worker starts with the current catalog, for a reason that is in the log; the previous one is used'

/**
 * Passes connections to workers, counts requests for the limits, replaces dead workers, and on SIGHUP all
 * workers in turn. Answers no requests itself.
 */
export async function runPrimary(settings: Settings): Promise<void> {
  const log = openLog(settings.logLevel, {}, await terminalLines())
  logWarnings(log)
  const reception = new ConnectionDispatcher()
  await reception.listen(settings.port, settings.host)
  const keeper = new Keeper(settings.workers, reception, log)
  if (settings.metricsPort !== 0) {
    const { WorkersMetrics } = await import('./metrics.ts')
    const metrics = new WorkersMetrics(settings.workers, () => keeper.serving)
    await metrics.listen(settings)
    keeper.onDeath = metrics.died
  }
  keepCounts(workerShare(settings).clientsMax)
  followSignals(keeper, log)
  const version = await catalogVersion(settings.catalog).catch(() => null)
  // A signal may have arrived while the catalog was read.
  if (keeper.isStopping || !(await keeper.start())) return
  followCatalog(settings, version, keeper, log)
  startWatchdog(log)
  const { workers, host, port, publicUrl } = settings
  log.info({ pages: publicUrl.href, workers, host, port }, 'all workers started')
  printUrl(publicUrl)
}

/**
 * Workers read the catalog at their start. With a faulty one, new workers do not start, and the old ones
 * stay.
 */
function followCatalog(
  { catalog, catalogPollMs }: Settings,
  version: string | null,
  keeper: Keeper,
  log: Log,
): void {
  const neverAborted = new AbortController().signal
  const handleChange = async (): Promise<boolean> => {
    await keeper.replaceAll()
    return true
  }
  followVersions(catalog, version, catalogPollMs, neverAborted, handleChange).catch((error: unknown) =>
    log.error({ err: error }, 'catalog is no longer checked for changes; SIGHUP reloads it'),
  )
}

function followSignals(keeper: Keeper, log: Log): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, (name) => {
      log.info({ signal: name }, 'stopping')
      void keeper.stop().then(() => log.info('stopped'))
    })
  }
  process.on('SIGHUP', () => {
    // SIGHUP from a terminal means that it was closed.
    if (process.stdin.isTTY) process.kill(process.pid, 'SIGTERM')
    else void keeper.replaceAll()
  })
}

function keepCounts(clientsMax: number): void {
  const stores = new Map<string, { readonly counts: MemoryCounts; readonly quota: number }>()
  cluster.on('message', (worker, message: FromWorker) => {
    if ('policies' in message) {
      for (const policy of message.policies) {
        // A worker that started later may have another catalog, with another quota.
        if (stores.get(policy.name)?.quota === policy.quota) continue
        stores.set(policy.name, { counts: new MemoryCounts(clientsMax, policy), quota: policy.quota })
      }
    } else if ('counts' in message) {
      void answerQuestions((name) => stores.get(name)?.counts, message).then((replies) =>
        sendMessage(worker, replies),
      )
    }
  })
}

class Keeper {
  readonly #count: number
  readonly #reception: ConnectionDispatcher
  readonly #log: Log
  readonly #serving = new Set<Worker>()
  #replacing: Promise<void> = Promise.resolve()
  #isStopping = false
  onDeath = (): void => undefined

  constructor(count: number, reception: ConnectionDispatcher, log: Log) {
    this.#count = count
    this.#reception = reception
    this.#log = log
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get serving(): readonly Worker[] {
    return [...this.#serving]
  }

  /**
   * Starts one worker before the others, since a faulty configuration would make all fail.
   * @returns false if the primary is stopping
   */
  async start(): Promise<boolean> {
    const first = this.#fork({ isReplacement: false })
    const code = await Promise.race([waitUntilServing(first), exitOf(first)])
    if (this.#isStopping) return false
    // Exit silently: the worker has logged the reason.
    if (code !== null) process.exit(code || 1)
    this.#keep(first, { isServing: true })
    const furtherWorkers = Array.from({ length: this.#count - 1 }, () => this.#fork({ isReplacement: true }))
    for (const worker of furtherWorkers) this.#keep(worker)
    await Promise.all(
      furtherWorkers.map((worker) => Promise.race([waitUntilServing(worker), exitOf(worker)])),
    )
    return !this.#isStopping
  }

  /**
   * Ends each worker after its successor serves, so that service is not interrupted. Concurrent calls run in
   * sequence.
   */
  async replaceAll(): Promise<void> {
    this.#replacing = this.#replacing
      .then(async () => (this.#isStopping ? undefined : this.#replaceEach()))
      .catch((error: unknown) => this.#log.error({ err: error }, notReplaced))
    await this.#replacing
  }

  /** Starts a new worker for each old one; stops at the first that does not serve. */
  async #replaceEach(): Promise<void> {
    this.#log.info('replacing workers')
    for (const old of Object.values(cluster.workers ?? {})) {
      if (old === undefined || ending.has(old) || old.isDead()) continue
      const fresh = this.#fork({ isReplacement: true })
      // Null if it serves; its exit code if it ends before.
      const exitCode = await Promise.race([waitUntilServing(fresh), exitOf(fresh)])
      if (this.#isStopping) return
      if (exitCode !== null) {
        this.#log.error(notReplaced)
        for (const worker of this.#serving) sendMessage(worker, { notReplaced: catalogFault })
        return
      }
      this.#keep(fresh, { isServing: true })
      // An old worker that died is already replaced: end the fresh one.
      void this.#end([old.isDead() ? fresh : old], drainMs)
    }
    this.#log.info('all workers replaced')
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#reception.close()
    // Does not wait for replacements, since workers that are still starting must end too.
    await this.#end(
      Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []),
      stopWithinMs,
    )
  }

  async #end(workers: readonly Worker[], withinMs: number): Promise<void> {
    for (const worker of workers) {
      ending.add(worker)
      this.#remove(worker)
    }
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.isDead()) return
        const exit = exitOf(worker)
        // A worker that does not serve yet has nothing to finish, and might not receive messages.
        if (startedWorkers.has(worker)) sendMessage(worker, { stopWithinMs: withinMs })
        else worker.process.kill('SIGKILL')
        const timeout = setTimeout(withinMs + tardinessMs, 'late', { ref: false })
        if ((await Promise.race([exit, timeout])) === 'late') worker.process.kill('SIGKILL')
        await exit
      }),
    )
  }

  #fork({ isReplacement }: { readonly isReplacement: boolean }): Worker {
    // The primary may run within another program.
    cluster.setupPrimary({ exec: serverProgram, args: [] })
    const worker = cluster.fork({ [replacementVariable]: isReplacement ? 'yes' : 'no' })
    worker.on('message', (message: FromWorker) => {
      if ('accepted' in message) this.#reception.confirm(message.accepted)
      else if ('event' in message) {
        startedWorkers.add(worker)
        if (ending.has(worker)) return
        this.#serving.add(worker)
        this.#reception.add(worker)
      }
    })
    worker.on('error', (error) => {
      this.#log.error({ worker: worker.id, err: error }, 'failed to start or message a worker')
      if (!worker.isDead()) return
      // A worker that failed to start has no exit event, and would stay in the list.
      Reflect.deleteProperty(cluster.workers ?? {}, worker.id)
      worker.emit('exit', 1, null)
    })
    worker.once('exit', () => this.#remove(worker))
    return worker
  }

  #remove(worker: Worker): void {
    this.#serving.delete(worker)
    this.#reception.remove(worker)
  }

  #keep(worker: Worker, { isServing } = { isServing: false }): void {
    let hasServed = isServing
    void waitUntilServing(worker).finally(() => (hasServed = true))
    worker.once('exit', (code, signal) => {
      if (ending.has(worker) || this.#isStopping) return
      this.#log.error({ worker: worker.id, code, signal }, 'worker died; starting another')
      this.onDeath()
      void this.#replaceAfter(hasServed ? 0 : pauseMs)
    })
  }

  async #replaceAfter(pause: number): Promise<void> {
    await setTimeout(pause)
    if (this.#isStopping) return
    try {
      this.#keep(this.#fork({ isReplacement: true }))
    } catch (error) {
      this.#log.error({ err: error }, 'failed to start a worker; trying again in a second')
      await this.#replaceAfter(pauseMs)
    }
  }
}

const startedWorkers = new WeakSet<Worker>()
/** Workers ended on purpose, which is no failure. */
const ending = new WeakSet<Worker>()

function sendMessage(worker: Worker, message: ToWorker): void {
  // Ignore errors: the exit event reports a dead worker.
  if (worker.isConnected()) worker.send(message, () => undefined)
}

function waitUntilServing(worker: Worker): Promise<null> {
  return new Promise((resolve) => {
    worker.on('message', (message: FromWorker) => {
      if ('event' in message) resolve(null)
    })
  })
}

function exitOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code ?? 1))
  })
}
