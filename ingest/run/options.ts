import type { Catalog, Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Progress } from '../base/progress.ts'

export interface IngestOptions {
  readonly catalog: Catalog
  readonly sources: string
  readonly store: Store
  readonly memoryBytes: number
  readonly unpackedBytesMax: number
  readonly now: () => Date
  readonly progress: (table: Table) => Progress
  readonly onlyUnpublished?: boolean
  readonly acceptsDrift?: boolean
  readonly withoutChanges?: boolean
  readonly partRows?: number
  readonly converter?: number
  readonly codedDistinctMax?: number
  readonly batchBytes?: number
  readonly retention?: Retention
  readonly retryMs?: number
  readonly silenceMs?: number
  /** Time that a file must be unchanged before inode, size and times identify its content, in ms. */
  readonly settledMs?: number
  /** Time after which a file is hashed again even if it seems unchanged, in ms. */
  readonly believedMs?: number
  readonly jobs?: number
  /** Filters and orders tables that the catalog assigns to it. */
  readonly clickHouse?: ClickHouse | null
}
