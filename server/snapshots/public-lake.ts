import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { layout } from '../../core/warehouse/layout.ts'
import { hasSum } from '../../core/warehouse/summed-files.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { BuiltViews } from './public-views.ts'

/** The DuckLake that the last ingest wrote, as a file that stays as it is while somebody reads it. */
export class PublicLake {
  readonly #store: Store
  readonly #scratch: string
  #version = ''
  #copy: Promise<BuiltViews | 'damaged'> | null = null
  #number = 0

  /** @param scratch absolute folder of the process */
  constructor(store: Store, scratch: string) {
    this.#store = store
    this.#scratch = scratch
  }

  /** The current lake; null if there is none, `damaged` if it is not the one that an ingest wrote. */
  async current(): Promise<BuiltViews | 'damaged' | null> {
    const state = await this.#store.stat(layout.lake)
    if (state === null) return null
    // A mirror may bring the sum after the lake.
    const sum = await this.#store.stat(layout.sumOf(layout.lake))
    const version = `${state.version} ${sum?.version ?? ''}`
    if (this.#copy === null || version !== this.#version) {
      this.#version = version
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

  async #take(): Promise<BuiltViews | 'damaged'> {
    // A job may put another in its place between the file and its sum.
    const found = (await this.#summed()) ?? (await this.#summed())
    if (found === null) return 'damaged'
    const { bytes, sha256 } = found
    this.#number += 1
    const file = `lake-${this.#number}.ducklake`
    await writeFile(path.join(this.#scratch, file), bytes)
    // The one before may have been promised to someone who has not opened it yet.
    await rm(path.join(this.#scratch, `lake-${this.#number - 2}.ducklake`), { force: true })
    return { folder: this.#scratch, file, sha256 }
  }

  /** The lake and its SHA-256; null where they do not fit the sum beside it. */
  async #summed(): Promise<{ bytes: Buffer; sha256: string } | null> {
    const bytes = await this.#store.get(layout.lake)
    if (bytes === null) throw new Error(`${layout.lake} is gone`)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return (await hasSum(this.#store, layout.lake, sha256)) ? { bytes, sha256 } : null
  }
}
