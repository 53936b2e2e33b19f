import { setTimeout as wait } from 'node:timers/promises'
import { layout } from '../../core/warehouse/layout.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Log } from '../base/log.ts'
import type { Snapshots } from './snapshots.ts'

const pollEveryMs = 1000
const patienceMs = 10_000

/** Fetches remote files in advance, as long as this evicts no other file. */
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
    if (this.#store.isRemote) void this.#follow()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #follow(): Promise<void> {
    let fetchedVersion = -1
    let isFailing = false
    while (!this.#stop.signal.aborted) {
      const currentVersion = this.#snapshots.version
      try {
        if (currentVersion !== fetchedVersion) await this.once()
        fetchedVersion = currentVersion
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#log.warn({ err: error }, 'prefetch failed')
        isFailing = true
      }
      await wait(isFailing ? patienceMs : pollEveryMs, undefined, {
        signal: this.#stop.signal,
        ref: false,
      }).catch(() => undefined)
    }
  }

  /** One file at a time, so that requests come first. */
  async once(): Promise<void> {
    for (const { table, manifest } of this.#snapshots.served) {
      const folder = layout.snapshot(table, manifest.snapshot)
      for (const storedFile of readOften(manifest)) {
        const file = { ...storedFile, key: `${folder}/${storedFile.file}` }
        if (this.#stop.signal.aborted || !(await this.#store.hasRoomFor(file))) return
        const release = await this.#store.pin([file])
        release()
      }
    }
  }
}

/** All files except downloads, in the order in which requests need them: parts last. */
function readOften({ row_store: _former, ...manifest }: Manifest) {
  const partFiles = filesOf(manifest).filter((file) => !manifest.files.includes(file))
  const parts = new Set<unknown>(manifest.parts)
  return [...partFiles.filter((file) => !parts.has(file)), ...manifest.parts]
}
