import cluster from 'node:cluster'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import { listenForMetrics } from '../metrics/listen.ts'

/** The metrics of all workers together, and those of the process that keeps them. */
export class WorkersMetrics {
  readonly #own = new Registry()
  readonly #all = new AggregatorRegistry()
  readonly #deaths: Counter

  constructor(wanted: number) {
    const registers = [this.#own]
    this.#deaths = new Counter({
      name: 'acervo_worker_deaths_total',
      help: 'Workers that died unasked.',
      registers,
    })
    this.#own.registerMetric(
      new Gauge({
        name: 'acervo_workers',
        help: 'Workers that run.',
        registers: [],
        collect() {
          this.set(Object.keys(cluster.workers ?? {}).length)
        },
      }),
    )
    new Gauge({ name: 'acervo_workers_wanted', help: 'Workers that there should be.', registers }).set(wanted)
  }

  readonly died = (): void => this.#deaths.inc()

  async listen(port: number): Promise<void> {
    const server = await listenForMetrics(port, async () => {
      const [workers, own] = await Promise.all([this.#all.clusterMetrics(), this.#own.metrics()])
      return `${workers}\n${own}`
    })
    // It ends with the process.
    server.unref()
  }
}

/** Lets the process that keeps this worker ask for its metrics. */
export function answerWithMetrics(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry])
  // It is its making that listens.
  void new AggregatorRegistry()
}
