import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
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
  /** What its ingest saw of its fields; null where that cannot be read. */
  readonly report: SnapshotReport | null
  /** By field: all its values, where they are few. */
  readonly choices: ReadonlyMap<string, readonly string[]>
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
