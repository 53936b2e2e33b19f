import { rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { allTables, tableId, type Table } from '../../core/catalog/catalog.ts'
import type { Log } from '../base/log.ts'
import { mixedFamilies } from '../http/addresses.ts'
import type { FittedCatalog } from '../snapshots/fitted-catalog.ts'
import { Prefetch } from '../snapshots/prefetch.ts'
import { Scrub } from '../snapshots/scrub.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import { createApp } from './app.ts'
import { buildRuntime, type BuiltRuntime } from './build-runtime.ts'
import type { Resources } from './resources.ts'

interface Publication {
  readonly fitted: FittedCatalog
  readonly built: BuiltRuntime
  readonly app: RequestListener
  readonly load: () => Promise<void>
  readonly retire: (next: { readonly successor: Publication | null }) => void
}

const scratchGraceMs = 600_000

/** @param before the publication that this one replaces; null at the start of the process */
export async function preparePublication(
  resources: Resources,
  fitted: FittedCatalog,
  before: Publication | null,
): Promise<Publication> {
  const { catalog } = fitted
  const { settings, store, log } = resources
  const builtRuntime = await buildRuntime(resources, fitted, before?.built ?? null)
  const { snapshots, readiness, scratch } = builtRuntime.runtime
  const scrub = new Scrub(snapshots, log)
  const prefetch = new Prefetch(snapshots, store, log)
  for (const { name } of mixedFamilies(catalog.families, settings.publicUrl)) {
    log.warn(
      { family: name },
      'PUBLIC_URL is https, but this family writes http addresses, which browsers block: declare scheme: public for it',
    )
  }
  // Closures below must not use `before`: they would keep every earlier publication, with its caches.
  const isFirst = before === null
  return {
    fitted,
    built: builtRuntime,
    app: createApp(builtRuntime.runtime),
    load: async () => {
      await snapshots.refresh()
      snapshots.follow()
      readiness.loaded()
      if (isFirst) warnOfOlder(allTables(catalog), snapshots, log)
      scrub.begin(settings.scrubMs)
      prefetch.begin()
    },
    retire: ({ successor }) => {
      snapshots.stop()
      scrub.stop()
      prefetch.stop()
      if (successor !== null) removeLater(scratch)
      const { counting } = builtRuntime.limits
      if (successor?.built.limits.counting !== counting) counting?.close()
    },
  }
}

function removeLater(scratch: string): void {
  setTimeout(() => void rm(scratch, { recursive: true, force: true }), scratchGraceMs).unref()
}

/** Tables of earlier versions have no row store, so DuckDB reads their pages more slowly. */
function warnOfOlder(tables: readonly Table[], snapshots: Snapshots, log: Log): void {
  const older = tables.filter((table) => {
    const manifest = snapshots.current(table)?.manifest
    return (
      table.hasRowStore && manifest !== undefined && manifest.rows > 0 && manifest.row_stores === undefined
    )
  })
  if (older.length > 0)
    log.warn(
      { tables: older.map(tableId) },
      'tables of an earlier version are slower until the next `acervo ingest` writes them again',
    )
}
