import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import { chunkRows } from './format/row-store.ts'
import { isSnapshotId, type SnapshotId } from './layout.ts'
import { orderTerm, quotedName } from '../sql.ts'

/** Raise this when a key changes its meaning: servers refuse unknown formats. New keys need no new format. */
export const manifestFormat = 2

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const sha512 = z.string().regex(/^[0-9a-f]{128}$/)
const fileName = z.string().regex(/^[\w.-]+$/)
const positions = z.int().min(0)

const fileShape = z.object({ file: fileName, bytes: positions, sha256, sha512 })

const piecewiseShape = fileShape.extend({
  /** Version of the layout in `format/chunk-file.ts`; files of other versions are ignored. */
  container: z.literal(2),
  /** Last four bytes of the file: CRC-32 of the sections before them. */
  directory_sum: positions,
})

const rowStoreShape = piecewiseShape.extend({
  /** Number of rows in a chunk; files with another number are ignored. */
  chunk_rows: z.literal(chunkRows),
})

const partShape = fileShape.extend({
  /** Position of its first row in the table, from 0. */
  firstRow: positions,
  rows: z.int().min(1),
})

const indexShape = fileShape.extend({
  kind: z.literal('words'),
  fields: z.array(z.string()),
  part: positions,
})

/**
 * Distinct values of fields that have few. Parquet columns: `field`, an index into `fields`; `value`, as
 * text; `rows`, the number of rows. Sorted by field, then value.
 */
const dictionaryShape = fileShape.extend({
  fields: z.array(z.object({ name: z.string(), values: positions })),
})

const codesShape = piecewiseShape.extend({ fields: z.array(z.string()) })

const orderShape = z.object({
  keys: z.array(z.object({ field: z.string(), direction: z.enum(['asc', 'desc']) })),
  positions: piecewiseShape,
  codes: codesShape.optional(),
})

const sourceShape = z.object({
  name: z.string(),
  bytes: positions,
  sha256,
  address: z.string().optional(),
  etag: z.string().optional(),
  last_modified: z.string().optional(),
})

const partitionShape = z.object({
  value: z.string().nullable(),
  rows: z.int().min(1),
  sources: z.array(positions),
  /** Records, not counting `rejectedRows`. */
  records: positions,
  rejectedRows: positions,
  textBytes: positions,
  blankLines: positions,
  commentLines: positions,
  /** Fields for which no source of the partition has a column. */
  lacks: z.array(z.string()),
})

const snapshotId = z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id))

const changesShape = z.object({
  since: snapshotId,
  file: fileName,
  added: positions,
  removed: positions,
  changed: positions,
  /** Compared fields: those of both snapshots, in declared order. */
  fields: z.array(z.string()),
  /** Null if rows are compared as a whole: they are only added or removed. */
  key: z.array(z.string()).nullable(),
  /** Number of changed rows by field, for the fields that changed. */
  changed_fields: z.array(z.object({ name: z.string(), rows: positions })),
})

