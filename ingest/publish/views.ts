import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { LockHeld, holdLock } from '../../core/duckdb/file-lock.ts'
import { sumsOf } from '../../core/warehouse/hash.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields, readManifest } from '../../core/warehouse/manifest.ts'
import { writeViews, type LeftOut, type PublishedTable } from '../../core/warehouse/views.ts'
import { draftEnding, renameDurably, replaceDurably, syncFile } from './durable.ts'
import { inScratch, sweepDrafts } from './scratch.ts'

/** Another job holds the lock for some 100 ms at a time. */
const lockEveryMs = 50
const lockTriesMax = 600

/**
 * Makes `warehouse.duckdb` anew beside the old one and renames it over: views of all that is published, usable from any
 * folder, without tables whose parts cannot be read. Whoever has the old one open keeps it, and its snapshots stay for
 * their time of grace.
 */
export async function publishViews(warehouse: string, catalog: Catalog): Promise<LeftOut[]> {
  const home = path.resolve(warehouse)
  const release = await patientLock(path.join(layout.locks(home), 'warehouse'))
  try {
    await sweepDrafts(home)
    const tables = await publishedTables(home, catalog)
    const file = layout.views(home)
    const draft = `${file}.${process.pid}${draftEnding}`
    const leftOut = await inScratch(home, async (scratch) =>
      writeViews(draft, tables, { warehouse: home, base: home, scratch }),
    )
    await syncFile(draft)
    // Of someone who wrote into the old file; it would be taken for ours.
    await rm(`${file}.wal`, { force: true })
    const sum = layout.viewsSum(home)
    const line = viewsSumLine(home, (await sumsOf(draft)).sha256)
    // Of both while they change places: whatever ends the job between, one of the lines is right.
    await replaceDurably(sum, line + (await readFile(sum, 'utf8').catch(() => '')))
    await renameDurably(draft, file)
    await replaceDurably(sum, line)
    return leftOut
  } finally {
    release()
  }
}

/** The sum of the views as it is written. */
export function viewsSumLine(warehouse: string, sha256: string): string {
  return `${sha256}  ${path.basename(layout.views(warehouse))}\n`
}

/** What is published as the catalog declares it. */
export async function publishedTables(warehouse: string, catalog: Catalog): Promise<PublishedTable[]> {
  const found: PublishedTable[] = []
  for (const dataset of catalog.datasets.values()) {
    for (const table of dataset.tables.values()) {
      // A damaged one is told by the ingest and by verify; here it is only left out.
      const manifest = await readManifest(layout.pointer(warehouse, table)).catch(() => null)
      if (manifest !== null && holdsFields(manifest, table)) found.push({ dataset, table, manifest })
    }
  }
  return found
}

async function patientLock(file: string): Promise<() => void> {
  await mkdir(path.dirname(file), { recursive: true })
  for (let tries = 1; ; tries += 1) {
    try {
      return await holdLock(file)
    } catch (error) {
      if (!(error instanceof LockHeld) || tries === lockTriesMax) throw error
      await wait(lockEveryMs)
    }
  }
}
