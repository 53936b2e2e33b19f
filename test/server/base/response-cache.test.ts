import { ResponseCache } from '../../../server/base/cache.ts'

/** The response cache alone: which bodies it keeps, and which it removes. */

const body = (bytes: number) => ({ bytes: new Uint8Array(bytes), headers: {} })

describe('the response cache', () => {
  test('records the first request of a key, and caches the body of the second', () => {
    const cache = new ResponseCache(1_000_000)
    expect([cache.isWanted('a', 100), cache.isWanted('a', 100), cache.isWanted('b', 100)]).toEqual([
      false,
      true,
      false,
    ])
  })

  test('does not ask for a body that it already has', () => {
    const cache = new ResponseCache(1_000_000)
    cache.isWanted('a', 100)
    cache.keep('a', body(100))
    expect(cache.isWanted('a', 100)).toBe(false)
  })

  test.each<[bytes: number, isWanted: boolean]>([
    [1_000_000, true],
    [1_000_001, false],
  ])('caches an uncompressed body of %d bytes: %s', (bytes, isWanted) => {
    const cache = new ResponseCache(100_000_000)
    cache.isWanted('a', bytes)
    expect(cache.isWanted('a', bytes)).toBe(isWanted)
  })

  test('keeps nothing if it has no room', () => {
    const cache = new ResponseCache(0)
    cache.isWanted('a', 1)
    cache.keep('a', body(1))
    expect([cache.isWanted('a', 1), cache.get('a'), cache.has('a')]).toEqual([false, undefined, false])
  })
})

describe('the size of the cache', () => {
  test('is kept by evicting the least recently used body, and reading counts as use', () => {
    const cache = new ResponseCache(3000)
    for (const name of ['a', 'b']) cache.keep(name, body(1000))
    cache.get('a')
    cache.keep('c', body(1000))
    expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([true, false, true])
  })

  test('is never exceeded by all bodies together', () => {
    const cache = new ResponseCache(10_000)
    for (let name = 0; name < 100; name += 1) cache.keep(String(name), body(name * 30))
    expect(cache.stats.bytes).toBeLessThanOrEqual(10_000)
    expect(cache.has('99')).toBe(true)
  })

  test('excludes a body larger than the cache, which evicts nothing', () => {
    const cache = new ResponseCache(2000)
    cache.keep('small', body(100))
    cache.keep('large', body(5000))
    expect([cache.has('small'), cache.has('large')]).toEqual([true, false])
  })
})

test('the response cache counts one hit or one miss per request', () => {
  const cache = new ResponseCache(10_000)
  cache.keep('a', body(10))
  cache.get('a')
  cache.get('b')
  cache.getAgain('a')
  cache.getAgain('b')
  expect(cache.stats).toEqual({ hits: 1, misses: 1, bytes: 310, entries: 1 })
})
