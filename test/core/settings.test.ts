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
      warehouse: './warehouse',
      logLevel: 'info',
      rateLimits: true,
      trustProxy: 0,
      queryConnections: 3,
      queryMemory: '256MB',
      queryTimeoutMs: 20_000,
      ingestMemory: '1GB',
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
    ['SOURCES', 'https://example.org/data', 'the path of a folder'],
    ['LOG_LEVEL', 'inof', 'one of fatal, error, warn, info, debug, trace, silent (did you mean "info"?)'],
    ['RATE_LIMITS', 'yes', 'on or off'],
    ['TRUST_PROXY', 'true', 'a whole number from 0 to 10'],
    ['QUERY_CONNECTIONS', '0', 'a whole number from 1 to 64'],
    ['QUERY_MEMORY', '256', 'a size such as 256MB or 1GB'],
    ['QUERY_TIMEOUT_MS', '5s', 'a whole number of milliseconds from 1 to 3600000'],
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
