import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest, Source } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Kept } from '../convert/reused-partitions.ts'
import type { Progress } from '../base/progress.ts'
import type { ReadFile } from '../source/read.ts'
import type { PlacedFile, UnpackLimits } from '../source/member.ts'

/** One table whose source is to be converted. */
export interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly files: readonly PlacedFile[]
  /** What else is known of a file that was read, such as its address. */
  readonly identify: (file: ReadFile, index: number) => Source
  readonly limits: UnpackLimits
  readonly store: Store
  /** What is published now, damaged or not: a new snapshot is compared with it. */
  readonly before: Manifest | null
  /** What of it is taken over; null where all is read. */
  readonly kept: Kept | null
  /** What a rollback of the new snapshot would lead to. */
  readonly previous: SnapshotId | null
  /** Folder of this job alone, from which the warehouse takes what is finished. */
  readonly scratch: string
  readonly db: Connection
  readonly progress: Progress
  readonly partRows: number
  /** Of the table, as `definitionOf` tells it. */
  readonly definition: string
  /** Fields of the catalog's filters with more different values have no codes. */
  readonly codedDistinctMax: number
  /** Text that is cast at once. */
  readonly batchBytes: number
  readonly acceptsDrift: boolean
  /** Null where there is none. */
  readonly clickHouse: ClickHouse | null
  readonly now: () => Date
}

const progressEveryMs = 100

export type Stopwatch = ReturnType<typeof stopwatch>

/** Times the steps of a job and shows how far DuckDB is in each, where the step does not tell itself. */
export function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  return {
    seconds,
    time: async <T>(name: string, work: () => Promise<T>, own?: 'own'): Promise<T> => {
      const began = performance.now()
      progress.step(name)
      const watch = setInterval(() => {
        const fraction = own === undefined ? db.progress() : null
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
