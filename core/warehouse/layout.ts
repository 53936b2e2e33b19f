import type { Table } from '../catalog/catalog.ts'

/** UTC time of the import to the second, and the head of a hash of what was published. */
export type SnapshotId = `${string}Z-${string}`

export function isSnapshotId(text: string): text is SnapshotId {
  return /^\d{8}T\d{6}Z-[0-9a-f]{12}$/.test(text)
}

/** The moment that a snapshot's id names. */
export function timeOf(id: SnapshotId): Date {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})/.exec(id) ?? []
  const [century, year, month, day, hours, minutes, seconds] = `${date}${time}`.match(/\d\d/g) ?? []
  return new Date(`${century}${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}

/** Rows of a row group of a part, which is what a page must decode; measured (docs/performance.md). */
export const rowGroupRows = 16_384

export type TableName = Pick<Table, 'dataset' | 'name'>

/** The keys of what lies in a warehouse (see `Store`). Names come from the catalog alone, never from a request. */
export const layout = {
  table: ({ dataset, name }: TableName): string => `${dataset}/${name}`,
  /** The pointer to the current snapshot, and its manifest: putting it there publishes. */
  pointer: (table: TableName): string => `${layout.table(table)}/current.json`,
  snapshot: (table: TableName, snapshot: SnapshotId): string => `${layout.table(table)}/${snapshot}`,
  /** The manifest again, beside the parts: the pointer holds that of the current snapshot alone. */
  manifest: (table: TableName, snapshot: SnapshotId): string =>
    `${layout.snapshot(table, snapshot)}/${fileNames.manifest}`,
  /** Beside the parts of a snapshot that a job found damaged, and when. */
  setAside: (table: TableName, snapshot: SnapshotId): string =>
    `${layout.snapshot(table, snapshot)}/damaged.txt`,
  /** What the files of each snapshot were like when a job last found them whole. */
  verified: (table: TableName): string => `${layout.table(table)}/verified.json`,
  /** Which snapshots a rollback took back, so that their sources are not published again unasked. */
  withdrawn: (table: TableName): string => `${layout.table(table)}/withdrawn.json`,
  /** Why the last ingest of a table published nothing; gone when it is well again. */
  failure: (table: TableName): string => `${layout.table(table)}/failure.json`,
  /** When the source of a table was last looked at and gave no new snapshot. */
  looked: (table: TableName): string => `${layout.table(table)}/looked.json`,
  /** What the files of its source were like when they were hashed. */
  hashed: (table: TableName): string => `${layout.table(table)}/hashed.json`,
  /** What the YAML of the catalog says, for the next start: see `ParsedCatalog`. */
  parsedCatalog: '.catalog',
  /** Views of all that is published, for analysts. */
  views: 'warehouse.duckdb',
  /** The SHA-256 of the views, as `sha256sum -c` reads it. */
  sumOf: (file: string): string => `${file}.sha256`,
}

/** What the files of a snapshot are called. */
export const fileNames = {
  manifest: 'manifest.json',
  part: (number: number): string => `part-${digits(number)}.parquet`,
  /** Named so that no pattern for Parquet takes them for parts: see `Index`. */
  wordIndex: (part: number): string => `words-${digits(part)}.index`,
  /** All different values of the fields that have few, in their order: Parquet. */
  dictionary: 'dictionary.index',
  /** Which of them each row has: see `format/codes.ts`. */
  codes: 'codes.bin',
  /** All rows, for reading few at a time: see `format/row-store.ts`. */
  rowStore: 'rows.bin',
  /** The positions of the rows in another order, and their codes. */
  orderPositions: (order: number): string => `order-${digits(order)}.bin`,
  orderCodes: (order: number): string => `order-${digits(order)}-codes.bin`,
  /** What the ingest saw and proved. */
  report: 'report.json',
  /** All rows as one file. */
  download: (table: TableName): string => `${table.name}.csv.gz`,
}

function digits(number: number): string {
  return String(number).padStart(5, '0')
}
