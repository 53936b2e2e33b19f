import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest, Source } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Reusable } from '../convert/parts/reused-partitions.ts'
import type { Progress, StepOptions } from '../base/progress.ts'
import type { ReadFile } from '../source/read.ts'
import type { PlacedFile, UnpackLimits } from '../source/member.ts'

export interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly files: readonly PlacedFile[]
  /** Identity of a file that was read, such as its address. */
  readonly identify: (file: ReadFile, index: number) => Source
  readonly limits: UnpackLimits
  readonly store: Store
  /** Published manifest, intact or not, with which the new one is compared. */
  readonly before: Manifest | null
  readonly reusable: Reusable | null
  readonly referenced: ReadonlyMap<string, readonly string[]>
  /** Snapshot that a rollback restores; null if there is none. */
  readonly previous: SnapshotId | null
  /** Folder of this job, from which finished files move into the warehouse. */
  readonly scratch: string
  readonly db: Connection
  readonly otherDb: Connection
  readonly progress: Progress
  readonly partRows: number
  readonly definition: string
  /** Filter fields with more distinct values have no codes. */
  readonly codedDistinctMax: number
  readonly batchBytes: number
  readonly acceptsDrift: boolean
  /** Publishes no changes, so that erased rows do not reappear. */
  readonly withoutChanges: boolean
  readonly clickHouse: ClickHouse | null
  readonly now: () => Date
}

const progressEveryMs = 100

export type Stopwatch = ReturnType<typeof stopwatch>

/** Times steps, and shows DuckDB's progress unless a step reports its own. */
export function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  return {
    seconds,
    time: async <T>(name: string, work: () => Promise<T>, options?: StepOptions): Promise<T> => {
      const began = performance.now()
      progress.step(name)
      const watch = setInterval(() => {
        const fraction = options?.reportsProgress === true ? null : db.progress()
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
