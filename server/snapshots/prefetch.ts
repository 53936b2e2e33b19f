import { setTimeout as wait } from 'node:timers/promises'
import { layout } from '../../core/warehouse/layout.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Log } from '../base/log.ts'
import type { Snapshots } from './snapshots.ts'

const lookEveryMs = 1000
/** After a store has failed. */
const patienceMs = 10_000

/** Brings what is served from elsewhere here before it is asked for, as long as there is room for it without anything having to go. */
export class Prefetch {
  readonly #snapshots: Snapshots
  readonly #store: Store
  readonly #log: Log
  readonly #stop = new AbortController()

  constructor(snapshots: Snapshots, store: Store, log: Log) {
    this.#snapshots = snapshots
    this.#store = store
    this.#log = log
  }

  begin(): void {
    if (this.#store.isElsewhere) void this.#follow()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #follow(): Promise<void> {
    let version = -1
    let isFailing = false
    while (!this.#stop.signal.aborted) {
      const now = this.#snapshots.version
      try {
        if (now !== version) await this.once()
        version = now
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#log.warn({ err: error }, 'files are not brought here in advance')
        isFailing = true
      }
      await wait(isFailing ? patienceMs : lookEveryMs, undefined, {
        signal: this.#stop.signal,
        ref: false,
      }).catch(() => undefined)
    }
  }

  /** One file after the other, so that those who ask come first. */
  async once(): Promise<void> {
    for (const { table, manifest } of this.#snapshots.served) {
      const folder = layout.snapshot(table, manifest.snapshot)
      for (const stored of readOften(manifest)) {
        const file = { ...stored, key: `${folder}/${stored.file}` }
        if (this.#stop.signal.aborted || !(await this.#store.hasRoomFor(file))) return
        const letGo = await this.#store.hold([file])
        letGo()
      }
    }
  }
}

/** What answers are made of, what every ask needs first; not the files for readers. */
function readOften(manifest: Manifest) {
  const all = filesOf(manifest).filter((file) => !manifest.files.includes(file))
  const parts = new Set<unknown>(manifest.parts)
  return [...all.filter((file) => !parts.has(file)), ...manifest.parts]
}
