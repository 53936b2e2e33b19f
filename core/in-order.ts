/**
 * Processes a few items concurrently and yields results in the order of the items. The first error stops the
 * others, and so does a consumer that ends early; nothing runs any more after the end.
 * @param max most items in progress, including finished ones that wait for their turn
 * @param work stops when its signal fires, and then throws its reason
 * @param signal stops everything
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
      // The error is thrown when its item is due, and stops all items now.
      begun.catch((error: unknown) => own.abort(error))
      running.push(begun)
      const first = running.length < max ? undefined : running.shift()
      if (first !== undefined) yield await first
    }
    for (const left of running) yield await left
  } catch (error) {
    // Work stopped by an error may throw errors of its own.
    throw own.signal.aborted ? own.signal.reason : error
  } finally {
    own.abort()
    await Promise.allSettled(running)
  }
}
