import { ResponseCache } from '../../../server/base/cache.ts'

const body = (bytes: number) => ({ bytes: new Uint8Array(bytes), headers: {} })

describe('which bodies are kept', () => {
  test('the first request of a name is noted, the second keeps its body', () => {
    const cache = new ResponseCache(1_000_000)
    expect([cache.isWanted('a', 100), cache.isWanted('a', 100), cache.isWanted('b', 100)]).toEqual([
      false,
      true,
      false,
    ])
  })

  test('a body that is kept already is not wanted again', () => {
    const cache = new ResponseCache(1_000_000)
    cache.isWanted('a', 100)
    cache.keep('a', body(100))
    expect(cache.isWanted('a', 100)).toBe(false)
  })

  test.each<[bytes: number, isWanted: boolean]>([
    [1_000_000, true],
    [1_000_001, false],
  ])('an uncompressed body of %d bytes: %s', (bytes, isWanted) => {
    const cache = new ResponseCache(100_000_000)
    cache.isWanted('a', bytes)
    expect(cache.isWanted('a', bytes)).toBe(isWanted)
  })

  test('a cache of no bytes keeps and wants nothing', () => {
    const cache = new ResponseCache(0)
    cache.isWanted('a', 1)
    cache.keep('a', body(1))
    expect([cache.isWanted('a', 1), cache.get('a'), cache.has('a')]).toEqual([false, undefined, false])
  })
})

describe('room', () => {
  test('the least recently used body goes first, and reading one counts as use', () => {
    const cache = new ResponseCache(3000)
    for (const name of ['a', 'b']) cache.keep(name, body(1000))
    cache.get('a')
    cache.keep('c', body(1000))
    expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([true, false, true])
  })

  test('all bodies together never take more than the cache may have', () => {
    const cache = new ResponseCache(10_000)
    for (let name = 0; name < 100; name += 1) cache.keep(String(name), body(name * 30))
    expect(cache.stats.bytes).toBeLessThanOrEqual(10_000)
    expect(cache.has('99')).toBe(true)
  })

  test('a body larger than the whole cache is not kept, and pushes out nothing', () => {
    const cache = new ResponseCache(2000)
    cache.keep('small', body(100))
    cache.keep('large', body(5000))
    expect([cache.has('small'), cache.has('large')]).toEqual([true, false])
  })
})

test('hits and misses are counted once a request', () => {
  const cache = new ResponseCache(10_000)
  cache.keep('a', body(10))
  cache.get('a')
  cache.get('b')
  cache.getAgain('a')
  cache.getAgain('b')
  expect(cache.stats).toEqual({ hits: 1, misses: 1, bytes: 310, entries: 1 })
})
