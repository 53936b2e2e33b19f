import { setMaxListeners } from 'node:events'

interface Flight<T> {
  readonly result: Promise<T>
  /** Created on demand. */
  readonly stopController: () => AbortController
  callerCount: number
}

/** Error of one client, such as an exceeded quota; other clients waiting for the work run it again. */
export class ClientOnlyError extends Error {}

/** Runs work once for simultaneous callers, and stops it when the last one has left. */
export class SingleFlight<T> {
  readonly #flying = new Map<string, Flight<T>>()

  has(key: string): boolean {
    return this.#flying.has(key)
  }

  /**
   * @param signal ends the wait of this caller. It is called only if the work outlasts a turn of the event
   * loop, since a signal costs as much as short work.
   * @param work starts unless work with this key is running
   */
  async join(
    key: string,
    signal: () => AbortSignal,
    work: (signal: () => AbortSignal) => Promise<T>,
  ): Promise<T> {
    const flying = this.#flying.get(key)
    if (flying === undefined) return this.#follow(key, this.#begin(key, work), signal)
    try {
      return await this.#follow(key, flying, signal)
    } catch (error) {
      if (!(error instanceof ClientOnlyError)) throw error
      return this.join(key, signal, work)
    }
  }

  /** Waits for a flight as one of its callers; stops it when all of them have aborted. */
  async #follow(key: string, flight: Flight<T>, signal: () => AbortSignal): Promise<T> {
    flight.callerCount += 1
    return new Promise((resolve, reject) => {
      let watchedSignal: AbortSignal | null = null
      const onAbort = (): void => {
        reject(watchedSignal?.reason as Error)
        flight.callerCount -= 1
        if (flight.callerCount > 0) return
        // A new caller needs work that is not being stopped.
        this.#forget(key, flight)
        flight.stopController().abort(watchedSignal?.reason)
      }
      const watchStart = setImmediate(() => {
        watchedSignal = signal()
        // A page of long texts adds many listeners, and Node would warn of a leak.
        setMaxListeners(0, watchedSignal)
        if (watchedSignal.aborted) onAbort()
        else watchedSignal.addEventListener('abort', onAbort, { once: true })
      })
      const end = (): void => {
        clearImmediate(watchStart)
        watchedSignal?.removeEventListener('abort', onAbort)
      }
      flight.result.then(resolve, reject).finally(end)
    })
  }

  #begin(key: string, work: (signal: () => AbortSignal) => Promise<T>): Flight<T> {
    let controller: AbortController | null = null
    const stopController = (): AbortController => (controller ??= new AbortController())
    const flight: Flight<T> = {
      result: work(() => stopController().signal),
      stopController,
      callerCount: 0,
    }
    this.#flying.set(key, flight)
    const forget = (): void => this.#forget(key, flight)
    flight.result.then(forget, forget)
    return flight
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#flying.get(key) === flight) this.#flying.delete(key)
  }
}
