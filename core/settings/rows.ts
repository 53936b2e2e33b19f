import type { Machine } from './machine.ts'
import {
  baseAddress,
  parseBytes,
  divided,
  isRedis,
  host,
  megabytes,
  memory,
  multiple,
  subnets,
  webAddress,
  wholeNumber,
} from './parse.ts'

export interface SettingRow<T> {
  readonly name: string
  readonly default: string
  readonly meaning: string
  /** Returns the value of a text, or null if it is malformed. */
  readonly parse: (text: string) => T | null
  /** Returns the value of `auto`, for all workers together. */
  readonly auto?: (machine: Machine) => T
  /** Returns the share of one worker; by default all of it. */
  share?(this: void, value: T, workers: number): T
  /** Describes valid texts. */
  readonly expects: string
}

const row = <T>(setting: SettingRow<T>): SettingRow<T> => setting

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const path = (text: string): string => text
const anyPath = 'a path'
const expectsMegabytes = (min: number): string => `a whole number of megabytes from ${min} to 1000000`

/**
 * Every setting, one row each. All programs read them from the environment; a test compares the table in
 * docs/operations.md with these rows.
 */
export const settingRows = {
  port: row({
    name: 'PORT',
    default: '8000',
    meaning: 'Port to listen on.',
    parse: (text) => wholeNumber(text, 1, 65_535),
    expects: 'a port number from 1 to 65535',
  }),
  host: row({
    name: 'HOST',
    default: '127.0.0.1',
    meaning: 'Address to listen on; 0.0.0.0 lets other machines in.',
    parse: host,
    expects: 'an IP address or host name',
  }),
  publicUrl: row({
    name: 'PUBLIC_URL',
    default: 'http://localhost:$PORT',
    meaning: 'Base of every address the service emits; the Host header never is.',
    parse: baseAddress,
    expects: 'an http(s) address without query, such as https://data.example.org',
  }),
  catalog: row({
    name: 'CATALOG',
    default: './catalog.yaml',
    meaning: 'The file that says what to publish.',
    parse: path,
    expects: anyPath,
  }),
  catalogPollMs: row({
    name: 'CATALOG_POLL_SECONDS',
    default: '2',
    meaning:
      'How often the server looks whether the catalog is another, and serves by it; 0 for only on SIGHUP.',
    parse: (text) => multiple(wholeNumber(text, 0, 86_400), 1000),
    expects: 'a whole number of seconds from 0 to 86400',
  }),
  sources: row({
    name: 'SOURCES',
    default: './sources',
    meaning:
      'A folder, or an http(s) address, that holds the sources as `<dataset>/<table>.csv`, `.gz`, `.zst` or `.zip`.',
    parse: (text) => (/^[a-z][a-z0-9+.-]+:\/\//i.test(text) && baseAddress(text) === null ? null : text),
    expects: 'the path of a folder, or an http(s) address without query or password',
  }),
  warehouse: row({
    name: 'WAREHOUSE',
    default: './warehouse',
    meaning:
      'Where the published snapshots lie: a folder, its file:// address, or `s3://bucket/prefix` of an object store.',
    parse: path,
    expects: anyPath,
  }),
  localFolder: row({
    name: 'LOCAL_FOLDER',
    default: './.local',
    meaning: 'Where a server keeps files of an object store that it has brought here; for one server alone.',
    parse: path,
    expects: anyPath,
  }),
  localBytesMax: row({
    name: 'LOCAL_GB',
    default: '20',
    meaning:
      'How much of an object store a server has here at a time; what was not asked for the longest time goes.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1e9),
    expects: 'a whole number of gigabytes from 1 to 1000000',
    share: divided(1e9),
  }),
  filesUrl: row({
    name: 'FILES_URL',
    default: '',
    meaning:
      'A public address of the warehouse, such as that of its bucket, to which readers of files are led; without it files come through the server.',
    parse: webAddress,
    expects: 'an http(s) address, or nothing',
  }),
  leaseMs: row({
    name: 'LEASE_SECONDS',
    default: '15',
    meaning:
      'In an object store, the lock of a job that gave no sign of life for so long is free for the next one.',
    parse: (text) => multiple(wholeNumber(text, 1, 3600), 1000),
    expects: 'a whole number of seconds from 1 to 3600',
  }),
  logLevel: row({
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: `How much the server logs: ${logLevels.join(', ')}.`,
    parse: (text): LogLevel | null => logLevels.find((level) => level === text) ?? null,
    expects: `one of ${logLevels.join(', ')}`,
  }),
  rateLimits: row({
    name: 'RATE_LIMITS',
    default: 'on',
    meaning: "Whether the catalog's limits per client are enforced: on or off.",
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : null),
    expects: 'on or off',
  }),
  rateLimitStore: row({
    name: 'RATE_LIMIT_STORE',
    default: 'memory',
    meaning:
      'Where is counted what clients have had: memory, of all workers together, or a Redis that several servers share, such as `redis://localhost:6379`. While it does not answer, each counts for itself.',
    parse: (text) => (text === 'memory' || isRedis(text) ? text : null),
    expects: 'memory, or the address of a Redis such as redis://localhost:6379',
  }),
  trustProxy: row({
    name: 'TRUST_PROXY',
    default: '0',
    meaning:
      'Proxies in front whose X-Forwarded-For is believed: how many, or their subnets, such as `10.0.0.0/8,loopback`; 0 takes the client from the connection.',
    parse: (text) => wholeNumber(text, 0, 10) ?? subnets(text),
    expects:
      'a whole number from 0 to 10, or subnets such as 10.0.0.0/8, fd00::/8, loopback, linklocal or uniquelocal, none of them wider than /8',
  }),
  clientIpv6Prefix: row({
    name: 'CLIENT_IPV6_PREFIX',
    default: '56',
    meaning:
      'Bits of an IPv6 address that tell one client from another: whoever has one address has all of its network.',
    parse: (text) => wholeNumber(text, 32, 64),
    expects: 'a whole number from 32 to 64',
  }),
  clickHouseUrl: row({
    name: 'CLICKHOUSE_URL',
    default: '',
    meaning:
      'The ClickHouse that chooses the rows of tables with `engine: clickhouse`, such as `http://acervo:secret@clickhouse:8123/acervo`; without it DuckDB does.',
    parse: webAddress,
    expects: 'an http(s) address, or nothing',
  }),
  clickHouseCluster: row({
    name: 'CLICKHOUSE_CLUSTER',
    default: '',
    meaning:
      'The cluster of that ClickHouse over which an ingest replicates and spreads the tables; where it is empty they are on the one server.',
    parse: (text) => (/^[\w-]*$/.test(text) ? text : null),
    expects: 'the name of a cluster, or nothing',
  }),
  metricsHost: row({
    name: 'METRICS_HOST',
    default: '127.0.0.1',
    meaning:
      'Address on which the metrics are told; 0.0.0.0 tells other machines, which a network of their own must be.',
    parse: host,
    expects: 'an IP address or host name',
  }),
  metricsPort: row({
    name: 'METRICS_PORT',
    default: '0',
    meaning:
      'Port of `METRICS_HOST` on which Prometheus finds the metrics of the server, of all workers together; 0 for none.',
    parse: (text) => wholeNumber(text, 0, 65_535),
    expects: 'a port number from 1 to 65535, or 0 for none',
  }),
  metricsFile: row({
    name: 'METRICS_FILE',
    default: '',
    meaning:
      'File in which an ingest leaves its metrics for the textfile collector of node_exporter, such as `/var/lib/prometheus/node-exporter/acervo.prom`; none where it is empty.',
    parse: path,
    expects: anyPath,
  }),
  workers: row({
    name: 'WORKERS',
    default: '1',
    meaning:
      'Processes that serve on the one port; auto is one for each processor. What is marked as shared is divided among them.',
    parse: (text) => wholeNumber(text, 1, 256),
    auto: ({ processors }) => processors,
    expects: 'a whole number from 1 to 256, or auto',
  }),
  memoryBytes: row({
    name: 'MEMORY',
    default: 'auto',
    meaning:
      'Memory that the server works within, all workers together: an eighth each for pages and for scans in DuckDB, the rest for caches and answers on their way. auto is 2 GB for each worker, at most what the machine or its container has.',
    parse: (text) => parseBytes(memory(text)),
    auto: ({ memory: all, workers }) => Math.min(all, 2.048e9 * workers),
    share: (bytes, workers) => bytes / workers,
    expects: 'a size such as 512MB or 4GB, or auto',
  }),
  cacheBytes: row({
    name: 'CACHE_MB',
    default: 'auto',
    meaning:
      'Finished answers, and positions of filters and orders, that are cached, in megabytes; 0 caches none. Shared; auto follows from MEMORY.',
    parse: (text) => megabytes(text, 0),
    auto: () => -1,
    share: (bytes, workers) => (bytes === -1 ? -1 : bytes / workers),
    expects: `${expectsMegabytes(0)}, or auto`,
  }),
  queryTimeoutMs: row({
    name: 'QUERY_TIMEOUT_MS',
    default: '20000',
    meaning: 'A query that takes longer is stopped, and answers 503: a page takes some 10 ms.',
    parse: (text) => wholeNumber(text, 1, 3_600_000),
    expects: 'a whole number of milliseconds from 1 to 3600000',
  }),
  scanValuesMax: row({
    name: 'SCAN_MILLIONS',
    default: '2000',
    meaning:
      'Values that one query may have read, in millions: a filter counts one a row, a search about six, an order ten, or thirty by a text. More is answered 422.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1_000_000),
    expects: 'a whole number from 1 to 1000000',
  }),
  maxAgeSeconds: row({
    name: 'MAX_AGE_SECONDS',
    default: '60',
    meaning: 'How long caches may answer without asking, so how late a refresh may reach their readers.',
    parse: (text) => wholeNumber(text, 0, 86_400),
    expects: 'a whole number of seconds from 0 to 86400',
  }),
  pageBytesMax: row({
    name: 'PAGE_MB',
    default: '64',
    meaning: 'About the largest page, in megabytes, since it is held in memory whole; larger ones get 422.',
    parse: (text) => megabytes(text, 1),
    expects: expectsMegabytes(1),
  }),
  filesMax: row({
    name: 'MAX_DOWNLOADS',
    default: 'auto',
    meaning:
      'Files that are sent at the same time, half of those of a worker to one client at most; more are answered 503. Shared; auto is 100 for each worker.',
    parse: (text) => wholeNumber(text, 1, 10_000),
    auto: ({ workers }) => 100 * workers,
    share: divided(1),
    expects: 'a whole number from 1 to 10000, or auto',
  }),
  connectionsMax: row({
    name: 'CONNECTIONS',
    default: '5000',
    meaning: 'Open connections of readers; more are closed at once, since each one takes memory. Shared.',
    parse: (text) => wholeNumber(text, 1, 1_000_000),
    share: divided(1),
    expects: 'a whole number from 1 to 1000000',
  }),
  sendTimeoutMs: row({
    name: 'SEND_TIMEOUT_MS',
    default: '120000',
    meaning:
      'A reader who has not taken an answer by then is cut off: 10,000 rows at 100 kB a second take less.',
    parse: (text) => wholeNumber(text, 100, 3_600_000),
    expects: 'a whole number of milliseconds from 100 to 3600000',
  }),
  snapshotsKept: row({
    name: 'KEEP_SNAPSHOTS',
    default: '2',
    meaning: 'The newest snapshots of a table that are never removed.',
    parse: (text) => wholeNumber(text, 2, 1000),
    expects: 'a whole number from 2 to 1000',
  }),
  snapshotGraceMs: row({
    name: 'KEEP_HOURS',
    default: '24',
    meaning: 'How long the others stay after a newer one, so that a walk that is pinned to one can end.',
    parse: (text) => multiple(wholeNumber(text, 0, 87_600), 3_600_000),
    expects: 'a whole number of hours from 0 to 87600',
  }),
  scrubMs: row({
    name: 'SCRUB_HOURS',
    default: '24',
    meaning: 'How often the server reads all files again to find damaged ones; 0 for never.',
    // Node's timers end at 24 days.
    parse: (text) => multiple(wholeNumber(text, 0, 500), 3_600_000),
    expects: 'a whole number of hours from 0 to 500',
  }),
  ingestMemory: row({
    name: 'INGEST_MEMORY',
    default: '1GB',
    meaning: 'About what an ingest may use, all tables at the same time together; sorting spills to disk.',
    parse: (text) => parseBytes(memory(text)),
    expects: 'a size such as 512MB or 1GB',
  }),
  unpackedBytesMax: row({
    name: 'UNPACKED_GB',
    default: '100',
    meaning: 'The largest source, unpacked, in gigabytes; larger ones are refused.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1e9),
    expects: 'a whole number of gigabytes from 1 to 1000000',
  }),
} as const

