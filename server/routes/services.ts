import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Freshness } from '../http/freshness.ts'
import type { ConcurrencyLimit } from '../base/concurrency/limit.ts'
import type { SendBudget } from '../http/send-budget.ts'
import type { FinishedExports } from '../table/representations/finished-exports.ts'
import type { RowEngine } from '../table/representations/page.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'

/** What a route is given to answer with. */
export interface CatalogService {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly areLimited: boolean
  readonly freshness: Freshness
}

export interface DetailService extends CatalogService {
  readonly snapshots: Snapshots
}

export interface RowService extends DetailService {
  readonly engine: RowEngine
  readonly pageBytesMax: number
  readonly exports: ConcurrencyLimit
  /** Of files. */
  readonly transfers: ConcurrencyLimit
  readonly sendBudget: SendBudget
  readonly finished: FinishedExports
}
