import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { layout } from '../../core/warehouse/layout.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { BuiltViews } from './public-views.ts'

/** The DuckLake that the last ingest wrote, as a file that stays as it is while somebody reads it. */
export class PublicLake {
  readonly #store: Store
  readonly #scratch: string
  #version = ''
  #copy: Promise<BuiltViews> | null = null
  #number = 0

  /** @param scratch absolute folder of the process */
  constructor(store: Store, scratch: string) {
    this.#store = store
    this.#scratch = scratch
  }

  /** Null where there is none. */
  async current(): Promise<BuiltViews | null> {
    const state = await this.#store.stat(layout.lake)
    if (state === null) return null
    if (this.#copy === null || state.version !== this.#version) {
      this.#version = state.version
      const copying = this.#take()
      this.#copy = copying
      copying.catch(() => {
        if (this.#copy === copying) this.#copy = null
      })
    }
    return this.#copy
  }

  /** Takes it anew for the next who asks. */
  readonly forget = (): void => {
    this.#copy = null
  }

  async #take(): Promise<BuiltViews> {
    const bytes = await this.#store.get(layout.lake)
    if (bytes === null) throw new Error(`${layout.lake} is gone`)
    this.#number += 1
    const file = `lake-${this.#number}.ducklake`
    await writeFile(path.join(this.#scratch, file), bytes)
    // The one before may have been promised to someone who has not opened it yet.
    await rm(path.join(this.#scratch, `lake-${this.#number - 2}.ducklake`), { force: true })
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { folder: this.#scratch, file, sha256 }
  }
}
