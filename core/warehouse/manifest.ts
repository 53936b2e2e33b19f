import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import { isSnapshotId, type SnapshotId } from './layout.ts'
import { orderTerm, quotedName } from '../sql.ts'

/**
 * Raised when what a manifest says comes to mean something else: a server refuses formats that it does not know. Keys that
 * are only added leave it as it is, since whoever does not know them leaves them alone.
 */
export const manifestFormat = 2

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const sha512 = z.string().regex(/^[0-9a-f]{128}$/)
const fileName = z.string().regex(/^[\w.-]+$/)
const positions = z.int().min(0)

const fileShape = z.object({ file: fileName, bytes: positions, sha256, sha512 })

/** A file that the server reads chunk by chunk: `format/codes.ts`, `format/row-store.ts`, `format/positions.ts`. */
const piecewiseShape = fileShape.extend({
  /** 2: see `format/chunk-file.ts`. Files of another format are not read. */
  container: z.literal(2),
  /** Last four bytes of the file: CRC-32 of the sections before them. */
  directory_sum: positions,
})

const partShape = fileShape.extend({
  /** Position of its first row in the table, from 0. */
  firstRow: positions,
  rows: z.int().min(1),
})

/** A Parquet file that a search reads: per row of a part, its searched texts without case and accents. */
const indexShape = fileShape.extend({
  kind: z.literal('words'),
  fields: z.array(z.string()),
  part: positions,
})

/**
 * All different values of the fields that have few. Parquet: `field`, its place among those below; `value`, as it is
 * rendered; `rows` that have it; by field, then by value.
 */
const dictionaryShape = fileShape.extend({
  /** With how many different values each has, without null. */
  fields: z.array(z.object({ name: z.string(), values: positions })),
})

/** Codes of some of these fields: see `format/codes.ts`. */
const codesShape = piecewiseShape.extend({ fields: z.array(z.string()) })

/** The rows in another order than the declared one, for the server alone. */
const orderShape = z.object({
  keys: z.array(z.object({ field: z.string(), direction: z.enum(['asc', 'desc']) })),
  /** Where each row is in the table: see `format/positions.ts`. */
  positions: piecewiseShape,
  /** Codes in this order. */
  codes: codesShape.optional(),
})

const sourceShape = z.object({
  name: z.string(),
  bytes: positions,
  sha256,
  /** Of a source from the web, to ask whether it changed. */
  address: z.string().optional(),
  etag: z.string().optional(),
  last_modified: z.string().optional(),
})

/** Rows of one value of the field that tells partitions apart, which came from files of their own. */
const partitionShape = z.object({
  /** As it is rendered. */
  value: z.string().nullable(),
  /** The parts of a partition hold no other rows. */
  rows: z.int().min(1),
  /** Of the sources, by their place among them. */
  sources: z.array(positions),
  /** What was read of these. */
  records: positions,
  rejectedRows: positions,
  textBytes: positions,
  blankLines: positions,
  commentLines: positions,
  /** Fields whose columns none of them has. */
  lacks: z.array(z.string()),
})

const snapshotId = z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id))

const manifestShape = z.object({
  format: z.literal(manifestFormat),
  dataset: z.string(),
  table: z.string(),
  snapshot: snapshotId,
  /** The snapshot that was published before; null for the first. */
  previous: snapshotId.nullable(),
  rows: positions,
  /** Of all values as the source writes them, in UTF-8. */
  textBytes: positions,
  parts: z.array(partShape),
  /** What else lies beside the parts: the full download, the report. */
  files: z.array(fileShape),
  /** Whether a ClickHouse has what chooses its rows: see `core/clickhouse/tables.ts`. */
  clickhouse: z.literal(true).optional(),
  /** In the order of the rows, for the next ingest; of tables that declare partitions. */
  partitions: z.array(partitionShape).optional(),
  /** Of the columns of all sources that have partitions, where they are the same: SHA-256 of their names as JSON. */
  header: sha256.optional(),
  /** For the server alone; snapshots of one part need none. Those of former versions are ignored. */
  indexes: z.array(indexShape).optional().catch(undefined),
  /** For the server alone; not there in older manifests, and where no field has few different values. */
  dictionary: dictionaryShape.optional(),
  /** Files of another container are ignored: DuckDB answers without them until the next ingest. */
  codes: codesShape.optional().catch(undefined),
  /** All rows, for reading few at a time, unless the catalog leaves it out. */
  row_store: piecewiseShape.optional().catch(undefined),
  orders: z.array(orderShape).optional().catch(undefined),
  /** In the order of declaration. */
  fields: z.array(z.object({ name: z.string(), type: z.string(), stored: z.string() })),
  /** As SQL; rows that tie keep the order of the source. */
  order: z.array(z.string()),
  /** UTC. */
  import_date: z.iso.datetime(),
  collected_at: z.iso.date(),
  /** UTC: when the source last was another than before; not there where it never was, and in older manifests. */
  changed_at: z.iso.datetime().optional(),
  /** What was published before, as far as whoever follows the changes asks; not there for a first import. */
  before: z
    .object({ rows: positions, fields: z.array(z.object({ name: z.string(), type: z.string() })) })
    .optional(),
  /** The files of the source, in the order in which their rows follow each other. */
  sources: z.array(sourceShape),
  /** Hash of all that shapes the rows besides the source: fields, order, dialect, format of the parts. */
  definition: sha256,
  tools: z.record(z.string(), z.string()),
})

