import { setTimeout } from 'node:timers/promises'
import type { Snapshots } from './snapshots.ts'

type ReadyState = 'starting' | 'ready' | 'stopping'

/** Whether the service can answer for all that is published. Once it could, what is damaged later is told by its health. */
export class Readiness {
  readonly #snapshots: Snapshots
  #isLoaded = false
  #wasReady = false
  #isStopping = false
  readonly #waiting: (() => void)[] = []

  /** @param before of the catalog before: what was ready then does not start anew */
  constructor(snapshots: Snapshots, before: Readiness | null = null) {
    this.#snapshots = snapshots
    if (before === null) return
    this.#wasReady = before.now().state === 'ready' || before.#wasReady
    this.#isStopping = before.#isStopping
  }

  /** Every table was looked at once: from now on nobody waits. */
  loaded(): void {
    this.#isLoaded = true
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Waits until every table was looked at, but not for ever; says whether they were. */
  async waitFor(ms: number): Promise<boolean> {
    if (!this.#isLoaded) {
      const late = new AbortController()
      const loaded = new Promise<void>((resolve) => this.#waiting.push(resolve))
      await Promise.race([loaded, setTimeout(ms, undefined, late)])
      late.abort()
    }
    return this.#isLoaded
  }

  stopping(): void {
    this.#isStopping = true
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** With the tables that are published and cannot be asked for yet. */
  now(): { readonly state: ReadyState; readonly missing: Snapshots['missing'] } {
    if (this.#isStopping) return { state: 'stopping', missing: [] }
    const missing = this.#wasReady ? [] : this.#snapshots.missing
    this.#wasReady ||= this.#isLoaded && missing.length === 0
    return { state: this.#wasReady ? 'ready' : 'starting', missing }
  }
}
