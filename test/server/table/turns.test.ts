import { setImmediate } from 'node:timers/promises'
import { EventLoopYielder } from '../../../server/base/queue.ts'

/** Long work of several on one thread. */

test('other work runs between two slices of long work', async () => {
  let rounds = 0
  const over = new AbortController()
  const others = (async () => {
    while (!over.signal.aborted) {
      await setImmediate()
      rounds += 1
    }
  })()
  const seen: number[] = []
  const work = async (): Promise<void> => {
    const turns = new EventLoopYielder(() => new AbortController().signal)
    for (let slice = 0; slice < 10; slice += 1) {
      const until = performance.now() + 2.5
      while (performance.now() < until);
      await turns.next()
      seen.push(rounds)
    }
  }
  await Promise.all(Array.from({ length: 5 }, work))
  over.abort()
  await others
  expect(seen).toHaveLength(50)
  expect(new Set(seen).size).toBe(50)
})

test('cancelled work stops at its next slice', async () => {
  const stop = new AbortController()
  const turns = new EventLoopYielder(() => stop.signal)
  const until = performance.now() + 2.5
  while (performance.now() < until);
  stop.abort(new Error('gone'))
  await expect(turns.next()).rejects.toThrow('gone')
  // Others go on.
  const next = new EventLoopYielder(() => new AbortController().signal)
  const later = performance.now() + 2.5
  while (performance.now() < later);
  await expect(next.next()).resolves.toBeUndefined()
})