/** The label of a snapshot: the pointer file `current.json` holds it. */
export type Manifest = z.infer<typeof manifestShape>
export type Part = z.infer<typeof partShape>
export type Partition = z.infer<typeof partitionShape>
export type Index = z.infer<typeof indexShape>
export type CodesFile = z.infer<typeof codesShape>
export type Order = z.infer<typeof orderShape>
export type StoredFile = z.infer<typeof fileShape>
export type PiecewiseFile = z.infer<typeof piecewiseShape>
export type Source = z.infer<typeof sourceShape>

/** A manifest that cannot be what was written, or is of another version. */
export class DamagedManifest extends Error {
  constructor(key: string, cause: unknown) {
    super(`${key} is damaged or of an unknown format; run \`make ingest\` to publish the table anew`, {
      cause,
    })
    this.name = 'DamagedManifest'
  }
}

/**
 * @param key of the file, for the message
 * @throws DamagedManifest
 */
export function parseManifest(text: string, key: string): Manifest {
  try {
    const { manifest_sha256: _own, ...rest } = JSON.parse(text) as Record<string, unknown>
    // To the byte, so that no flipped bit can pass for another date or count; of keys that nobody here knows, too.
    if (sealed(rest) !== text) throw new Error('it is not as it was written')
    const manifest = manifestShape.parse(rest)
    const gap = manifest.parts.findIndex((part, index) => part.firstRow !== rowsBefore(manifest.parts, index))
    if (gap !== -1 || rowsBefore(manifest.parts, manifest.parts.length) !== manifest.rows) {
      throw new Error('its parts do not add up to its rows')
    }
    return manifest
  } catch (cause) {
    throw new DamagedManifest(key, cause)
  }
}

/** A manifest as its file holds it. */
export function manifestText(manifest: Manifest): string {
  return sealed(manifestShape.parse(manifest))
}

/** As text, with the hash of all the rest as its last key. */
function sealed(manifest: Readonly<Record<string, unknown>>): string {
  const own = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  return `${JSON.stringify({ ...manifest, manifest_sha256: own }, null, 2)}\n`
}

/** The fields of a table as its Parquet holds them. */
export function storedFields(table: Table): Manifest['fields'] {
  return table.fields.map((field) => ({
    name: field.name,
    type: field.type,
    stored: typeRow(field.type).stored(field),
  }))
}

/** The declared order as SQL. */
export function orderTerms(table: Table, column: (field: string) => string = quotedName): string[] {
  return table.order.map((key) => orderTerm(key, column))
}

/** Whether a snapshot holds the fields that the catalog declares now. */
export function holdsFields(manifest: Manifest, table: Table): boolean {
  return JSON.stringify(manifest.fields) === JSON.stringify(storedFields(table))
}

/** All files of a snapshot but its manifest. */
export function filesOf({ parts, files, indexes = [], ...beside }: Manifest): StoredFile[] {
  const { dictionary, codes, row_store: rowStore, orders = [] } = beside
  const ordered = orders.flatMap((order) => [order.positions, order.codes])
  const apart = [dictionary, codes, rowStore, ...ordered].flatMap((file) => file ?? [])
  return [...parts, ...files, ...indexes, ...apart]
}

function rowsBefore(parts: readonly Part[], index: number): number {
  return parts.slice(0, index).reduce((rows, part) => rows + part.rows, 0)
}
