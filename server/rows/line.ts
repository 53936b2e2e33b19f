/**
 * Who waits, in turn by client and first come first served within one: a client who asks for a hundred things at
 * once keeps another, who asks for one, waiting for one.
 */
export class Line<T> {
  /** Lane -> its waiters; the lane whose turn it is stands first. */
  readonly #lanes = new Map<string, Set<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  join(lane: string, waiter: T): void {
    const waiters = this.#lanes.get(lane)
    if (waiters === undefined) this.#lanes.set(lane, new Set([waiter]))
    else waiters.add(waiter)
    this.#size += 1
  }

  leave(lane: string, waiter: T): void {
    const waiters = this.#lanes.get(lane)
    if (waiters?.delete(waiter) !== true) return
    this.#size -= 1
    if (waiters.size === 0) this.#lanes.delete(lane)
  }

  /** Takes whose turn it is out of the line; undefined where nobody waits. */
  next(): T | undefined {
    const [first] = this.#lanes
    if (first === undefined) return undefined
    const [lane, waiters] = first
    const [waiter] = waiters
    if (waiter === undefined) return undefined
    this.leave(lane, waiter)
    // Behind all other lanes.
    if (this.#lanes.delete(lane)) this.#lanes.set(lane, waiters)
    return waiter
  }
}
