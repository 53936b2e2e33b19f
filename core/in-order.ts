/**
 * Processes items concurrently and yields results in their order. An error, or a consumer that ends early,
 * stops the remaining work. When the generator ends, no work runs any more.
 * @param max maximum number of items in progress, including finished ones that wait
 * @param work must stop when its signal fires, and then throw the reason
 */
export async function* inOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  max: number,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal | null = null,
): AsyncGenerator<R> {
  const controller = new AbortController()
  const stop = signal === null ? controller.signal : AbortSignal.any([signal, controller.signal])
  const running: Promise<R>[] = []
  try {
    for await (const item of items) {
      const promise = work(item, stop)
      // Stops all work immediately; the error itself is thrown when its item is due.
      promise.catch((error: unknown) => controller.abort(error))
      running.push(promise)
      const first = running.length < max ? undefined : running.shift()
      if (first !== undefined) yield await first
    }
    for (const promise of running) yield await promise
  } catch (error) {
    // Throws the first error, since the work that it stopped may throw other ones.
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    controller.abort()
    await Promise.allSettled(running)
  }
}

/** Waits until both end, then returns their results, or throws the first one's error. */
export async function bothOf<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second])
  return Promise.all([first, second])
}
