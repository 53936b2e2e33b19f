import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest, Source } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Reusable } from '../convert/parts/reused-partitions.ts'
import type { Progress } from '../base/progress.ts'
import type { ReadFile } from '../source/read.ts'
import type { PlacedFile, UnpackLimits } from '../source/member.ts'

/** A table whose source is to be converted. */
export interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly files: readonly PlacedFile[]
  /** Returns the identity of a file that was read, such as its address. */
  readonly identify: (file: ReadFile, index: number) => Source
  readonly limits: UnpackLimits
  readonly store: Store
  /** Published manifest, intact or not: a new snapshot is compared with it. */
  readonly before: Manifest | null
  /** Reusable partitions of the published snapshot; null to read everything. */
  readonly reusable: Reusable | null
  /** Parquet files of the tables that expectations refer to, by `dataset/table`. */
  readonly referenced: ReadonlyMap<string, readonly string[]>
  /** Snapshot that a rollback of the new one restores; null if there is none. */
  readonly previous: SnapshotId | null
  /** Folder of this job alone, from which finished files move into the warehouse. */
  readonly scratch: string
  readonly db: Connection
  readonly otherDb: Connection
  readonly progress: Progress
  readonly partRows: number
  /** Definition of the table, as `definitionOf` returns it. */
  readonly definition: string
  /** Filter fields with more distinct values have no codes. */
  readonly codedDistinctMax: number
  /** Size in bytes of text from which a batch is complete. */
  readonly batchBytes: number
  readonly acceptsDrift: boolean
  /** True to publish no changes, so that erased rows are not published once more. */
  readonly withoutChanges: boolean
  /** Null if there is none. */
  readonly clickHouse: ClickHouse | null
  readonly now: () => Date
}

const progressEveryMs = 100

export type Stopwatch = ReturnType<typeof stopwatch>

/** Times the steps of a job, and shows the progress of DuckDB unless the step reports its own. */
export function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  return {
    seconds,
    time: async <T>(name: string, work: () => Promise<T>, scope?: 'own'): Promise<T> => {
      const began = performance.now()
      progress.step(name)
      const watch = setInterval(() => {
        const fraction = scope === undefined ? db.progress() : null
        if (fraction !== null) progress.advance({ fraction })
      }, progressEveryMs)
      try {
        return await work()
      } finally {
        clearInterval(watch)
        seconds[name] = Number(((performance.now() - began) / 1000).toFixed(3))
      }
    },
  }
}
