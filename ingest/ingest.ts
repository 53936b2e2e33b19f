import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { tableId, type Catalog, type Table } from '../core/catalog/catalog.ts'
import { messageOf, StartError } from '../core/errors.ts'
import { Database, OutOfMemory } from '../core/warehouse/duckdb.ts'
import { hashOf } from '../core/warehouse/hash.ts'
import { layout } from '../core/warehouse/layout.ts'
import { readManifest, requireParts, type Manifest } from '../core/warehouse/manifest.ts'
import { partRowsDefault } from './convert.ts'
import { convertAndPublish } from './job.ts'
import type { Progress } from './progress.ts'
import { definitionOf } from './publish.ts'
import { TableFailure } from './rejects.ts'
import { clearFailure, writeFailure, type Outcome } from './report.ts'
import { inScratch, sweepScratch } from './scratch.ts'
import { findSource, type SourceFile } from './source.ts'

export interface IngestOptions {
  readonly catalog: Catalog
  readonly sources: string
  readonly warehouse: string
  /** Bound of DuckDB's buffers, such as `1GB`. */
  readonly memory: string
  readonly now: () => Date
  readonly progress: (table: Table) => Progress
  /** Leave alone what is published as the catalog declares it, whatever its source is now. */
  readonly onlyUnpublished?: boolean
  readonly partRows?: number
}

/** More would need more memory, and bounds are measured with two. */
const threads = 2

/** Ingests tables one after the other: source -> check -> convert -> prove -> publish -> report. */
export async function* ingest(tables: readonly Table[], options: IngestOptions): AsyncGenerator<Outcome> {
  try {
    await mkdir(options.warehouse, { recursive: true })
    await sweepScratch(options.warehouse)
  } catch (cause) {
    throw new StartError(`the warehouse ${options.warehouse} cannot be written: ${messageOf(cause)}`, {
      cause,
    })
  }
  for (const table of tables) {
    const progress = options.progress(table)
    const outcome = await ingestTable(table, options, progress).catch((error: unknown) =>
      failed(error, table, options),
    )
    // Before the outcome is told, so that it does not stand behind the line that renews itself.
    progress.end()
    yield outcome
  }
}

async function failed(error: unknown, table: Table, options: IngestOptions): Promise<Outcome> {
  const failure = asFailure(error, options.memory)
  return { status: 'failed', table, failure, report: await tryToReport(failure, table, options) }
}

/** What stops a table may also stop its report, a full disk say; the other tables go on all the same. */
async function tryToReport(
  failure: TableFailure,
  table: Table,
  { warehouse, now }: IngestOptions,
): Promise<string> {
  try {
    return await writeFailure(warehouse, table, failure, now())
  } catch (error) {
    return `none, ${messageOf(error)}`
  }
}

function asFailure(error: unknown, memory: string): TableFailure {
  if (error instanceof TableFailure) return error
  const message =
    error instanceof OutOfMemory
      ? `it needs more memory than ${memory}: set INGEST_MEMORY to more`
      : messageOf(error)
  return Object.assign(new TableFailure(message), { cause: error })
}

async function ingestTable(table: Table, options: IngestOptions, progress: Progress): Promise<Outcome> {
  const { catalog, sources, warehouse, onlyUnpublished = false, partRows = partRowsDefault } = options
  const dataset = catalog.datasets.get(table.dataset)
  if (dataset === undefined) throw new Error(`the catalog has no dataset ${table.dataset}`)
  const current = await currentSnapshot(warehouse, table, progress)
  const manifest = current === 'damaged' ? null : current
  const definition = definitionOf(table, partRows)
  if (onlyUnpublished && manifest?.definition === definition) {
    return { status: 'kept', table }
  }
  const source = await findSource(sources, table)
  if (source === null) return withoutSource(table, sources, current)
  if (manifest !== null && (await isUnchanged(manifest, source, definition))) {
    await clearFailure(warehouse, table)
    return { status: 'unchanged', table, manifest }
  }
  return inScratch(warehouse, async (scratch) => {
    const work = await Database.open({
      file: path.join(scratch, 'work.duckdb'),
      memory: options.memory,
      threads,
      scratch: path.join(scratch, 'spill'),
      folders: [scratch],
    })
    const db = await work.connect({ progress: true })
    try {
      const { now } = options
      return await convertAndPublish({
        table,
        dataset,
        source,
        warehouse,
        scratch,
        db,
        progress,
        partRows,
        now,
      })
    } finally {
      db.close()
      work.close()
    }
  })
}

function withoutSource(table: Table, sources: string, current: Current): Outcome {
  const wanted = `${path.join(sources, tableId(table))}.csv or .csv.gz`
  if (current === null) return { status: 'skipped', table }
  const serving =
    current === 'damaged'
      ? 'and the published snapshot is damaged'
      : `the snapshot of ${current.import_date} goes on serving`
  throw new TableFailure(`the source is gone: there is no ${wanted}; ${serving}`)
}

/** The manifest of what is published; null where nothing ever was. */
type Current = Manifest | 'damaged' | null

/** A damaged snapshot must not stop the ingest that would replace it. */
async function currentSnapshot(warehouse: string, table: Table, progress: Progress): Promise<Current> {
  try {
    const manifest = await readManifest(layout.pointer(warehouse, table))
    if (manifest !== null) await requireParts(layout.snapshot(warehouse, table, manifest.snapshot), manifest)
    return manifest
  } catch (error) {
    progress.say(`${tableId(table)}: the published snapshot is damaged: ${messageOf(error)}`)
    return 'damaged'
  }
}

/** Whether what is published was made from this very source, in the same way. */
async function isUnchanged(manifest: Manifest, source: SourceFile, definition: string): Promise<boolean> {
  if (manifest.definition !== definition || manifest.source.bytes !== source.bytes) return false
  return manifest.source.sha256 === (await hashOf(source.file))
}
