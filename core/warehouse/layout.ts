import path from 'node:path'
import type { Table } from '../catalog/catalog.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** Where things lie in the warehouse. Names come from the catalog alone, never from a request. */
export const layout = {
  table: (warehouse: string, table: TableName): string => path.join(warehouse, table.dataset, table.name),
  /** The pointer to the current snapshot, and its manifest: renaming it into place publishes. */
  pointer: (warehouse: string, table: TableName): string =>
    path.join(layout.table(warehouse, table), 'current.json'),
  snapshot: (warehouse: string, table: TableName, snapshot: string): string =>
    path.join(layout.table(warehouse, table), snapshot),
  part: (number: number): string => `part-${String(number).padStart(5, '0')}.parquet`,
  /** Beside the parts: what the ingest saw and proved. */
  report: 'report.json',
  /** Why the last ingest of a table published nothing; gone when it is well again. */
  failure: (warehouse: string, table: TableName): string => path.join(layout.table(warehouse, table), 'failure.json'),
  /** On the file system of the warehouse, so that a rename publishes. */
  scratch: (warehouse: string): string => path.join(warehouse, '.scratch'),
}
