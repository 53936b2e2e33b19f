import type { RequestListener } from 'node:http'

/** Where requests wait until there is what answers them. */
export class Door {
  #app: RequestListener | null = null
  readonly #waiting: Parameters<RequestListener>[] = []

  readonly answer: RequestListener = (req, res) => {
    if (this.#app === null) this.#waiting.push([req, res])
    else this.#app(req, res)
  }

  /** Those who have left meanwhile are asked for nothing. */
  open(app: RequestListener): void {
    this.#app = app
    for (const [req, res] of this.#waiting.splice(0)) if (!res.destroyed) app(req, res)
  }
}
