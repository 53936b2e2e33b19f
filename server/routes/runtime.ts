import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import type { ConcurrencyLimit } from '../base/queue.ts'
import type { ClientOf } from '../http/client.ts'
import type { Freshness } from '../http/headers.ts'
import type { Responder } from '../http/responder.ts'
import type { SendBudget } from '../http/send.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { PublicViews } from '../snapshots/public-views.ts'
import type { Readiness } from '../snapshots/readiness.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import type { FinishedExports } from '../table/representations/finished-exports.ts'
import type { RowEngine } from '../table/representations/page.ts'

/** Everything that requests are answered with, while one catalog is served. */
export interface Runtime {
  readonly catalog: Catalog
  readonly publicUrl: URL
  /** Where readers find the warehouse itself, such as a public address of its object store; empty where they do not. */
  readonly filesUrl: string
  readonly client: ClientOf
  /** Null where nothing is limited. */
  readonly limiter: Limiter | null
  readonly freshness: Freshness
  readonly snapshots: Snapshots
  readonly readiness: Readiness
  readonly engine: RowEngine
  readonly responder: Responder
  /** In bytes. */
  readonly pageBytesMax: number
  /** Of exports that run, and of files that are sent, at the same time. */
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
  readonly sendBudget: SendBudget
  readonly finished: FinishedExports
  readonly views: PublicViews
  /** A folder for files that are made while it runs. */
  readonly scratch: string
  readonly log: Log
  /** Null where there are no metrics. */
  readonly meter: Meter | null
  /** Why the catalog that was written last is not the one that is served; null where it is. */
  readonly catalogFault: () => string | null
}
