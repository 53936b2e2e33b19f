import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { LockHeld } from '../../core/errors.ts'
import { sumsOf } from '../../core/warehouse/hash.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/published.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { writeViews, type LeftOut, type PublishedTable } from '../../core/warehouse/views.ts'
import { inScratch } from './scratch.ts'

/** Another job holds the lock for some 100 ms at a time. */
const lockEveryMs = 50
const lockTriesMax = 600

/**
 * Makes `warehouse.duckdb` anew and puts it in the place of the old one: views of all that is published, usable from any
 * folder, without tables whose parts cannot be read. Whoever has the old one open keeps it, and its snapshots stay for
 * their time of grace.
 */
export async function publishViews(store: Store, catalog: Catalog): Promise<LeftOut[]> {
  const release = await patientLock(store)
  try {
    return await inScratch(store, async (scratch) => {
      const tables = await publishedTables(store, catalog)
      // A view is bound to its files when it is made.
      for (const { table, manifest } of tables) await store.local(layout.snapshot(table, manifest.snapshot))
      const draft = path.join(scratch, layout.views)
      const leftOut = await writeViews(draft, tables, {
        warehouse: store.localFolder,
        base: store.address,
        scratch,
      })
      // Of someone who wrote into the old file; it would be taken for ours.
      await store.remove(`${layout.views}.wal`)
      const line = viewsSumLine((await sumsOf(draft)).sha256)
      const before = String((await store.get(layout.viewsSum)) ?? '')
      // Of both while they change places: whatever ends the job between, one of the lines is right.
      await store.put(layout.viewsSum, line + before)
      await store.take(draft, layout.views)
      await store.put(layout.viewsSum, line)
      return leftOut
    })
  } finally {
    release()
  }
}

/** The sum of the views as it is written. */
export function viewsSumLine(sha256: string): string {
  return `${sha256}  ${layout.views}\n`
}

/** What is published as the catalog declares it. */
async function publishedTables(store: Store, catalog: Catalog): Promise<PublishedTable[]> {
  const found: PublishedTable[] = []
  for (const dataset of catalog.datasets.values()) {
    for (const table of dataset.tables.values()) {
      // A damaged one is told by the ingest and by verify; here it is only left out.
      const manifest = await publishedOf(store, table).catch(() => null)
      if (manifest !== null && holdsFields(manifest, table)) found.push({ dataset, table, manifest })
    }
  }
  return found
}

/** The lock of the files beside those of the tables, waited for. */
export async function patientLock(store: Store): Promise<() => void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.lock('')
    } catch (error) {
      if (!(error instanceof LockHeld) || tries === lockTriesMax) throw error
      await wait(lockEveryMs)
    }
  }
}
