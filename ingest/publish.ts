import { createHash } from 'node:crypto'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Dataset, Table } from '../core/catalog/catalog.ts'
import { duckdbVersion } from '../core/warehouse/duckdb.ts'
import { hashOf } from '../core/warehouse/hash.ts'
import { layout } from '../core/warehouse/layout.ts'
import {
  manifestFormat,
  manifestText,
  orderTerms,
  storedFields,
  type Manifest,
  type Part,
} from '../core/warehouse/manifest.ts'
import { partRowsDefault, type WrittenPart } from './convert.ts'
import { renameDurably, syncFolder, syncTree, writeDurably } from './durable.ts'
import type { SourceFile } from './source.ts'

/** Hash of all that shapes the rows besides the source: when it changes, an unchanged source is converted anew. */
export function definitionOf(table: Table, partRows = partRowsDefault): string {
  const shape = {
    format: manifestFormat,
    fields: storedFields(table),
    order: orderTerms(table),
    delimiter: table.source.delimiter,
    rename: [...table.source.rename],
    partRows,
  }
  return createHash('sha256').update(JSON.stringify(shape)).digest('hex')
}

export interface Labelled {
  readonly dataset: Dataset
  readonly table: Table
  readonly source: SourceFile
  readonly sourceSha256: string
  readonly rows: number
  /** UTF-8 bytes of all values. */
  readonly textBytes: number
  readonly partRows: number
  readonly importDate: Date
}

/** The manifest of parts that lie finished in a folder. */
export async function label(
  { dataset, table, source, sourceSha256, rows, textBytes, partRows, importDate }: Labelled,
  folder: string,
  written: readonly WrittenPart[],
): Promise<Manifest> {
  const parts: Part[] = []
  for (const part of written) {
    const file = path.join(folder, part.file)
    parts.push({ ...part, bytes: (await stat(file)).size, sha256: await hashOf(file) })
  }
  const definition = definitionOf(table, partRows)
  const content = [sourceSha256, definition, ...parts.map((part) => part.sha256)].join('\n')
  const time = importDate.toISOString().replaceAll(/[-:]|\.\d+Z/g, '')
  return {
    format: manifestFormat,
    dataset: table.dataset,
    table: table.name,
    snapshot: `${time}Z-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    rows,
    textBytes,
    parts,
    fields: storedFields(table),
    order: orderTerms(table),
    import_date: importDate.toISOString(),
    collected_at: dataset.collectedAt,
    source: { name: source.name, bytes: source.bytes, sha256: sourceSha256 },
    definition,
    tools: { node: process.version, duckdb: duckdbVersion },
  }
}

/**
 * Moves a finished folder into the warehouse and points to it. Until the last rename the old snapshot is
 * served; after it, the new one; a crash leaves one or the other.
 */
export async function publish(
  warehouse: string,
  table: Table,
  folder: string,
  manifest: Manifest,
): Promise<void> {
  const home = layout.table(warehouse, table)
  await mkdir(home, { recursive: true })
  await writeFile(path.join(folder, layout.manifest), manifestText(manifest))
  await syncTree(folder)
  await renameDurably(folder, layout.snapshot(warehouse, table, manifest.snapshot))
  for (const parent of [path.dirname(home), warehouse]) await syncFolder(parent)

  const pointer = layout.pointer(warehouse, table)
  const draft = `${pointer}.${process.pid}.draft`
  await writeDurably(draft, manifestText(manifest))
  await renameDurably(draft, pointer)
}
