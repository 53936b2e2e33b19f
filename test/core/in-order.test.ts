import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { inOrder } from '../../core/in-order.ts'
import { seed } from '../support/runs.ts'

/** Work on several items at a time, with results in their order. */

test('results come in the order of the items, even if later items end first, and concurrency is limited', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      async (delays, max) => {
        let [running, seen] = [0, 0]
        const results: number[] = []
        const work = async (delay: number): Promise<number> => {
          running += 1
          seen = Math.max(seen, running)
          for (let turn = 0; turn < delay; turn += 1) await setTimeout(0)
          running -= 1
          return delay
        }
        for await (const delay of inOrder(delays, max, work)) results.push(delay)
        expect(results).toEqual(delays)
        expect(seen).toBeLessThanOrEqual(max)
      },
    ),
    { seed, numRuns: 100 },
  )
})

/** Ends when stopped, or at once for items that must fail. */
function endless(ended: number[]): (item: number, signal: AbortSignal) => Promise<number> {
  return async (item, signal) => {
    try {
      if (item < 0) throw new Error('broken')
      await setTimeout(60_000, undefined, { signal })
      return item
    } finally {
      ended.push(item)
    }
  }
}

test('the first error stops the other items, and is thrown once they have ended', async () => {
  const ended: number[] = []
  const results = inOrder([1, 2, -3, 4, 5], 3, endless(ended))
  await expect(results.next()).rejects.toThrow('broken')
  expect(ended.toSorted((a, b) => a - b)).toEqual([-3, 1, 2])
})

test('an aborted signal stops all items', async () => {
  const ended: number[] = []
  const results = inOrder([1, 2, 3], 2, endless(ended), AbortSignal.timeout(10))
  await expect(results.next()).rejects.toThrow('aborted')
  expect(ended.toSorted((a, b) => a - b)).toEqual([1, 2])
})

test('a consumer that stops early aborts the items that still run', async () => {
  const ended: number[] = []
  const work = endless(ended)
  for await (const first of inOrder([0, 1, 2, 3], 2, async (item, signal) =>
    item === 0 ? 0 : work(item, signal),
  )) {
    expect(first).toBe(0)
    break
  }
  expect(ended).toEqual([1])
})
