import { setImmediate } from 'node:timers/promises'

/** How long others wait for their turn, at most, in ms. */
const turnMs = 2

/** Work on the main thread that gives others their turn from time to time. */
export class Turns {
  readonly #signal: AbortSignal
  #began = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  async next(): Promise<void> {
    if (performance.now() - this.#began < turnMs) return
    await setImmediate()
    this.#signal.throwIfAborted()
    this.#began = performance.now()
  }
}
