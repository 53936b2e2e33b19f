import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import { codeOf } from '../errors.ts'
import { hashOf } from './hash.ts'
import { isSnapshotId, type SnapshotId } from './layout.ts'
import { orderTerm, quotedName } from '../sql.ts'

/** Raised when the manifest changes its meaning; a server refuses formats that it does not know. */
export const manifestFormat = 2

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const sha512 = z.string().regex(/^[0-9a-f]{128}$/)
const fileName = z.string().regex(/^[\w.-]+$/)
const positions = z.int().min(0)

const fileShape = z.strictObject({ file: fileName, bytes: positions, sha256, sha512 })

const partShape = fileShape.extend({
  /** Position of its first row in the table, from 0. */
  firstRow: positions,
  rows: z.int().min(1),
})

/** A file in which something is looked up instead of in the parts: Parquet, for the server alone. */
const lookupShape = z.discriminatedUnion('kind', [
  /** Every value of a field with its position, by value. */
  fileShape.extend({ kind: z.literal('values'), field: z.string() }),
  /** What a search looks through, folded, one text a row of a part. */
  fileShape.extend({ kind: z.literal('words'), fields: z.array(z.string()), part: positions }),
])

const sourceShape = z.strictObject({
  name: z.string(),
  bytes: positions,
  sha256,
  /** Of a source from the web, to ask whether it changed. */
  address: z.string().optional(),
  etag: z.string().optional(),
  last_modified: z.string().optional(),
})

const snapshotId = z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id))

const manifestShape = z.strictObject({
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
  /** For the server alone; snapshots of one part need none. */
  lookups: z.array(lookupShape).optional(),
  /** In the order of declaration. */
  fields: z.array(z.strictObject({ name: z.string(), type: z.string(), stored: z.string() })),
  /** As SQL; rows that tie keep the order of the source. */
  order: z.array(z.string()),
  /** UTC. */
  import_date: z.iso.datetime(),
  collected_at: z.iso.date(),
  /** The files of the source, in the order in which their rows follow each other. */
  sources: z.array(sourceShape),
  /** Hash of all that shapes the rows besides the source: fields, order, dialect, format of the parts. */
  definition: sha256,
  tools: z.record(z.string(), z.string()),
})

/** The label of a snapshot: the pointer file `current.json` holds it. */
export type Manifest = z.infer<typeof manifestShape>
export type Part = z.infer<typeof partShape>
export type Lookup = z.infer<typeof lookupShape>
export type StoredFile = z.infer<typeof fileShape>
export type Source = z.infer<typeof sourceShape>

/** A manifest that cannot be what was written, or is of another version. */
export class DamagedManifest extends Error {
  constructor(file: string, cause: unknown) {
    super(`${file} is damaged or of an unknown format; run \`make ingest\` to publish the table anew`, { cause })
    this.name = 'DamagedManifest'
  }
}

/**
 * The manifest at a path, or null where there is none.
 *
 * @throws DamagedManifest naming the file
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
    const { manifest_sha256: _own, ...rest } = JSON.parse(text) as Record<string, unknown>
    const manifest = manifestShape.parse(rest)
    // To the byte, so that no flipped bit can pass for another date or count.
    if (manifestText(manifest) !== text) throw new Error('it is not as it was written')
    const gap = manifest.parts.findIndex((part, index) => part.firstRow !== rowsBefore(manifest.parts, index))
    if (gap !== -1 || rowsBefore(manifest.parts, manifest.parts.length) !== manifest.rows) {
      throw new Error('its parts do not add up to its rows')
    }
    return manifest
  } catch (cause) {
    throw new DamagedManifest(file, cause)
  }
}

/** A manifest as its file holds it, with the hash of all the rest as its last key. */
export function manifestText(manifest: Manifest): string {
  const rest = manifestShape.parse(manifest)
  const own = createHash('sha256').update(JSON.stringify(rest)).digest('hex')
  return `${JSON.stringify({ ...rest, manifest_sha256: own }, null, 2)}\n`
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

/** A file whose bytes are not those that were written; waiting does not mend it. */
export class DamagedFile extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DamagedFile'
  }
}

/** A file that is not there, or not all of it; it may be on its way. */
export class MissingFile extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MissingFile'
  }
}

/**
 * Reads every file of a snapshot once: a flipped bit in Parquet often decodes to another value without an error.
 *
 * @throws MissingFile where one is missing or of another size; DamagedFile where its hash differs
 */
export async function requireFiles(
  folder: string,
  manifest: Manifest,
  hash: (file: string) => Promise<string> = hashOf,
): Promise<void> {
  const files = filesOf(manifest)
  for (const { file, bytes } of files) {
    const size = await sizeOf(path.join(folder, file))
    if (size === null) throw new MissingFile(`${file} is gone`)
    if (size !== bytes) throw new MissingFile(`${file} has ${size} bytes, and ${bytes} in its manifest`)
  }
  for (const file of files) await requireFile(folder, file, hash)
}

/**
 * Reads one file of a snapshot.
 *
 * @throws MissingFile or DamagedFile
 */
export async function requireFile(
  folder: string,
  { file, bytes, sha256: written }: StoredFile,
  hash: (file: string) => Promise<string> = hashOf,
): Promise<void> {
  const place = path.join(folder, file)
  const size = await sizeOf(place)
  if (size === null) throw new MissingFile(`${file} is gone`)
  if (size !== bytes) throw new MissingFile(`${file} has ${size} bytes, and ${bytes} in its manifest`)
  if ((await hash(place)) !== written) {
    throw new DamagedFile(`${file} is not as it was written: its bytes have another hash than in the manifest`)
  }
}

/** All files of a snapshot but its manifest. */
export function filesOf({ parts, files, lookups = [] }: Manifest): StoredFile[] {
  return [...parts, ...files, ...lookups]
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function rowsBefore(parts: readonly Part[], index: number): number {
  return parts.slice(0, index).reduce((rows, part) => rows + part.rows, 0)
}
