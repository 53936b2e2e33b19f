import { setImmediate } from 'node:timers/promises'
import { ClientOnlyError, SingleFlight } from '../../../server/base/single-flight.ts'

/** Work that ends when the test says so. */
function workshopOf() {
  const begun: { signal: () => AbortSignal; end: (value: string) => void; fail: (error: Error) => void }[] =
    []
  const work = (signal: () => AbortSignal): Promise<string> =>
    new Promise((end, fail) => {
      begun.push({ signal, end, fail })
    })
  return { begun, work }
}

const unstopped = (): AbortSignal => new AbortController().signal

test('concurrent requests for one key run the work once, and all get its result', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const results = [1, 2, 3].map(() => flights.join('key', unstopped, work))
  expect([begun.length, flights.has('key')]).toEqual([1, true])
  begun[0]?.end('rows')
  await expect(Promise.all(results)).resolves.toEqual(['rows', 'rows', 'rows'])
})

test('requests for different keys run independently', () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  void flights.join('one', unstopped, work)
  void flights.join('two', unstopped, work)
  expect(begun.length).toBe(2)
})

test.each<[title: string, finish: (end: (value: string) => void, fail: (error: Error) => void) => void]>([
  ['a result', (end) => end('old')],
  ['a failure', (_end, fail) => fail(new Error('disk'))],
])('%s is not remembered: the next request runs the work again', async (_what, finish) => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const first = flights.join('key', unstopped, work).catch((error: unknown) => error)
  if (begun[0] !== undefined) finish(begun[0].end, begun[0].fail)
  await first
  expect(flights.has('key')).toBe(false)
  const second = flights.join('key', unstopped, work)
  begun[1]?.end('new')
  await expect(second).resolves.toBe('new')
})

test('a failure reaches all requests that joined', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const results = [1, 2].map(() => flights.join('key', unstopped, work))
  begun[0]?.fail(new Error('disk'))
  for (const result of results) await expect(result).rejects.toThrow('disk')
})

test('a request that is cancelled gets the reason, and the work continues for the others', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const leaving = new AbortController()
  const [left, stayed] = [
    flights.join('key', () => leaving.signal, work),
    flights.join('key', unstopped, work),
  ]
  leaving.abort(new Error('the client left'))
  await expect(left).rejects.toThrow('the client left')
  expect(begun[0]?.signal().aborted).toBe(false)
  begun[0]?.end('rows')
  await expect(stayed).resolves.toBe('rows')
})

test('the work stops when the last request is cancelled, and the next request starts it anew', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const stops = [new AbortController(), new AbortController()]
  const results = stops.map(({ signal }) => flights.join('key', () => signal, work))
  for (const stop of stops) stop.abort(new Error('left'))
  for (const result of results) await expect(result).rejects.toThrow('left')
  expect(begun[0]?.signal().aborted).toBe(true)
  const next = flights.join('key', unstopped, work)
  begun[1]?.end('rows')
  await expect(next).resolves.toBe('rows')
})

test('work that started for a cancelled request stops', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const left = AbortSignal.abort(new Error('left'))
  await expect(flights.join('key', () => left, work)).rejects.toThrow('left')
  expect([begun.length, begun[0]?.signal().aborted, flights.has('key')]).toEqual([1, true, false])
})

test('work that ends at once never asks for the abort signal of its request', async () => {
  const flights = new SingleFlight<string>()
  let signals = 0
  const signal = (): AbortSignal => {
    signals += 1
    return new AbortController().signal
  }
  await expect(flights.join('key', signal, () => Promise.resolve('rows'))).resolves.toBe('rows')
  await setImmediate()
  expect(signals).toBe(0)
})

test('if only the first request is refused, the other requests start the work anew', async () => {
  const [flights, { begun, work }] = [new SingleFlight<string>(), workshopOf()]
  const [first, second] = [1, 2].map(() => flights.join('key', unstopped, work))
  begun[0]?.fail(new ClientOnlyError('over the quota'))
  await expect(first).rejects.toThrow('over the quota')
  begun[1]?.end('rows')
  await expect(second).resolves.toBe('rows')
})
