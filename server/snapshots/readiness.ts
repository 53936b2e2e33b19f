import { setTimeout } from 'node:timers/promises'
import type { Snapshots } from './snapshots.ts'

type ReadyState = 'starting' | 'ready' | 'stopping'

/** Ready once all published tables are loaded; damage found later appears only at `/health`. */
export class Readiness {
  readonly #snapshots: Snapshots
  #isLoaded = false
  #wasReady = false
  #isStopping = false
  readonly #waiting: (() => void)[] = []

  /** @param before readiness with the previous catalog: a server that was ready stays ready */
  constructor(snapshots: Snapshots, before: Readiness | null = null) {
    this.#snapshots = snapshots
    if (before === null) return
    this.#wasReady = before.now().state === 'ready' || before.#wasReady
    this.#isStopping = before.#isStopping
  }

  loaded(): void {
    this.#isLoaded = true
    for (const resume of this.#waiting.splice(0)) resume()
  }

  async waitFor(ms: number): Promise<boolean> {
    if (!this.#isLoaded) {
      const timeout = new AbortController()
      const loaded = new Promise<void>((resolve) => this.#waiting.push(resolve))
      await Promise.race([loaded, setTimeout(ms, undefined, timeout)])
      timeout.abort()
    }
    return this.#isLoaded
  }

  stopping(): void {
    this.#isStopping = true
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Names published tables that cannot be queried yet. */
  now(): { readonly state: ReadyState; readonly missing: Snapshots['missing'] } {
    if (this.#isStopping) return { state: 'stopping', missing: [] }
    const missing = this.#wasReady ? [] : this.#snapshots.missing
    this.#wasReady ||= this.#isLoaded && missing.length === 0
    return { state: this.#wasReady ? 'ready' : 'starting', missing }
  }
}
