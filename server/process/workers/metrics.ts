import cluster, { type Worker } from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { Settings } from '../../../core/settings/read.ts'
import { listenForMetrics } from '../metrics/listen.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Slower workers are missing from the response. */
const patienceMs = 1000

/** Metrics of the primary and all workers together. */
export class WorkersMetrics {
  readonly #serving: () => readonly Worker[]
  readonly #registry = new Registry()
  readonly #deaths: Counter
  readonly #waiting = new Map<number, (metrics: AggregatedMetrics) => void>()
  #last = 0

  constructor(workerCount: number, serving: () => readonly Worker[]) {
    this.#serving = serving
    const registers = [this.#registry]
    this.#deaths = new Counter({
      name: 'acervo_worker_deaths_total',
      help: 'Workers that died unexpectedly.',
      registers,
    })
    this.#registry.registerMetric(
      new Gauge({
        name: 'acervo_workers',
        help: 'Workers that serve.',
        registers: [],
        collect() {
          this.set(serving().length)
        },
      }),
    )
    new Gauge({ name: 'acervo_workers_wanted', help: 'Configured workers.', registers }).set(workerCount)
    cluster.on('message', (_worker, message: FromWorker) => {
      if ('measuredAs' in message) this.#waiting.get(message.measuredAs)?.(message.metrics)
    })
  }

  readonly died = (): void => this.#deaths.inc()

  async listen(settings: Pick<Settings, 'metricsHost' | 'metricsPort'>): Promise<void> {
    const server = await listenForMetrics(settings, async () => {
      const reports = await Promise.all(this.#serving().map((worker) => this.#ask(worker)))
      const workers = AggregatorRegistry.aggregate(
        reports.flatMap((metrics) => (metrics === null ? [] : [metrics])),
      )
      const texts = await Promise.all([workers.metrics(), this.#registry.metrics()])
      return texts.join('\n')
    })
    // The server must not keep the process alive.
    server.unref()
  }

  async #ask(worker: Worker): Promise<AggregatedMetrics | null> {
    this.#last += 1
    const id = this.#last
    const answered = new Promise<AggregatedMetrics>((resolve) => this.#waiting.set(id, resolve))
    const message: ToWorker = { measureAs: id }
    if (worker.isConnected()) worker.send(message, () => undefined)
    const controller = new AbortController()
    const timeout = setTimeout(patienceMs, null, { signal: controller.signal, ref: false }).catch(() => null)
    const answer = await Promise.race([answered, timeout])
    controller.abort()
    this.#waiting.delete(id)
    return answer
  }
}
