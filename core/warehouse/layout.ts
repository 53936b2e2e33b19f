import path from 'node:path'
import type { Table } from '../catalog/catalog.ts'

/** UTC time of the import to the second, and the head of a hash of what was published. */
export type SnapshotId = `${string}Z-${string}`

export function isSnapshotId(text: string): text is SnapshotId {
  return /^\d{8}T\d{6}Z-[0-9a-f]{12}$/.test(text)
}

/** The moment that a snapshot's id names. */
export function timeOf(id: SnapshotId): Date {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})/.exec(id) ?? []
  const digits = `${date}${time}`.match(/\d\d/g) ?? []
  const [century, year, month, day, hours, minutes, seconds] = digits
  return new Date(`${century}${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}

/** Rows of a row group of a part, which is what a page must decode; measured (docs/performance.md). */
export const rowGroupRows = 16_384

type TableName = Pick<Table, 'dataset' | 'name'>

/** Where things lie in the warehouse. Names come from the catalog alone, never from a request. */
export const layout = {
  table: (warehouse: string, table: TableName): string => path.join(warehouse, table.dataset, table.name),
  /** The pointer to the current snapshot, and its manifest: renaming it into place publishes. */
  pointer: (warehouse: string, table: TableName): string =>
    path.join(layout.table(warehouse, table), 'current.json'),
  snapshot: (warehouse: string, table: TableName, snapshot: string): string =>
    path.join(layout.table(warehouse, table), snapshot),
  /** The manifest again, beside the parts: the pointer holds that of the current snapshot alone. */
  manifest: 'manifest.json',
  /** Beside the parts of a snapshot that a job found damaged, and when. */
  setAside: 'damaged.txt',
  part: (number: number): string => `part-${String(number).padStart(5, '0')}.parquet`,
  /** Beside the parts, and named so that no pattern for Parquet takes them for parts: see `Lookup`. */
  valueLookup: (field: number): string => `values-${String(field).padStart(5, '0')}.lookup`,
  wordLookup: (part: number): string => `words-${String(part).padStart(5, '0')}.lookup`,
  /** Beside the parts: what the ingest saw and proved. */
  report: 'report.json',
  /** Beside the parts: all rows as one file. */
  download: (table: TableName): string => `${table.name}.csv.gz`,
  /** Which snapshot a rollback took back, so that its source is not published again unasked. */
  withdrawn: (warehouse: string, table: TableName): string =>
    path.join(layout.table(warehouse, table), 'withdrawn.json'),
  /** Held by the one job that may change the table. */
  lock: (warehouse: string, table: TableName): string =>
    path.join(layout.locks(warehouse), `${table.dataset}.${table.name}`),
  /** Views of all that is published, for analysts. */
  views: (warehouse: string): string => path.join(warehouse, 'warehouse.duckdb'),
  /** The SHA-256 of the views, as `sha256sum -c` reads it. */
  viewsSum: (warehouse: string): string => `${layout.views(warehouse)}.sha256`,
  locks: (warehouse: string): string => path.join(warehouse, '.locks'),
  /** Why the last ingest of a table published nothing; gone when it is well again. */
  failure: (warehouse: string, table: TableName): string => path.join(layout.table(warehouse, table), 'failure.json'),
  /** On the file system of the warehouse, so that a rename publishes. */
  scratch: (warehouse: string): string => path.join(warehouse, '.scratch'),
}
