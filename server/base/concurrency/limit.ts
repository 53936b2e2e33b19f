import { QueueFull } from './queue-full.ts'

/** So many may do something long at the same time, and one client no more than half of them. */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #what: string
  readonly #running = new Map<string, number>()
  #all = 0

  /** @param what is told to whom it refuses, such as `exports` */
  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  /** How many run now. */
  get running(): number {
    return this.#all
  }

  /** @throws QueueFull where too many run already */
  async during<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#running.get(client) ?? 0
    if (this.#all >= this.#max) throw new QueueFull(`Too many ${this.#what} are running.`)
    if (own >= Math.ceil(this.#max / 2)) throw new QueueFull(`Too many ${this.#what} of yours are running.`)
    this.#all += 1
    this.#running.set(client, own + 1)
    try {
      return await work()
    } finally {
      this.#all -= 1
      const left = (this.#running.get(client) ?? 1) - 1
      if (left === 0) this.#running.delete(client)
      else this.#running.set(client, left)
    }
  }
}
