import { QueueFull } from './queue-full.ts'

/** So many may do something long at the same time, and one client no more than half of them. */
export class Places {
  readonly #most: number
  readonly #what: string
  readonly #taken = new Map<string, number>()
  #all = 0

  /** @param what is told to whom there is no place for, such as `exports` */
  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** How many are taken now. */
  get taken(): number {
    return this.#all
  }

  /** @throws QueueFull where no place is free */
  async during<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#taken.get(client) ?? 0
    if (this.#all >= this.#most) throw new QueueFull(`Too many ${this.#what} are running.`)
    if (own >= Math.ceil(this.#most / 2)) throw new QueueFull(`Too many ${this.#what} of yours are running.`)
    this.#all += 1
    this.#taken.set(client, own + 1)
    try {
      return await work()
    } finally {
      this.#all -= 1
      const left = (this.#taken.get(client) ?? 1) - 1
      if (left === 0) this.#taken.delete(client)
      else this.#taken.set(client, left)
    }
  }
}
