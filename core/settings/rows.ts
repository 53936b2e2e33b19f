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
  readonly parse: (text: string) => T | null
  /** Returns the value of `auto`, for all workers together. */
  readonly auto?: (machine: Machine) => T
  share?(this: void, value: T, workers: number): T
  readonly expects: string
}

const row = <T>(setting: SettingRow<T>): SettingRow<T> => setting

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const path = (text: string): string => text
const anyPath = 'a path'
const expectsMegabytes = (min: number): string => `a whole number of megabytes from ${min} to 1000000`

/** A test compares these rows with docs/reference/settings.md. */
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
    meaning: 'Address to listen on; 0.0.0.0 accepts connections from other machines.',
    parse: host,
    expects: 'an IP address or host name',
  }),
  publicUrl: row({
    name: 'PUBLIC_URL',
    default: 'http://localhost:$PORT',
    meaning:
      'Base of all absolute addresses; the Host header is never used. A proxy removes its path, if it has one.',
    parse: baseAddress,
    expects: 'an http(s) address without query, such as https://data.example.org',
  }),
  catalog: row({
    name: 'CATALOG',
    default: './catalog.yaml',
    meaning: 'File of the catalog.',
    parse: path,
    expects: anyPath,
  }),
  catalogPollMs: row({
    name: 'CATALOG_POLL_SECONDS',
    default: '2',
    meaning: 'Interval of checks for a changed catalog; 0 reloads only on SIGHUP.',
    parse: (text) => multiple(wholeNumber(text, 0, 86_400), 1000),
    expects: 'a whole number of seconds from 0 to 86400',
  }),
  sources: row({
    name: 'SOURCES',
    default: './sources',
    meaning: 'Folder or http(s) address of the sources `<dataset>/<table>.csv`, `.gz`, `.zst` or `.zip`.',
    parse: (text) => (/^[a-z][a-z0-9+.-]+:\/\//i.test(text) && baseAddress(text) === null ? null : text),
    expects: 'the path of a folder, or an http(s) address without query or password',
  }),
  warehouse: row({
    name: 'WAREHOUSE',
    default: './warehouse',
    meaning:
      'Place of the published snapshots: a folder, its file:// address, or `s3://bucket/prefix` of an object store.',
    parse: path,
    expects: anyPath,
  }),
  localFolder: row({
    name: 'LOCAL_FOLDER',
    default: './.local',
    meaning:
      'Folder for local copies of an object store, and temporary files of checks; for one server alone.',
    parse: path,
    expects: anyPath,
  }),
  localBytesMax: row({
    name: 'LOCAL_GB',
    default: '20',
    meaning: 'Limit of local copies of an object store; the least recently used are evicted.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1e9),
    expects: 'a whole number of gigabytes from 1 to 1000000',
    share: divided(1e9),
  }),
  filesUrl: row({
    name: 'FILES_URL',
    default: '',
    meaning:
      'Public address of the warehouse, such as that of its bucket, to redirect downloads to; without it, the server sends files itself.',
    parse: webAddress,
    expects: 'an http(s) address, or nothing',
  }),
  leaseMs: row({
    name: 'LEASE_SECONDS',
    default: '15',
    meaning: 'Time after which the lock of a silent job in an object store is free.',
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
    meaning: `Enforces the catalog's limits per client: on or off.`,
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : null),
    expects: 'on or off',
  }),
  rateLimitStore: row({
    name: 'RATE_LIMIT_STORE',
    default: 'memory',
    meaning:
      'Place of request counts: memory, for all workers together, or a Redis for several servers, such as `redis://localhost:6379`. While it is unavailable, each server counts alone.',
    parse: (text) => (text === 'memory' || isRedis(text) ? text : null),
    expects: 'memory, or the address of a Redis such as redis://localhost:6379',
  }),
  trustProxy: row({
    name: 'TRUST_PROXY',
    default: '0',
    meaning:
      'Trusted proxies whose X-Forwarded-For is used: their number, or their subnets, such as `10.0.0.0/8,loopback`; 0 uses the address of the connection.',
    parse: (text) => wholeNumber(text, 0, 10) ?? subnets(text),
    expects:
      'a whole number from 0 to 10, or subnets such as 10.0.0.0/8, fd00::/8, loopback, linklocal or uniquelocal, none of them wider than /8',
  }),
  clientIpv6Prefix: row({
    name: 'CLIENT_IPV6_PREFIX',
    default: '56',
    meaning: 'Bits of an IPv6 address that identify a client, since its owner has the whole network.',
    parse: (text) => wholeNumber(text, 32, 64),
    expects: 'a whole number from 32 to 64',
  }),
  clickHouseUrl: row({
    name: 'CLICKHOUSE_URL',
    default: '',
    meaning:
      'ClickHouse for tables with `engine: clickhouse`, such as `http://acervo:secret@clickhouse:8123/acervo`; without it, DuckDB filters them.',
    parse: webAddress,
    expects: 'an http(s) address, or nothing',
  }),
  clickHouseCluster: row({
    name: 'CLICKHOUSE_CLUSTER',
    default: '',
    meaning: 'Cluster of that ClickHouse for replicated and distributed tables; empty for a single server.',
    parse: (text) => (/^[\w-]*$/.test(text) ? text : null),
    expects: 'the name of a cluster, or nothing',
  }),
  metricsHost: row({
    name: 'METRICS_HOST',
    default: '127.0.0.1',
    meaning:
      'Address of the metrics; 0.0.0.0 makes them available to other machines, which needs a private network.',
    parse: host,
    expects: 'an IP address or host name',
  }),
  metricsPort: row({
    name: 'METRICS_PORT',
    default: '0',
    meaning: 'Port of `METRICS_HOST` for Prometheus, with the metrics of all workers; 0 for none.',
    parse: (text) => wholeNumber(text, 0, 65_535),
    expects: 'a port number from 1 to 65535, or 0 for none',
  }),
  metricsFile: row({
    name: 'METRICS_FILE',
    default: '',
    meaning:
      'File for metrics of an ingest, for the textfile collector of node_exporter, such as `/var/lib/prometheus/node-exporter/acervo.prom`; empty for none.',
    parse: path,
    expects: anyPath,
  }),
  onPublish: row({
    name: 'ON_PUBLISH',
    default: '',
    meaning:
      'Address of a webhook, or a command for the shell, that gets a message (JSON) about each published snapshot; empty for none.',
    parse: (text) => (/^\w+:\/\//.test(text) ? webAddress(text) : path(text)),
    expects: 'an http(s) address or a command',
  }),
  onPublishSecret: row({
    name: 'ON_PUBLISH_SECRET',
    default: '',
    meaning:
      'Secret of the signatures of the webhook (Standard Webhooks), `whsec_` and base64; empty for none.',
    parse: (text) => (/^(whsec_[A-Za-z0-9+/]{32,}=*)?$/.test(text) ? text : null),
    expects: '`whsec_` and at least 24 bytes in base64',
  }),
  websubHub: row({
    name: 'WEBSUB_HUB',
    default: '',
    meaning: 'Address of a WebSub hub: feeds name it, and an ingest tells it of news; empty for none.',
    parse: webAddress,
    expects: 'an address that begins with http:// or https://',
  }),
  workers: row({
    name: 'WORKERS',
    default: '1',
    meaning:
      'Number of processes that serve on one port; auto is one per processor. They share settings marked as shared.',
    parse: (text) => wholeNumber(text, 1, 256),
    auto: ({ processors }) => processors,
    expects: 'a whole number from 1 to 256, or auto',
  }),
  memoryBytes: row({
    name: 'MEMORY',
    default: 'auto',
    meaning:
      'Memory of the server with all workers: an eighth each for pages and for scans in DuckDB, the rest for caches and responses. auto is 2 GB per worker, at most the memory of the machine or container.',
    parse: (text) => parseBytes(memory(text)),
    auto: ({ memory: machineMemory, workers }) => Math.min(machineMemory, 2.048e9 * workers),
    share: (bytes, workers) => bytes / workers,
    expects: 'a size such as 512MB or 4GB, or auto',
  }),
  cacheBytes: row({
    name: 'CACHE_MB',
    default: 'auto',
    meaning:
      'Megabytes for cached responses, and for positions of filters and orders; 0 disables caches. Shared; auto derives from MEMORY.',
    parse: (text) => megabytes(text, 0),
    auto: () => -1,
    share: (bytes, workers) => (bytes === -1 ? -1 : bytes / workers),
    expects: `${expectsMegabytes(0)}, or auto`,
  }),
  queryTimeoutMs: row({
    name: 'QUERY_TIMEOUT_MS',
    default: '20000',
    meaning: 'Timeout of a query, with status 503; a page takes about 10 ms.',
    parse: (text) => wholeNumber(text, 1, 3_600_000),
    expects: 'a whole number of milliseconds from 1 to 3600000',
  }),
  scanValuesMax: row({
    name: 'SCAN_MILLIONS',
    default: '2000',
    meaning:
      'Limit on the cost of one query, in millions of values: a filter counts one per row, a search about six, an order ten, or thirty by a text field. A query above it gets 422.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1_000_000),
    expects: 'a whole number from 1 to 1000000',
  }),
  maxAgeSeconds: row({
    name: 'MAX_AGE_SECONDS',
    default: '60',
    meaning: 'Seconds for which caches may reuse responses, and so the delay of a refresh for their clients.',
    parse: (text) => wholeNumber(text, 0, 86_400),
    expects: 'a whole number of seconds from 0 to 86400',
  }),
  pageBytesMax: row({
    name: 'PAGE_MB',
    default: '64',
    meaning: 'Approximate limit of a page in megabytes, since it is held in memory; larger pages get 422.',
    parse: (text) => megabytes(text, 1),
    expects: expectsMegabytes(1),
  }),
  filesMax: row({
    name: 'MAX_DOWNLOADS',
    default: 'auto',
    meaning:
      'Maximum number of concurrent downloads; one client may have half of those of a worker. Others wait for 5 seconds. Shared; auto is 100 per worker.',
    parse: (text) => wholeNumber(text, 1, 10_000),
    auto: ({ workers }) => 100 * workers,
    share: divided(1),
    expects: 'a whole number from 1 to 10000, or auto',
  }),
  connectionsMax: row({
    name: 'CONNECTIONS',
    default: '5000',
    meaning:
      'Maximum number of open connections; others are closed at once, since each takes memory. Shared.',
    parse: (text) => wholeNumber(text, 1, 1_000_000),
    share: divided(1),
    expects: 'a whole number from 1 to 1000000',
  }),
  sendTimeoutMs: row({
    name: 'SEND_TIMEOUT_MS',
    default: '120000',
    meaning: 'Timeout of a response that its client does not take: 10,000 rows at 100 kB a second take less.',
    parse: (text) => wholeNumber(text, 100, 3_600_000),
    expects: 'a whole number of milliseconds from 100 to 3600000',
  }),
  snapshotsKept: row({
    name: 'KEEP_SNAPSHOTS',
    default: '2',
    meaning: 'Number of newest snapshots of a table that are never removed.',
    parse: (text) => wholeNumber(text, 2, 1000),
    expects: 'a whole number from 2 to 1000',
  }),
  snapshotGraceMs: row({
    name: 'KEEP_HOURS',
    default: '24',
    meaning: 'Hours that other snapshots stay after they are replaced, for requests pinned to them.',
    parse: (text) => multiple(wholeNumber(text, 0, 87_600), 3_600_000),
    expects: 'a whole number of hours from 0 to 87600',
  }),
  scrubMs: row({
    name: 'SCRUB_HOURS',
    default: '24',
    meaning: 'Interval at which the server rereads all files to find damage; 0 for never.',
    // 500 hours are below the maximum of Node's timers, which is 24 days.
    parse: (text) => multiple(wholeNumber(text, 0, 500), 3_600_000),
    expects: 'a whole number of hours from 0 to 500',
  }),
  ingestMemory: row({
    name: 'INGEST_MEMORY',
    default: '1GB',
    meaning: 'Approximate memory of an ingest, for all tables together; sorting spills to disk.',
    parse: (text) => parseBytes(memory(text)),
    expects: 'a size such as 512MB or 1GB',
  }),
  unpackedBytesMax: row({
    name: 'UNPACKED_GB',
    default: '100',
    meaning: 'Largest decompressed source in gigabytes; larger ones are refused.',
    parse: (text) => multiple(wholeNumber(text, 1, 1_000_000), 1e9),
    expects: 'a whole number of gigabytes from 1 to 1000000',
  }),
} as const

