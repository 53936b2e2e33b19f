import { describe, expect, test } from '@jest/globals'
import { readSettings } from '../../core/settings.ts'

describe('settings', () => {
  test('have defaults, and an empty one counts as not set', () => {
    expect(readSettings({ HOST: '', CATALOG: '' })).toEqual({
      port: 8000,
      host: '127.0.0.1',
      publicUrl: new URL('http://localhost:8000'),
      catalog: './catalog.yaml',
      sources: './sources',
      scrubMs: 86_400_000,
      unpackedBytesMax: 100_000_000_000,
      warehouse: './warehouse',
      ducklakeExtension: '',
      logLevel: 'info',
      rateLimits: true,
      clientsMax: 100_000,
      trustProxy: 0,
      queryConnections: 3,
      queryMemory: '256MB',
      queryTimeoutMs: 20_000,
      queueTimeoutMs: 5000,
      queueLengthMax: 2000,
      blockCacheBytes: 32_000_000,
      scanConnections: 2,
      scanMemory: '256MB',
      scanValuesMax: 2_000_000_000,
      selectionBytesMax: 64_000_000,
      pageCacheBytes: 32_000_000,
      compressionsMax: 4,
      maxAgeSeconds: 60,
      pageBytesMax: 64_000_000,
      makingBytesMax: 8_000_000,
      exportsMax: 4,
      filesMax: 100,
      connectionsMax: 5000,
      headersTimeoutMs: 10_000,
      sendTimeoutMs: 120_000,
      unsentBytesMax: 16_000_000,
      snapshotsKept: 2,
      snapshotGraceMs: 86_400_000,
      ingestMemory: 1_000_000_000,
    })
  })

  test('PUBLIC_URL follows PORT where it is not set', () => {
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
    ['TRUST_PROXY', 'true', 'a whole number from 0 to 10'],
    ['QUERY_CONNECTIONS', '0', 'a whole number from 1 to 64'],
    ['QUERY_MEMORY', '256', 'a size such as 256MB or 1GB'],
    ['QUERY_TIMEOUT_MS', '5s', 'a whole number of milliseconds from 1 to 3600000'],
    ['QUEUE_TIMEOUT_MS', '0', 'a whole number of milliseconds from 1 to 3600000'],
    ['QUEUE_LENGTH', '-1', 'a whole number from 10 to 1000000'],
    ['BLOCK_CACHE_MB', '1.5', 'a whole number of megabytes from 0 to 1000000'],
    ['PAGE_CACHE_MB', '64MB', 'a whole number of megabytes from 0 to 1000000'],
    ['PAGE_MB', '0', 'a whole number of megabytes from 1 to 1000000'],
    ['UNSENT_MB', '0', 'a whole number of megabytes from 1 to 1000000'],
    ['COMPRESSIONS', '65', 'a whole number from 0 to 64'],
    ['MAX_AGE_SECONDS', '1m', 'a whole number of seconds from 0 to 86400'],
    ['CONNECTIONS', '0', 'a whole number from 1 to 1000000'],
    ['CLIENTS', 'all', 'a whole number from 1 to 10000000'],
    ['HEADERS_TIMEOUT_MS', '10', 'a whole number of milliseconds from 100 to 3600000'],
    ['SEND_TIMEOUT_MS', '1s', 'a whole number of milliseconds from 100 to 3600000'],
    ['KEEP_SNAPSHOTS', '1', 'a whole number from 2 to 1000'],
    ['KEEP_HOURS', '-1', 'a whole number of hours from 0 to 87600'],
    ['INGEST_MEMORY', '-1GB', 'a size such as 512MB or 1GB'],
  ])('%s=%s stops the start', (name, text, must) => {
    expect(() => readSettings({ [name]: text })).toThrow(`${name} is "${text}", and must be ${must}`)
  })

  test('that are malformed are told all at once', () => {
    expect(() => readSettings({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(
      /PORT is "x".*\n.*LOG_LEVEL is "loud"/,
    )
  })
})
