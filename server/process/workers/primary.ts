import cluster, { type Worker } from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { catalogVersion, followVersions } from '../../../core/catalog/catalog-files.ts'
import { shareOf, type Settings } from '../../../core/settings/read.ts'
import { answered } from '../../limits/channel.ts'
import { MemoryCounts } from '../../limits/limiter.ts'
import { linesForPeople, openLog, type Log } from '../../base/log.ts'
import { startWatchdog } from '../watchdog.ts'
import { printUrl } from '../print-url.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { Reception } from './reception.ts'
import { stopWithinMs } from '../../http/listen.ts'
import { relievingVariable } from './worker.ts'

/** Before another takes the place of one that never came to serve. */
const pauseMs = 1000
/** A worker that is replaced may go on with answers that have begun, such as a download, for so long. */
const drainMs = 600_000
/** What it has more than it was given, before it is ended. */
const tardinessMs = 3000

const notReplaced = 'a new worker did not start: the old ones go on'

/**
 * The process that keeps the workers: it hands connections to them in turn, counts for the limits, replaces one that died,
 * and replaces all, one after the other, on SIGHUP. It serves nothing itself.
 */
export async function keepWorkers(settings: Settings): Promise<void> {
  const log = openLog(settings.logLevel, {}, await linesForPeople())
  const reception = new Reception()
  await reception.listen(settings.port, settings.host)
  const keeper = new Keeper(settings.workers, reception, log)
  if (settings.metricsPort !== 0) {
    const { WorkersMetrics } = await import('./metrics.ts')
    const metrics = new WorkersMetrics(settings.workers, () => keeper.serving)
    await metrics.listen(settings)
    keeper.onDeath = metrics.died
  }
  keepCounts(shareOf(settings).clientsMax)
  followSignals(keeper, log)
  const version = await catalogVersion(settings.catalog).catch(() => null)
  // A signal may have stopped it while it read the catalog.
  if (keeper.isStopping || !(await keeper.start())) return
  followCatalog(settings, version, keeper, log)
  startWatchdog(log)
  log.info({ workers: settings.workers, host: settings.host, port: settings.port }, 'all workers serve')
  printUrl(settings.publicUrl)
}

/** Workers serve by the catalog that they have read at their start; one that is faulty keeps a new one from starting. */
function followCatalog(
  { catalog, catalogPollMs }: Settings,
  version: string | null,
  keeper: Keeper,
  log: Log,
): void {
  const changed = async (): Promise<boolean> => {
    await keeper.replaceAll()
    return true
  }
  followVersions(catalog, version, catalogPollMs, new AbortController().signal, changed).catch(
    (error: unknown) => log.error({ err: error }, 'the catalog is not followed any more'),
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
    // A terminal that is closed means another thing.
    if (process.stdin.isTTY) process.kill(process.pid, 'SIGTERM')
    else void keeper.replaceAll()
  })
}

/** Answers the workers what each client has had, of all of them together. */
function keepCounts(clientsMax: number): void {
  const stores = new Map<string, { readonly counts: MemoryCounts; readonly quota: number }>()
  cluster.on('message', (worker, message: FromWorker) => {
    if ('policies' in message) {
      for (const policy of message.policies) {
        // A worker that was started later may know another catalog.
        if (stores.get(policy.name)?.quota === policy.quota) continue
        stores.set(policy.name, { counts: new MemoryCounts(clientsMax, policy), quota: policy.quota })
      }
    } else if ('counts' in message) {
      void answered((name) => stores.get(name)?.counts, message).then((replies) => tell(worker, replies))
    }
  })
}

class Keeper {
  readonly #count: number
  readonly #reception: Reception
  readonly #log: Log
  readonly #serving = new Set<Worker>()
  #replacing: Promise<void> = Promise.resolve()
  #isStopping = false
  /** Told when a worker has died. */
  onDeath = (): void => undefined

