import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { manifestText, type Manifest } from '../../core/warehouse/manifest.ts'
import { renameDurably, replaceDurably, syncFolder, syncTree } from './durable.ts'

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
  await pointTo(warehouse, table, manifest)
}

/** Makes a snapshot that lies whole in the warehouse the current one. */
export async function pointTo(warehouse: string, table: Table, manifest: Manifest): Promise<void> {
  await replaceDurably(layout.pointer(warehouse, table), manifestText(manifest))
}
