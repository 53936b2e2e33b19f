import type { Catalog, Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import type { Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Progress } from '../base/progress.ts'

export interface IngestOptions {
  readonly catalog: Catalog
  /** A folder, or an http(s) address. */
  readonly sources: string
  readonly store: Store
  /** Memory limit of a run, in bytes. */
  readonly memoryBytes: number
  /** Maximum number of bytes that a source may decompress to. */
  readonly unpackedBytesMax: number
  readonly now: () => Date
  readonly progress: (table: Table) => Progress
  /** Skips tables that are published as declared, without checking their source. */
  readonly onlyUnpublished?: boolean
  readonly acceptsDrift?: boolean
  readonly withoutChanges?: boolean
  readonly partRows?: number
  /** Version of the conversion from source to rows. */
  readonly converter?: number
  /** Maximum number of distinct values of a field that gets codes. */
  readonly codedDistinctMax?: number
  /** Size in bytes of text from which a batch is complete. */
  readonly batchBytes?: number
  /** Removes expired snapshots; without it, all stay. */
  readonly retention?: Retention
  /** Milliseconds before a failed download is retried. */
  readonly retryMs?: number
  /** Timeout of a silent server, in ms. */
  readonly silenceMs?: number
  /** Milliseconds that a source file must be unchanged before its inode, size and times identify its content. */
  readonly settledMs?: number
  /** Milliseconds after which a source file is hashed again even if it seems unchanged. */
  readonly believedMs?: number
  readonly jobs?: number
  /** Engine for filters and orders of tables that the catalog assigns to it. */
  readonly clickHouse?: ClickHouse | null
}