const manifestShape = z.object({
  format: z.literal(manifestFormat),
  dataset: z.string(),
  table: z.string(),
  snapshot: snapshotId,
  /** Previously published snapshot; null for the first. */
  previous: snapshotId.nullable(),
  rows: positions,
  /** Bytes in UTF-8, as the source writes them. */
  textBytes: positions,
  parts: z.array(partShape),
  files: z.array(fileShape),
  /** ClickHouse answers filters and orders: see `core/clickhouse/tables.ts`. */
  clickhouse: z.literal(true).optional(),
  /** Partitions in the order of their rows, so that the next ingest can reuse unchanged ones. */
  partitions: z.array(partitionShape).optional(),
  /** SHA-256 of the column names, if all sources share them: after a change, no partition is reused. */
  header: sha256.optional(),
  /** Tables of one part need no indexes. Indexes of former versions are ignored. */
  indexes: z.array(indexShape).optional().catch(undefined),
  /** Absent in older manifests, and if no field has few values. */
  dictionary: dictionaryShape.optional(),
  /** Undefined if another version wrote them in another form: DuckDB answers without them. */
  codes: codesShape.optional().catch(undefined),
  /** A file for each part, unless the catalog disables row stores. */
  row_stores: z.array(rowStoreShape).optional().catch(undefined),
  /** Rows in the form of earlier versions, which servers ignore. */
  row_store: fileShape.optional().catch(undefined),
  orders: z.array(orderShape).optional().catch(undefined),
  /** Changes since the previous snapshot, then since earlier ones; absent if unknown. */
  changes: z.array(changesShape).optional(),
  fields: z.array(z.object({ name: z.string(), type: z.string(), stored: z.string() })),
  units: z.record(z.string(), z.string()).optional(),
  masks: z.record(z.string(), z.string()).optional(),
  /** Sort keys as SQL; ties keep the order of the source. */
  order: z.array(z.string()),
  import_date: z.iso.datetime(),
  collected_at: z.iso.date(),
  /** UTC time of the last change of the source; absent in the first snapshot and older manifests. */
  changed_at: z.iso.datetime().optional(),
  /** Properties of the previous snapshot, for reports of changes. */
  before: z
    .object({
      rows: positions,
      fields: z.array(z.object({ name: z.string(), type: z.string(), stored: z.string().optional() })),
      units: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  sources: z.array(sourceShape),
  /** Hash of what determines the rows besides the source: fields, order, dialect and format of the parts. */
  definition: sha256,
  tools: z.record(z.string(), z.string()),
})

export type Manifest = z.infer<typeof manifestShape>
export type Part = z.infer<typeof partShape>
export type Partition = z.infer<typeof partitionShape>
export type Index = z.infer<typeof indexShape>
export type RowStoreFile = z.infer<typeof rowStoreShape>
export type CodesFile = z.infer<typeof codesShape>
export type Changes = z.infer<typeof changesShape>
export type Order = z.infer<typeof orderShape>
export type StoredFile = z.infer<typeof fileShape>
export type PiecewiseFile = z.infer<typeof piecewiseShape>
export type Source = z.infer<typeof sourceShape>

export class DamagedManifest extends Error {
  readonly fault: string

  constructor(
    key: string,
    cause: unknown,
    fault = 'is damaged or has an unknown format; run `acervo ingest` to publish the table again',
  ) {
    super(`${key} ${fault}`, { cause })
    this.name = 'DamagedManifest'
    this.fault = fault
  }
}

/** An ingest must not replace a manifest of a newer version. */
export class NewerManifest extends DamagedManifest {
  constructor(key: string, format: number) {
    super(
      key,
      undefined,
      `has the format ${format} of a newer Acervo, and this version knows formats up to ${manifestFormat}: upgrade Acervo, or run \`acervo rollback\` of the newer version`,
    )
    this.name = 'NewerManifest'
  }
}

/**
 * @param key of the file, for the message
 * @throws DamagedManifest; NewerManifest if it is intact and of a newer version
 */
export function parseManifest(text: string, key: string): Manifest {
  try {
    const { manifest_sha256: _own, ...unsealed } = JSON.parse(text) as Record<string, unknown>
    // Compares the exact text, with keys unknown to this version, so that no flipped bit passes.
    if (sealed(unsealed) !== text) throw new Error('its content differs from its checksum')
    const { format } = unsealed
    if (typeof format === 'number' && format > manifestFormat) throw new NewerManifest(key, format)
    const manifest = manifestShape.parse(unsealed)
    const gap = manifest.parts.findIndex((part, index) => part.firstRow !== rowsBefore(manifest.parts, index))
    if (gap !== -1 || rowsBefore(manifest.parts, manifest.parts.length) !== manifest.rows) {
      throw new Error('the row counts of its parts do not add up to its total')
    }
    return manifest
  } catch (cause) {
    throw cause instanceof NewerManifest ? cause : new DamagedManifest(key, cause)
  }
}

export function manifestText(manifest: Manifest): string {
  return sealed(manifestShape.parse(manifest))
}

/** The last key of the JSON is the SHA-256 of all others. */
function sealed(manifest: Readonly<Record<string, unknown>>): string {
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  return `${JSON.stringify({ ...manifest, manifest_sha256: digest }, null, 2)}\n`
}

export function storedFields(table: Table): Manifest['fields'] {
  return table.fields.map((field) => ({
    name: field.name,
    type: field.type,
    stored: typeRow(field.type).stored(field),
  }))
}

export function unitsOf({ fields }: Table): NonNullable<Manifest['units']> {
  return Object.fromEntries(
    fields.flatMap(({ name, unit }) => (unit === null ? [] : [[name, unit] as const])),
  )
}

export function masksOf({ fields }: Table): NonNullable<Manifest['masks']> {
  return Object.fromEntries(
    fields.flatMap(({ name, mask }) => (mask === null ? [] : [[name, mask] as const])),
  )
}

/** Fields whose declared mask the snapshot lacks, or does not record: older versions did not. */
export function unmaskedFields(manifest: Manifest, table: Table): string[] {
  return Object.entries(masksOf(table)).flatMap(([name, mask]) =>
    manifest.masks?.[name] === mask ? [] : [name],
  )
}

export function orderTerms(table: Table, column: (field: string) => string = quotedName): string[] {
  return table.order.map((key) => orderTerm(key, column))
}

export function holdsFields(manifest: Manifest, table: Table): boolean {
  return JSON.stringify(manifest.fields) === JSON.stringify(storedFields(table))
}

export function filesOf({ parts, files, indexes = [], ...rest }: Manifest): StoredFile[] {
  const { dictionary, codes, row_stores: rowStores = [], row_store: rowStore, orders = [] } = rest
  const orderFiles = orders.flatMap((order) => [order.positions, order.codes])
  const otherFiles = [dictionary, codes, ...rowStores, rowStore, ...orderFiles].flatMap((file) => file ?? [])
  return [...parts, ...files, ...indexes, ...otherFiles]
}

function rowsBefore(parts: readonly Part[], index: number): number {
  return parts.slice(0, index).reduce((rows, part) => rows + part.rows, 0)
}
