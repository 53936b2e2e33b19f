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
import type { Dictionaries } from '../table/indexes/dictionaries.ts'
import type { FinishedExports } from '../table/representations/finished-exports.ts'
import type { RowEngine } from '../table/representations/page.ts'

export interface Runtime {
  readonly catalog: Catalog
  readonly publicUrl: URL
  /** Address of the warehouse at its object store, for example; empty if there is none. */
  readonly filesUrl: string
  readonly websubHub: string
  readonly client: ClientOf
  readonly limiter: Limiter | null
  readonly freshness: Freshness
  readonly snapshots: Snapshots
  readonly readiness: Readiness
  readonly engine: RowEngine
  readonly dictionaries: Dictionaries
  readonly responder: Responder
  readonly pageBytesMax: number
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
  readonly sendBudget: SendBudget
  readonly finished: FinishedExports
  readonly views: PublicViews
  readonly scratch: string
  readonly log: Log
  readonly meter: Meter | null
  /** Null if the latest catalog is served. */
  readonly catalogFault: () => string | null
}
