import { setImmediate } from 'node:timers/promises'

/** How long others wait for their turn, at most, in ms. */
const turnMs = 2

/** Ends when whoever waits last has had a turn. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * Long work on the main thread that gives others their turn: between two turns of such work, whoever asks for it, all else
 * that there is to do is done.
 */
export class Turns {
  readonly #signal: AbortSignal
  #began = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Whoever has had a turn waits until the others have had theirs; throws the reason of the signal. */
  async next(): Promise<void> {
    if (performance.now() - this.#began < turnMs) return
    const turn = queue.then(() => setImmediate())
    queue = turn
    await turn
    this.#signal.throwIfAborted()
    this.#began = performance.now()
  }
}
