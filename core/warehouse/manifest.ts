import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import { codeOf } from '../errors.ts'
import { hashOf } from './hash.ts'
import { isSnapshotId, type SnapshotId } from './layout.ts'
import { quotedName } from './sql.ts'

/** Raised when the manifest changes its meaning; a server refuses formats that it does not know. */
export const manifestFormat = 1

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const fileName = z.string().regex(/^[\w.-]+$/)
const positions = z.int().min(0)

const partShape = z.strictObject({
  file: fileName,
  /** Position of its first row in the table, from 0. */
  firstRow: positions,
  rows: z.int().min(1),
  bytes: z.int().min(1),
  sha256,
})

const manifestShape = z.strictObject({
  format: z.literal(manifestFormat),
  dataset: z.string(),
  table: z.string(),
  snapshot: z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id)),
  rows: positions,
  /** Of all values as the source writes them, in UTF-8; snapshots of the first days do not say. */
  textBytes: positions.optional(),
  parts: z.array(partShape),
  /** In the order of declaration. */
  fields: z.array(z.strictObject({ name: z.string(), type: z.string(), stored: z.string() })),
  /** As SQL; rows that tie keep the order of the source. */
  order: z.array(z.string()),
  /** UTC. */
  import_date: z.iso.datetime(),
  collected_at: z.iso.date(),
  source: z.strictObject({ name: z.string(), bytes: positions, sha256 }),
  /** Hash of all that shapes the rows besides the source: fields, order, dialect, format of the parts. */
  definition: sha256,
  tools: z.record(z.string(), z.string()),
})

/** The label of a snapshot: the pointer file `current.json` holds it. */
export type Manifest = z.infer<typeof manifestShape>
export type Part = z.infer<typeof partShape>

/**
 * The manifest at a path, or null where there is none.
 *
 * @throws Error naming the file where it is damaged or of an unknown format
 */
export async function readManifest(file: string): Promise<Manifest | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  try {
    const manifest = manifestShape.parse(JSON.parse(text))
    const gap = manifest.parts.findIndex((part, index) => part.firstRow !== rowsBefore(manifest.parts, index))
    if (gap !== -1 || rowsBefore(manifest.parts, manifest.parts.length) !== manifest.rows) {
      throw new Error('its parts do not add up to its rows')
    }
    return manifest
  } catch (cause) {
    throw new Error(`${file} is damaged or of an unknown format; run \`make ingest\` to publish the table anew`, { cause })
  }
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifestShape.parse(manifest), null, 2)}\n`
}

/** The fields of a table as its Parquet holds them. */
export function storedFields(table: Table): Manifest['fields'] {
  return table.fields.map((field) => ({
    name: field.name,
    type: field.type,
    stored: typeRow(field.type).stored(field),
  }))
}

/** The declared order as SQL; nulls are placed explicitly, since DuckDB's default could change under us. */
export function orderTerms(table: Table, column: (field: string) => string = quotedName): string[] {
  return table.order.map(({ field, direction }) => `${column(field)} ${direction} nulls last`)
}

/** Whether a snapshot holds the fields that the catalog declares now. */
export function holdsFields(manifest: Manifest, table: Table): boolean {
  return JSON.stringify(manifest.fields) === JSON.stringify(storedFields(table))
}

/** A part whose bytes are not those that were written; waiting does not mend it. */
export class DamagedPart extends Error {
  constructor(file: string) {
    super(`${file} is not as it was written: its bytes have another hash than in the manifest`)
    this.name = 'DamagedPart'
  }
}

/**
 * Reads every part once: a flipped bit in Parquet often decodes to another value without an error.
 *
 * @throws Error where a part is missing or of another size; DamagedPart where its hash differs
 */
export async function requireParts(folder: string, { parts }: Manifest): Promise<void> {
  for (const { file, bytes } of parts) {
    const { size } = await stat(path.join(folder, file))
    if (size !== bytes) throw new Error(`${file} has ${size} bytes, and ${bytes} in its manifest`)
  }
  for (const { file, sha256: written } of parts) {
    if ((await hashOf(path.join(folder, file))) !== written) throw new DamagedPart(file)
  }
}

function rowsBefore(parts: readonly Part[], index: number): number {
  return parts.slice(0, index).reduce((rows, part) => rows + part.rows, 0)
}
