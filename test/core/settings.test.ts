import { StartError } from '../../core/errors.ts'
import { readSettings, workerShare } from '../../core/settings/read.ts'
import { settingRows } from '../../core/settings/rows.ts'

/** Settings of the environment: defaults, limits and faults. */

describe('settings', () => {
  test('have defaults, which an empty setting does not change', () => {
    const machine = { processors: 2, memory: 8e9 }
    expect(workerShare(readSettings({ HOST: '', CATALOG: '' }, machine), machine)).toEqual({
      port: 8000,
      host: '127.0.0.1',
      publicUrl: new URL('http://localhost:8000'),
      catalog: './catalog.yaml',
      catalogPollMs: 2000,
      sources: './sources',
      scrubMs: 86_400_000,
      unpackedBytesMax: 100_000_000_000,
      warehouse: './warehouse',
      localFolder: './.local',
      localBytesMax: 20e9,
      filesUrl: '',
      leaseMs: 15_000,
      logLevel: 'info',
      rateLimits: true,
      clientsMax: 100_000,
      rateLimitStore: 'memory',
      trustProxy: 0,
      clientIpv6Prefix: 56,
      clickHouseUrl: '',
      clickHouseCluster: '',
      metricsHost: '127.0.0.1',
      metricsPort: 0,
      onPublish: '',
      onPublishSecret: '',
      websubHub: '',
      metricsFile: '',
      workers: 1,
      memoryBytes: 2_048_000_000,
      cacheBytes: -1,
      queryConnections: 3,
      queryBytes: 256_000_000,
      queryTimeoutMs: 20_000,
      queueTimeoutMs: 5000,
      queueLengthMax: 2000,
      scanConnections: 2,
      scanBytes: 256_000_000,
      scanValuesMax: 2_000_000_000,
      selectionBytesMax: 64_000_000,
      groupBytesMax: 64_000_000,
      codesBytesMax: 32_000_000,
      dictionaryBytesMax: 32_000_000,
      processors: 2,
      cachedBytesMax: 32_000_000,
      compressionsMax: 4,
      maxAgeSeconds: 60,
      pageBytesMax: 64_000_000,
      makingBytesMax: 8_000_000,
      exportsMax: 4,
      finishedBytesMax: 256_000_000,
      filesMax: 100,
      connectionsMax: 5000,
      headersTimeoutMs: 10_000,
      sendTimeoutMs: 120_000,
      unsentBytesMax: 64_000_000,
      snapshotsKept: 2,
      snapshotGraceMs: 86_400_000,
      ingestMemory: 1_000_000_000,
    })
  })

  test('are at most 39 in number', () => {
    expect(Object.keys(settingRows).length).toBeLessThanOrEqual(39)
  })

  test.each<[text: string, value: unknown]>([
    ['2', 2],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['192.0.2.1, fd00::/8,loopback', ['192.0.2.1', 'fd00::/8', 'loopback']],
    ['2001:db8::/32', ['2001:db8::/32']],
    ['::ffff:10.0.0.0/104', ['::ffff:10.0.0.0/104']],
  ])('accept TRUST_PROXY=%s', (text, value) => {
    expect(readSettings({ TRUST_PROXY: text }).trustProxy).toEqual(value)
  })

  test.each<[title: string, environment: Record<string, string>, machine: [number, number], due: object]>([
    [
      'a small container',
      {},
      [1, 512e6],
      { queryConnections: 2, scanConnections: 2, queryBytes: 64e6, cachedBytesMax: 8e6, compressionsMax: 2 },
    ],
    [
      'a large machine with one process',
      {},
      [64, 256e9],
      { queryConnections: 8, scanConnections: 8, queryBytes: 256e6, selectionBytesMax: 64e6 },
    ],
    [
      'a large machine with a worker for each processor',
      { WORKERS: 'auto' },
      [64, 256e9],
      { workers: 64, queryConnections: 2, queryBytes: 256e6, groupBytesMax: 64e6 },
    ],
    ['more workers than the memory allows', { WORKERS: '16' }, [4, 8e9], { scanBytes: 62e6 }],
    [
      'the memory that MEMORY states',
      { MEMORY: '16GB' },
      [1, 1e9],
      { queryBytes: 2e9, selectionBytesMax: 500e6 },
    ],
    ['a cache of no bytes', { CACHE_MB: '0' }, [1, 1e9], { cachedBytesMax: 0, selectionBytesMax: 0 }],
  ])('are sized for %s', (_what, environment, [processors, memory], due) => {
    const machineFacts = { processors, memory }
    expect(workerShare(readSettings(environment, machineFacts), machineFacts)).toMatchObject(due)
  })

  test('are divided among workers, so that the sum over all workers stays within the limits', () => {
    const settings = readSettings({ WORKERS: '4', MEMORY: '8GB', CACHE_MB: '12', MAX_DOWNLOADS: '100' })
    expect(workerShare(settings)).toMatchObject({
      queryBytes: 250e6,
      cachedBytesMax: 1_000_000,
      selectionBytesMax: 2_000_000,
      makingBytesMax: 7_000_000,
      filesMax: 25,
      connectionsMax: 1250,
    })
    const alone = readSettings({})
    expect(workerShare(alone)).toMatchObject(alone)
  })

  test('that were removed are refused with a remedy', () => {
    expect(() => readSettings({ DUCKLAKE_EXTENSION: '/x', PORT: 'abc' })).toThrow(
      new StartError(
        'PORT is "abc", and must be a port number from 1 to 65535\nDUCKLAKE_EXTENSION is not used any more, since warehouse.duckdb has every version: remove it',
      ),
    )
    expect(() => readSettings({ DUCKLAKE_EXTENSION: '' })).not.toThrow()
  })

  test('have a PUBLIC_URL that follows PORT by default', () => {
    expect(readSettings({ PORT: '9000' }).publicUrl.href).toBe('http://localhost:9000/')
    expect(readSettings({ PORT: '9000', PUBLIC_URL: 'https://x.org/open/' }).publicUrl.href).toBe(
      'https://x.org/open',
    )
  })

  test.each<[name: string, text: string, must: string]>([
    ['PORT', 'abc', 'a port number from 1 to 65535'],
    ['PORT', '0', 'a port number from 1 to 65535'],
    ['PORT', '65536', 'a port number from 1 to 65535'],
    ['PORT', '80.5', 'a port number from 1 to 65535'],
    ['HOST', 'a b', 'an IP address or host name'],
    ['PUBLIC_URL', 'example.org', 'an http(s) address without query, such as https://data.example.org'],
    ['PUBLIC_URL', 'ftp://example.org', 'an http(s) address without query, such as https://data.example.org'],
    [
      'PUBLIC_URL',
      'https://example.org?x=1',
      'an http(s) address without query, such as https://data.example.org',
    ],
    [
      'PUBLIC_URL',
      'https://user:pw@example.org',
      'an http(s) address without query, such as https://data.example.org',
    ],
    ['SOURCES', 'https://example.org/data?key=1', 'the path of a folder, or an http(s) address'],
    ['LOG_LEVEL', 'inof', 'one of fatal, error, warn, info, debug, trace, silent (did you mean "info"?)'],
    ['RATE_LIMITS', 'yes', 'on or off'],
    ['ON_PUBLISH', 'htp://hooks.example.org/x', 'an http(s) address or a command'],
    ...[
      'true',
      'all',
      '11',
      '0.0.0.0/0',
      '128.0.0.0/1',
      '::/0',
      '10.0.0.0/8,::/1',
      '::ffff:0:0/96',
      '::ffff:0.0.0.0/97',
      '0::/16',
      '2000::/8',
      '10.0.0/8',
      '10.0.0.1/8/9',
      '',
    ].flatMap((text): [string, string, string][] =>
      text === ''
        ? []
        : [['TRUST_PROXY', text, 'a whole number from 0 to 10, or subnets such as 10.0.0.0/8']],
    ),
    ['RATE_LIMIT_STORE', 'cluster', 'memory, or the address of a Redis such as redis://localhost:6379'],
    ['RATE_LIMIT_STORE', 'redis://', 'memory, or the address of a Redis'],
    ['CLIENT_IPV6_PREFIX', '128', 'a whole number from 32 to 64'],
    ['WORKERS', '0', 'a whole number from 1 to 256, or auto'],
    ['PORT', 'auto', 'a port number from 1 to 65535'],
    ['MEMORY', '256', 'a size such as 512MB or 4GB, or auto'],
    ['QUERY_TIMEOUT_MS', '5s', 'a whole number of milliseconds from 1 to 3600000'],
    ['CACHE_MB', '1.5', 'a whole number of megabytes from 0 to 1000000, or auto'],
    ['CACHE_MB', '64MB', 'a whole number of megabytes from 0 to 1000000, or auto'],
    ['PAGE_MB', '0', 'a whole number of megabytes from 1 to 1000000'],
    ['MAX_AGE_SECONDS', '1m', 'a whole number of seconds from 0 to 86400'],
    ['CONNECTIONS', '0', 'a whole number from 1 to 1000000'],
    ['SEND_TIMEOUT_MS', '1s', 'a whole number of milliseconds from 100 to 3600000'],
    ['KEEP_SNAPSHOTS', '1', 'a whole number from 2 to 1000'],
    ['KEEP_HOURS', '-1', 'a whole number of hours from 0 to 87600'],
    ['INGEST_MEMORY', '-1GB', 'a size such as 512MB or 1GB'],
  ])('refuse %s=%s at the start', (name, text, must) => {
    expect(() => readSettings({ [name]: text })).toThrow(`${name} is "${text}", and must be ${must}`)
  })

  test('that are malformed are all reported at once', () => {
    expect(() => readSettings({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(
      /PORT is "x".*\n.*LOG_LEVEL is "loud"/,
    )
  })
})