  constructor(count: number, reception: Reception, log: Log) {
    this.#count = count
    this.#reception = reception
    this.#log = log
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Those that take connections. */
  get serving(): readonly Worker[] {
    return [...this.#serving]
  }

  /** The first alone, since what keeps it from starting keeps the others too. Says whether all serve, once they do. */
  async start(): Promise<boolean> {
    const first = this.#fork(false)
    const code = await Promise.race([serving(first), exitOf(first)])
    if (this.#isStopping) return false
    // It has said why.
    if (code !== null) process.exit(code || 1)
    this.#keep(first, true)
    const others = Array.from({ length: this.#count - 1 }, () => this.#fork(true))
    for (const worker of others) this.#keep(worker)
    await Promise.all(others.map((other) => Promise.race([serving(other), exitOf(other)])))
    return !this.#isStopping
  }

  /** New ones first, each before an old one ends, so that readers meet no gap; once at a time. */
  async replaceAll(): Promise<void> {
    this.#replacing = this.#replacing
      .then(async () => (this.#isStopping ? undefined : this.#replaceEach()))
      .catch((error: unknown) => this.#log.error({ err: error }, notReplaced))
    await this.#replacing
  }

  async #replaceEach(): Promise<void> {
    this.#log.info('replacing all workers')
    for (const old of Object.values(cluster.workers ?? {})) {
      if (old === undefined || ending.has(old) || old.isDead()) continue
      const fresh = this.#fork(true)
      const code = await Promise.race([serving(fresh), exitOf(fresh)])
      if (this.#isStopping) return
      if (code !== null) {
        this.#log.error(notReplaced)
        return
      }
      this.#keep(fresh, true)
      // One that has died meanwhile has its successor already. Nobody waits for the downloads of the old ones.
      void this.#end([old.isDead() ? fresh : old], drainMs)
    }
    this.#log.info('all workers replaced')
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#reception.close()
    // Not in turn: it ends what is being started too, and whoever waits for that.
    await this.#end(
      Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []),
      stopWithinMs,
    )
  }

  async #end(workers: readonly Worker[], withinMs: number): Promise<void> {
    for (const worker of workers) {
      ending.add(worker)
      this.#leave(worker)
    }
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.isDead()) return
        const ended = exitOf(worker)
        // One that has not begun to serve has nothing to finish, and may not hear it.
        if (begun.has(worker)) tell(worker, { stopWithinMs: withinMs })
        else worker.process.kill('SIGKILL')
        const late = setTimeout(withinMs + tardinessMs, 'late', { ref: false })
        if ((await Promise.race([ended, late])) === 'late') worker.process.kill('SIGKILL')
        await ended
      }),
    )
  }

  #fork(isRelieving: boolean): Worker {
    const worker = cluster.fork({ [relievingVariable]: isRelieving ? 'yes' : 'no' })
    worker.on('message', (message: FromWorker) => {
      if ('took' in message) this.#reception.taken(message.took)
      else if ('told' in message) {
        begun.add(worker)
        if (ending.has(worker)) return
        this.#serving.add(worker)
        this.#reception.add(worker)
      }
    })
    worker.on('error', (error) => {
      this.#log.error({ worker: worker.id, err: error }, 'a worker could not be started or told something')
      if (!worker.isDead()) return
      // One that could not be started has no exit of its own, and stays in the list.
      Reflect.deleteProperty(cluster.workers ?? {}, worker.id)
      worker.emit('exit', 1, null)
    })
    worker.once('exit', () => this.#leave(worker))
    return worker
  }

  #leave(worker: Worker): void {
    this.#serving.delete(worker)
    this.#reception.remove(worker)
  }

  /** Another takes its place when it dies. */
  #keep(worker: Worker, isServing = false): void {
    let hasServed = isServing
    void serving(worker).finally(() => (hasServed = true))
    worker.once('exit', (code, signal) => {
      if (ending.has(worker) || this.#isStopping) return
      this.#log.error({ worker: worker.id, code, signal }, 'a worker died; another takes its place')
      this.onDeath()
      void this.#replaceAfter(hasServed ? 0 : pauseMs)
    })
  }

  async #replaceAfter(pause: number): Promise<void> {
    await setTimeout(pause)
    if (this.#isStopping) return
    try {
      this.#keep(this.#fork(true))
    } catch (error) {
      this.#log.error({ err: error }, 'the system starts no worker; tried again in a second')
      await this.#replaceAfter(pauseMs)
    }
  }
}

/** Those that have told that they serve. */
const begun = new WeakSet<Worker>()
/** Those that are meant to end. */
const ending = new WeakSet<Worker>()

function tell(worker: Worker, message: ToWorker): void {
  // One that is gone is told by its exit.
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/** Null when it serves. */
function serving(worker: Worker): Promise<null> {
  return new Promise((resolve) => {
    worker.on('message', (message: FromWorker) => {
      if ('told' in message) resolve(null)
    })
  })
}

function exitOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code ?? 1))
  })
}
