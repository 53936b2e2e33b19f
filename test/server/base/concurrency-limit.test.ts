import { EventEmitter, once } from 'node:events'
import { ConcurrencyLimit } from '../../../server/base/queue.ts'

/** Starts work that ends when `release` is called. */
function begun(
  limit: ConcurrencyLimit,
  client: string,
): { readonly over: Promise<string>; release: () => void } {
  const end = new EventEmitter()
  const over = limit
    .during(client, async () => once(end, 'over'))
    .then(
      () => 'done',
      (error: unknown) => String(error),
    )
  return { over, release: () => void end.emit('over') }
}

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 3],
])('of %d places one client has %d at most, and others the rest', async (all, half) => {
  const limit = new ConcurrencyLimit(all, 'exports')
  const own = Array.from({ length: half }, () => begun(limit, 'a'))
  await expect(begun(limit, 'a').over).resolves.toMatch(
    all === half ? 'Too many exports are running.' : 'Too many of your exports are running.',
  )
  const others = Array.from({ length: all - half }, (_, n) => begun(limit, `b${n}`))
  expect(limit.running).toBe(all)
  await expect(begun(limit, 'c').over).resolves.toMatch('Too many exports are running.')
  // Each place is free again when its work is over.
  own[0]?.release()
  await own[0]?.over
  const next = begun(limit, 'a')
  for (const { release } of [...own, ...others, next]) release()
  await expect(Promise.all([...own, ...others, next].map(({ over }) => over))).resolves.toEqual(
    Array.from({ length: all + 1 }, () => 'done'),
  )
  expect(limit.running).toBe(0)
})

test('work that fails leaves its place', async () => {
  const limit = new ConcurrencyLimit(1, 'exports')
  const failing = limit.during('a', () => Promise.reject(new RangeError('no')))
  await expect(failing).rejects.toThrow('no')
  await expect(limit.during('a', () => Promise.resolve(7))).resolves.toBe(7)
})
