import { monitorEventLoopDelay } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CacheStats } from '../../base/cache.ts'
import type { TableStatus } from '../../snapshots/status.ts'
import type { Meter, PoolName } from '../../base/meter.ts'
import { publishedTables, type WatchedTable } from './tables.ts'

export type AggregatedMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

interface Watched {
  readonly pools: Readonly<Record<PoolName, { readonly waiting: number }>>
  readonly caches: Readonly<Record<'answers' | 'selections', { readonly stats: CacheStats }>>
  readonly tables: () => readonly TableStatus[]
  readonly isReady: () => boolean
  readonly isCatalogFaulty: () => boolean
  readonly readLevels: Readonly<Record<Level, () => number>>
}

const levelHelp = {
  connections: 'Open connections.',
  exports_running: 'Running exports.',
  transfers_running: 'Running downloads.',
  unsent_bytes: 'Bytes of responses that clients have not taken yet.',
  making_bytes: 'Bytes of pages that are being built.',
  rate_limit_store_up: '0 if RATE_LIMIT_STORE is a Redis that does not respond, else 1.',
} as const
type Level = keyof typeof levelHelp

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const now = (): number => Date.now() / 1000

/** Metrics of one process. All names begin with `acervo_`, except those of Node.js. */
export class Metrics implements Meter {
  readonly registry = new Registry()
  readonly #requests: Counter<'route' | 'status' | 'class'>
  readonly #seconds: Histogram<'route'>
  readonly #refusals: Counter<'reason'>
  readonly #waits: Histogram<'pool'>
  readonly #queries: Histogram<'pool'>

