import { EventEmitter, once } from 'node:events'
import fc from 'fast-check'
import { ConcurrencyLimit, type Slot } from '../../../server/base/queue.ts'

const limits = { queueTimeoutMs: 20_000, queueLengthMax: 100 }
const { signal } = new AbortController()

interface Begun {
  readonly over: Promise<string>
  readonly release: () => void
  readonly slot: () => Slot | null
}

/** Starts work that ends when `release` is called. */
function begun(limit: ConcurrencyLimit, client: string, stop = signal): Begun {
  const end = new EventEmitter()
  let ownSlot: Slot | null = null
  const over = limit
    .during(client, stop, async (slot) => {
      ownSlot = slot
      await once(end, 'over')
    })
    .then(
      () => 'done',
      (error: unknown) => String(error),
    )
  return { over, release: () => void end.emit('over'), slot: () => ownSlot }
}

const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 3],
])('with %d slots, one client gets at most %d, and other clients get the rest', async (max, half) => {
  const limit = new ConcurrencyLimit({ ...limits, max }, 'exports')
  const slots = Array.from({ length: half + 1 }, () => begun(limit, 'a'))
  await settled()
  expect([limit.running, limit.waiting]).toEqual([half, 1])
  const others = Array.from({ length: max - half }, (_, n) => begun(limit, `b${n}`))
  const last = begun(limit, 'c')
  await settled()
  expect([limit.running, limit.waiting]).toEqual([max, 2])
  // A free slot goes to the next in the queue.
  slots[0]?.release()
  await slots[0]?.over
  await settled()
  expect([limit.running, limit.waiting]).toEqual([max, 1])
  for (const { release } of [...slots, ...others]) release()
  for (const next of [...slots, last]) {
    await settled()
    next.release()
  }
  await expect(Promise.all([...slots, ...others, last].map(({ over }) => over))).resolves.toEqual(
    Array.from({ length: max + 2 }, () => 'done'),
  )
  expect([limit.running, limit.waiting]).toEqual([0, 0])
})

test('work waits at most until its timeout, and the queue never exceeds its maximum length', async () => {
  const limit = new ConcurrencyLimit({ max: 1, queueTimeoutMs: 50, queueLengthMax: 2 }, 'exports')
  const first = begun(limit, 'a')
  const waiting = [begun(limit, 'a'), begun(limit, 'a')]
  await expect(begun(limit, 'a').over).resolves.toBe('QueueFull: Too many exports are running.')
  // A client who fills the queue does not keep others out of it.
  const secondClient = begun(limit, 'b')
  await expect(waiting[1]?.over).resolves.toBe('QueueFull: Too many exports are running.')
  await expect(secondClient.over).resolves.toBe('QueueFull: Too many exports are running.')
  await expect(waiting[0]?.over).resolves.toBe('QueueFull: Too many exports are running.')
  first.release()
  await expect(first.over).resolves.toBe('done')
  expect([limit.running, limit.waiting]).toEqual([0, 0])
})

test('work that fails frees its slot, and a client that leaves frees its place in the queue', async () => {
  const limit = new ConcurrencyLimit({ ...limits, max: 1 }, 'exports')
  const failing = limit.during('a', signal, () => Promise.reject(new RangeError('no')))
  await expect(failing).rejects.toThrow('no')
  const first = begun(limit, 'a')
  const stop = new AbortController()
  const leaving = begun(limit, 'b', stop.signal)
  await settled()
  stop.abort(new Error('left'))
  await expect(leaving.over).resolves.toBe('Error: left')
  expect(limit.waiting).toBe(0)
  first.release()
  await first.over
  await expect(limit.during('a', signal, () => Promise.resolve(7))).resolves.toBe(7)
})

test('paused work frees its slot for others, and resumes in its turn', async () => {
  const limit = new ConcurrencyLimit({ ...limits, max: 1 }, 'exports')
  const first = begun(limit, 'a')
  const second = begun(limit, 'b')
  await settled()
  expect(second.slot()).toBeNull()
  first.slot()?.pause()
  first.slot()?.pause()
  await settled()
  expect([second.slot() !== null, limit.running]).toEqual([true, 1])
  let isResumed = false
  const resumed = first
    .slot()
    ?.resume()
    .then(() => (isResumed = true))
  await settled()
  expect([isResumed, limit.waiting]).toEqual([false, 1])
  second.release()
  await resumed
  expect([limit.running, limit.waiting]).toEqual([1, 0])
  first.release()
  await first.over
  expect([limit.running, limit.waiting]).toEqual([0, 0])
})

test('random pauses, resumes and departures never exceed the limit, and all work ends', async () => {
  const steps = fc.array(
    fc.record({
      client: fc.constantFrom('a', 'b', 'c'),
      acts: fc.array(fc.constantFrom('pause', 'resume', 'wait', 'wander'), { maxLength: 4 }),
      leaves: fc.boolean(),
    }),
    { minLength: 1, maxLength: 20 },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      steps,
      fc.scheduler(),
      async (max, amounts, scheduler) => {
        const limit = new ConcurrencyLimit({ ...limits, max }, 'exports')
        const working = amounts.map(({ client, acts, leaves }) => {
          const stop = new AbortController()
          const work = limit.during(client, stop.signal, async (slot) => {
            for (const act of acts) {
              if (act === 'pause') slot.pause()
              else if (act === 'resume') await slot.resume()
              // Without waiting for the turn.
              else if (act === 'wander') slot.resume().catch(() => undefined)
              await scheduler.schedule(Promise.resolve())
              expect(limit.running).toBeLessThanOrEqual(max)
            }
          })
          if (leaves) void scheduler.schedule(Promise.resolve()).then(() => stop.abort())
          return work.catch((error: unknown) => {
            if (!leaves) throw error
          })
        })
        await scheduler.waitFor(Promise.all(working))
        await settled()
        expect([limit.running, limit.waiting]).toEqual([0, 0])
      },
    ),
  )
})
