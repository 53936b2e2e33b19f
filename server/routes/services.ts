import type { RequestHandler } from 'express'
import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Connections } from '../rows/connections.ts'
import type { Snapshots } from '../rows/snapshots.ts'

/** What a route is given to answer with. */
export interface CatalogService {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly limits: readonly RequestHandler[]
}

export interface DetailService extends CatalogService {
  readonly snapshots: Snapshots
}

export interface RowService extends DetailService {
  readonly connections: Connections
}