  /**
   * @param reasons codes of refusals, counted from 0: alert rules cannot see an increase of a missing counter
   */
  constructor(reasons: readonly string[]) {
    const registers = [this.registry]
    this.#requests = new Counter({
      name: 'acervo_requests_total',
      help: 'Requests by route, status and class.',
      labelNames: ['route', 'status', 'class'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'acervo_request_seconds',
      help: 'Duration of responses, from the request to the last byte.',
      labelNames: ['route'],
      buckets: secondsBuckets,
      registers,
    })
    this.#refusals = new Counter({
      name: 'acervo_refusals_total',
      help: 'Error responses, by code.',
      labelNames: ['reason'],
      registers,
    })
    for (const reason of reasons) this.#refusals.inc({ reason }, 0)
    const perPool = { labelNames: ['pool'] as const, buckets: secondsBuckets, registers }
    this.#waits = new Histogram({
      name: 'acervo_queue_wait_seconds',
      help: 'Waiting time of queries for a connection.',
      ...perPool,
    })
    this.#queries = new Histogram({
      name: 'acervo_query_seconds',
      help: 'Duration of queries.',
      ...perPool,
    })
    collectDefaultMetrics({ register: this.registry })
    // Remove gauges named `*_total`, a suffix that Prometheus tools accept only for counters.
    for (const { name } of this.registry.getMetricsAsArray())
      if (/^nodejs_active_\w+_total$/.test(name)) this.registry.removeSingleMetric(name)
    this.#watchEventLoop()
  }

  readonly answered: Meter['answered'] = ({ route, status, countsAs }, ms) => {
    this.#requests.inc({ route, status, class: countsAs })
    this.#seconds.observe({ route }, ms / 1000)
  }

  readonly refused: Meter['refused'] = (code) => this.#refusals.inc({ reason: code })

  readonly queried: Meter['queried'] = (pool, { queue, query }) => {
    this.#waits.observe({ pool }, queue / 1000)
    this.#queries.observe({ pool }, query / 1000)
  }

  watch({ pools, caches, tables, isReady, isCatalogFaulty, readLevels }: Watched): void {
    for (const [level, help] of Object.entries(levelHelp)) {
      // Report 0 if any worker cannot reach the shared counts.
      const aggregator = level === 'rate_limit_store_up' ? 'min' : 'sum'
      this.#gauge(`acervo_${level}`, help, (gauge) => gauge.set(readLevels[level as Level]()), aggregator)
    }
    this.#gauge(
      'acervo_ready',
      '1 if all published tables are loaded.',
      (gauge) => gauge.set(isReady() ? 1 : 0),
      'min',
    )
    this.#gauge(
      'acervo_catalog_faulty',
      '1 if the current catalog has errors, so that the previous one is served.',
      (gauge) => gauge.set(isCatalogFaulty() ? 1 : 0),
      'max',
    )
    this.#gaugeByLabel(
      'acervo_queue_length',
      'Queries that wait for a connection, for pages or scans.',
      'pool',
      pools,
      ({ waiting }) => waiting,
    )
    this.#gaugeByLabel(
      'acervo_cache_bytes',
      'Bytes in the caches of responses and selections.',
      'cache',
      caches,
      ({ stats }) => stats.bytes,
    )
    this.#gaugeByLabel(
      'acervo_cache_entries',
      'Entries in the caches.',
      'cache',
      caches,
      ({ stats }) => stats.entries,
    )
    this.#cacheCounter('acervo_cache_hits_total', 'Cache hits.', caches, ({ hits }) => hits)
    this.#cacheCounter('acervo_cache_misses_total', 'Cache misses.', caches, ({ misses }) => misses)
    this.#gaugeByTable(
      'acervo_snapshot_age_seconds',
      'Time since the rows of a table were imported.',
      tables,
      ({ importedAt }) => now() - importedAt / 1000,
    )
    this.#gaugeByTable(
      'acervo_source_age_seconds',
      'Time since the source of a table last changed.',
      tables,
      ({ sourceFrom }) => now() - sourceFrom / 1000,
    )
    this.#gaugeByTable(
      'acervo_table_faulty',
      '1 if a table is served from an older snapshot than the published one, without a declared field or mask, or not at all.',
      tables,
      ({ isFaulty }) => Number(isFaulty),
    )
    this.#gaugeByTable(
      'acervo_table_stale',
      '1 if the source of a table is older than the catalog allows (refreshed).',
      tables,
      ({ isStale }) => Number(isStale),
    )
  }

  #watchEventLoop(): void {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    this.#gauge(
      'acervo_event_loop_delay_seconds',
      'Maximum delay of the event loop since the last scrape.',
      (gauge) => {
        gauge.set(delay.max / 1e9)
        delay.reset()
      },
      'max',
    )
  }

  #gauge(
    name: string,
    help: string,
    update: (gauge: Gauge) => void,
    aggregator: 'sum' | 'min' | 'max',
  ): void {
    this.registry.registerMetric(
      new Gauge({
        name,
        help,
        aggregator,
        registers: [],
        collect() {
          update(this)
        },
      }),
    )
  }

  #gaugeByLabel<T>(
    name: string,
    help: string,
    label: string,
    things: Readonly<Record<string, T>>,
    valueOf: (thing: T) => number,
  ): void {
    this.registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [],
        collect() {
          for (const [key, thing] of Object.entries(things)) this.set({ [label]: key }, valueOf(thing))
        },
      }),
    )
  }

  #cacheCounter(
    name: string,
    help: string,
    caches: Watched['caches'],
    valueOf: (stats: CacheStats) => number,
  ): void {
    this.registry.registerMetric(
      new Counter({
        name,
        help,
        labelNames: ['cache'],
        registers: [],
        collect() {
          this.reset()
          for (const [cache, { stats }] of Object.entries(caches)) this.inc({ cache }, valueOf(stats))
        },
      }),
    )
  }

  #gaugeByTable(
    name: string,
    help: string,
    tables: Watched['tables'],
    valueOf: (table: WatchedTable) => number,
  ): void {
    this.registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['table'],
        // Workers serve the same tables: report the worst value instead of a sum.
        aggregator: 'max',
        registers: [],
        collect() {
          this.reset()
          for (const table of publishedTables(tables())) {
            const value = valueOf(table)
            // Tables that are not served have no dates, and so no ages.
            if (!Number.isNaN(value)) this.set({ table: table.table }, value)
          }
        },
      }),
    )
  }
}
