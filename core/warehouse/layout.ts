import type { Table } from '../catalog/catalog.ts'

/** UTC time of the import, and the start of a hash of the published content. */
export type SnapshotId = `${string}Z-${string}`

export function isSnapshotId(text: string): text is SnapshotId {
  return /^\d{8}T\d{6}Z-[0-9a-f]{12}$/.test(text)
}

export function timeOf(id: SnapshotId): Date {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})/.exec(id) ?? []
  const [century, year, month, day, hours, minutes, seconds] = `${date}${time}`.match(/\d\d/g) ?? []
  return new Date(`${century}${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}

/** A page decodes whole groups: see docs/explanation/performance.md. */
export const rowGroupRows = 16_384

export type TableName = Pick<Table, 'dataset' | 'name'>

/** Keys of files in a warehouse (see `Store`). Names come from the catalog alone, never from a request. */
export const layout = {
  table: ({ dataset, name }: TableName): string => `${dataset}/${name}`,
  /** Manifest of the current snapshot; writing it publishes the snapshot. */
  pointer: (table: TableName): string => `${layout.table(table)}/current.json`,
  snapshot: (table: TableName, snapshot: SnapshotId): string => `${layout.table(table)}/${snapshot}`,
  /** The manifest beside the parts, since the pointer has only the current one. */
  manifest: (table: TableName, snapshot: SnapshotId): string =>
    `${layout.snapshot(table, snapshot)}/${fileNames.manifest}`,
  /** Quarantines a snapshot: contains the time at which a job found it damaged. */
  quarantine: (table: TableName, snapshot: SnapshotId): string =>
    `${layout.snapshot(table, snapshot)}/damaged.txt`,
  /** Versions of the files of each snapshot at the last verification. */
  verified: (table: TableName): string => `${layout.table(table)}/verified.json`,
  /** Snapshots that were rolled back, and are not published again automatically. */
  withdrawn: (table: TableName): string => `${layout.table(table)}/withdrawn.json`,
  /** Reason why the last ingest of a table failed; removed after a success. */
  failure: (table: TableName): string => `${layout.table(table)}/failure.json`,
  /** Last check of a source that gave no new snapshot. */
  lastCheck: (table: TableName): string => `${layout.table(table)}/last-check.json`,
  /** SHA-256 of source files, with the version that each file had when it was hashed. */
  hashed: (table: TableName): string => `${layout.table(table)}/hashed.json`,
  /** Parsed YAML of the catalog, for the next start: see `ParsedCatalog`. */
  parsedCatalog: '.catalog',
  /** Views of all published tables, for analysts. */
  views: 'warehouse.duckdb',
  /** Checksum of a file that belongs to no snapshot, for `sha256sum -c`. */
  checksumOf: (file: string): string => `${file}.sha256`,
}

export const fileNames = {
  manifest: 'manifest.json',
  part: (number: number): string => `part-${digits(number)}.parquet`,
  /** The extension keeps it out of patterns such as `*.parquet`. */
  wordIndex: (part: number): string => `words-${digits(part)}.index`,
  dictionary: 'dictionary.index',
  /** See `format/codes.ts`. */
  codes: 'codes.bin',
  rowStore: (part: number): string => `rows-${digits(part)}.bin`,
  orderPositions: (order: number): string => `order-${digits(order)}.bin`,
  orderCodes: (order: number): string => `order-${digits(order)}-codes.bin`,
  report: 'report.json',
  /** Rows that differ from the previous snapshot (null), or from an earlier one: see `changes.ts`. */
  changes: (since: SnapshotId | null): string =>
    since === null ? 'changes.parquet' : `changes-since-${since}.parquet`,
  download: (table: TableName): string => `${table.name}.csv.gz`,
}

function digits(number: number): string {
  return String(number).padStart(5, '0')
}