/** Settings of former versions, and their replacements. */
export const removedSettings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['QUERY_MEMORY', 'SCAN_MEMORY', 'INDEX_CACHE_MB', 'MAKING_MB', 'UNSENT_MB'].map((name) => [
      name,
      'follows from MEMORY now: set that, and remove the line',
    ]),
  ),
  ...Object.fromEntries(
    ['PAGE_CACHE_MB', 'SELECTION_CACHE_MB'].map((name) => [
      name,
      'follows from CACHE_MB now: set that, and remove the line',
    ]),
  ),
  ...Object.fromEntries(
    ['QUERY_CONNECTIONS', 'SCAN_CONNECTIONS', 'COMPRESSIONS', 'EXPORTS'].map((name) => [
      name,
      'follows from WORKERS now: remove the line',
    ]),
  ),
  ...Object.fromEntries(
    ['CLIENTS', 'EXPORT_FILES_MB', 'HEADERS_TIMEOUT_MS', 'QUEUE_LENGTH', 'QUEUE_TIMEOUT_MS'].map((name) => [
      name,
      'is fixed now: remove the line',
    ]),
  ),
  FILES: 'is called MAX_DOWNLOADS now',
  BLOCK_CACHE_MB: 'is not used any more, since pages are read from the row store: remove the line',
  DUCKLAKE_EXTENSION: 'is not used any more, since warehouse.duckdb has every version: remove the line',
}