export const removedSettings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['QUERY_MEMORY', 'SCAN_MEMORY', 'INDEX_CACHE_MB', 'MAKING_MB', 'UNSENT_MB'].map((name) => [
      name,
      'is now derived from MEMORY: set MEMORY, and remove this setting',
    ]),
  ),
  ...Object.fromEntries(
    ['PAGE_CACHE_MB', 'SELECTION_CACHE_MB'].map((name) => [
      name,
      'is now derived from CACHE_MB: set CACHE_MB, and remove this setting',
    ]),
  ),
  ...Object.fromEntries(
    ['QUERY_CONNECTIONS', 'SCAN_CONNECTIONS', 'COMPRESSIONS', 'EXPORTS'].map((name) => [
      name,
      'is now derived from WORKERS: remove it',
    ]),
  ),
  ...Object.fromEntries(
    ['CLIENTS', 'EXPORT_FILES_MB', 'HEADERS_TIMEOUT_MS', 'QUEUE_LENGTH', 'QUEUE_TIMEOUT_MS'].map((name) => [
      name,
      'now has a fixed value: remove it',
    ]),
  ),
  FILES: 'is now called MAX_DOWNLOADS: rename it',
  BLOCK_CACHE_MB: 'is not used any more, since pages are read from the row store: remove it',
  DUCKLAKE_EXTENSION: 'is not used any more, since warehouse.duckdb has every version: remove it',
}
