import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import { Database } from '../../core/duckdb/database.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Progress } from '../base/progress.ts'
import { hasLoaded, loadClickHouse } from '../publish/clickhouse.ts'
import { inScratch } from '../publish/scratch.ts'

/**
 * Loads a snapshot into a single ClickHouse server that lacks it.
 * @param memory of DuckDB, such as `500MB`
 * @throws TableFailure if the loaded data differs
 */
export async function fillClickHouse(
  store: Store,
  table: Table,
  manifest: Manifest,
  link: ClickHouse,
  options: { readonly memory: string; readonly threads: number; readonly progress: Progress },
): Promise<void> {
  // In a cluster, a table missing on one server may exist on others, and must not be replaced.
  if (manifest.clickhouse === undefined || link.cluster !== null) return
  if (await hasLoaded(link, table, manifest.snapshot, manifest.rows)) return
  const { memory, threads, progress } = options
  const folder = layout.snapshot(table, manifest.snapshot)
  const parts = manifest.parts.map((part) => ({ ...part, key: `${folder}/${part.file}` }))
  const release = await store.pin(parts)
  try {
    await inScratch(store, async (scratch) => {
      const folders = [scratch, store.place(folder)]
      const database = await Database.open({ memory, threads, scratch: path.join(scratch, 'spill'), folders })
      const db = await database.connect()
      try {
        const conversion = {
          db,
          table,
          fields: table.fields.map((field) => ({ field, column: null })),
          columnCount: 0,
          weights: [],
          scratch,
          parts: parts.map(({ key, firstRow, rows }) => ({ path: store.place(key), firstRow, rows })),
        }
        await loadClickHouse(conversion, link, manifest.snapshot, manifest.rows, progress)
      } finally {
        db.close()
        database.close()
      }
    })
  } finally {
    release()
  }
  progress.log(`${tableId(table)}: loaded into ClickHouse, where it was missing`)
}
