import type { Table } from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'

/** A table as one ingest published it; never changes. */
export interface Snapshot {
  readonly table: Table
  readonly manifest: Manifest
  /** Absolute folder of the parts. */
  readonly folder: string
  /** HTTP date of the import. */
  readonly lastModified: string
  /** About how long a row is as JSON. */
  readonly rowBytes: number
  readonly blockRows: number
  /** The statement that `planRows` fills in. */
  readonly rowSql: string
  /** Whoever reads its files says so. */
  readonly inUse: InUse
}

/** Whether something is being worked with, so that it stays meanwhile. */
export class InUse {
  #works = 0

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#works += 1
    try {
      return await work()
    } finally {
      this.#works -= 1
    }
  }

  get now(): boolean {
    return this.#works > 0
  }
}
