import { FairQueue, waitIn, type Waiter } from '../../../server/base/queue.ts'

/** Joins `a1 a2 b1`, whose letters are their clients. */
function queueOf(waiters: string): FairQueue<string> {
  const queue = new FairQueue<string>()
  for (const waiter of waiters.split(' ')) queue.join(waiter.slice(0, 1), waiter)
  return queue
}

/** Dequeues until nobody eligible is left. */
function served(queue: FairQueue<string>, mayBe: (lane: string) => boolean = () => true): string[] {
  const order: string[] = []
  for (let next = queue.next(mayBe); next !== undefined; next = queue.next(mayBe)) order.push(next.waiter)
  return order
}

describe('the order of service', () => {
  test.each<[rule: string, joined: string, order: string]>([
    ['one client is served first come, first served', 'a1 a2 a3', 'a1 a2 a3'],
    ['clients alternate, however many requests one has', 'a1 a2 a3 b1', 'a1 b1 a2 a3'],
    ['a client that was served goes behind all others', 'a1 b1 c1 a2 b2 c2', 'a1 b1 c1 a2 b2 c2'],
    ['a client that joins late waits for one request of each', 'a1 a2 b1 b2 c1', 'a1 b1 c1 a2 b2'],
  ])('%s', (_rule, joined, order) => {
    expect(served(queueOf(joined)).join(' ')).toBe(order)
  })

  test('a client that may not be served keeps its place and delays no other', () => {
    const queue = queueOf('a1 b1 b2')
    expect(served(queue, (lane) => lane !== 'a')).toEqual(['b1', 'b2'])
    expect(served(queue)).toEqual(['a1'])
  })

  test('a waiter that left is not served, and its empty lane is removed', () => {
    const queue = queueOf('a1 b1')
    queue.leave('a', 'a1')
    queue.leave('a', 'a1')
    queue.leave('nobody', 'x')
    expect(queue.size).toBe(1)
    expect(served(queue)).toEqual(['b1'])
    expect(queue.size).toBe(0)
  })
})

describe('making room in a full queue', () => {
  test.each<[rule: string, joined: string, lane: string, gaveWay: string | undefined]>([
    ['the last of the longest lane gives way', 'a1 a2 a3 b1', 'c', 'a3'],
    ['a lane that would be as long as the longest gets no room', 'a1 a2 b1', 'b', undefined],
    ['the longest lane gets no room from itself', 'a1 a2', 'a', undefined],
    ['nobody gives way in an empty queue', '', 'a', undefined],
  ])('%s', (_rule, joined, lane, gaveWay) => {
    const queue = joined === '' ? new FairQueue<string>() : queueOf(joined)
    const before = queue.size
    expect(queue.yieldTo(lane)).toBe(gaveWay)
    expect(queue.size).toBe(before - (gaveWay === undefined ? 0 : 1))
  })
})

function waitWith(signal: AbortSignal, timeoutMs: number) {
  const queue = new FairQueue<Waiter<string, null>>()
  const waited = waitIn(queue, 'a', null, { signal, timeoutMs, refusal: () => new Error('too long') })
  return { queue, waited }
}

describe('waiting', () => {
  test('ends with the served item, and leaves the queue', async () => {
    const { queue, waited } = waitWith(new AbortController().signal, 10_000)
    queue.next(() => true)?.waiter.serve('connection')
    await expect(waited).resolves.toBe('connection')
    expect(queue.size).toBe(0)
  })

  test('ends with the refusal after its timeout, and leaves the queue', async () => {
    const { queue, waited } = waitWith(new AbortController().signal, 5)
    await expect(waited).rejects.toThrow('too long')
    expect(queue.size).toBe(0)
  })

  test('ends with the reason of the signal, and leaves the queue', async () => {
    const stop = new AbortController()
    const { queue, waited } = waitWith(stop.signal, 10_000)
    stop.abort(new Error('the client left'))
    await expect(waited).rejects.toThrow('the client left')
    expect(queue.size).toBe(0)
  })
})
