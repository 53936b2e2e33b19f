/** Work that goes on aside the steps. */
export class Aside {
  readonly #all: Promise<unknown>[] = []

  start<T>(work: Promise<T>): Promise<T> {
    // It is waited for later, and fails then.
    work.catch(() => undefined)
    this.#all.push(work)
    return work
  }

  /** @throws what failed first, when all have ended */
  async end(): Promise<void> {
    await Promise.allSettled(this.#all)
    await Promise.all(this.#all)
  }
}
