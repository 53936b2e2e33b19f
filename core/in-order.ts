/**
 * Works on a few items at a time and tells what came of them in the order of the items. The first error stops the
 * others, and so does whoever does not read to the end; nothing is at work any more when it has ended.
 *
 * @param max how many are worked on at the same time, those included that wait for their turn to be told
 * @param work stops when its signal fires, and throws its reason then
 * @param signal stops all
 */
export async function* inOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  max: number,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal | null = null,
): AsyncGenerator<R> {
  const own = new AbortController()
  const stop = signal === null ? own.signal : AbortSignal.any([signal, own.signal])
  const running: Promise<R>[] = []
  try {
    for await (const item of items) {
      const begun = work(item, stop)
      // It is told in its turn, and stops the others before.
      begun.catch((error: unknown) => own.abort(error))
      running.push(begun)
      const first = running.length < max ? undefined : running.shift()
      if (first !== undefined) yield await first
    }
    for (const left of running) yield await left
  } catch (error) {
    // What was stopped for an error may throw one of its own.
    throw own.signal.aborted ? own.signal.reason : error
  } finally {
    own.abort()
    await Promise.allSettled(running)
  }
}
