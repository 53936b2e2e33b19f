import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { tableId, type Catalog, type Dataset, type Table } from '../core/catalog/catalog.ts'
import { messageOf, StartError } from '../core/errors.ts'
import { Database, OutOfMemory, type Connection } from '../core/warehouse/duckdb.ts'
import { hashOf } from '../core/warehouse/hash.ts'
import { layout } from '../core/warehouse/layout.ts'
import { readManifest, requireParts, type Manifest } from '../core/warehouse/manifest.ts'
import { checkSource, type MatchedField } from './check.ts'
import { badValues, partRowsDefault, sort, stage, writeParts } from './convert.ts'
import type { Progress } from './progress.ts'
import { provePublished, proveStaged } from './prove.ts'
import { definitionOf, label, publish } from './publish.ts'
import { TableFailure, type Reject } from './rejects.ts'
import { clearFailure, writeFailure, writeReport, type Outcome } from './report.ts'
import { inScratch, sweepScratch } from './scratch.ts'
import { findSource, readSource, type SourceFile } from './source.ts'

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
      return await convertAndPublish({ table, dataset, source, scratch, db, progress, partRows }, options)
    } finally {
      db.close()
      work.close()
    }
  })
}

interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly source: SourceFile
  readonly scratch: string
  readonly db: Connection
  readonly progress: Progress
  readonly partRows: number
}

async function convertAndPublish(job: Job, { warehouse, now }: IngestOptions): Promise<Outcome> {
  const { table, dataset, source, scratch, db, progress, partRows } = job
  const steps = stopwatch(job)
  const plainFile = path.join(scratch, 'source.csv')
  const folder = path.join(scratch, 'snapshot')
  await mkdir(folder)

  const read = await steps.time('reading', () => readSource(source, table.source, progress, plainFile))
  const fields = checkSource(table, read)
  const rows = read.scanner.records
  await steps.time('staging', () => stage(db, plainFile, table, read.scanner.columns.length))
  await steps.time('checking', async () => {
    await proveStaged(db, read.scanner)
    await requireGoodValues(job, fields)
  })
  await steps.time('sorting', () => sort(db, table, fields))
  const parts = await steps.time(
    'writing',
    () => writeParts(db, fields, folder, rows, partRows, progress),
    'tells its own progress',
  )
  const proved = await steps.time(
    'proving',
    () => provePublished(db, fields, folder, parts, rows, progress),
    'tells its own progress',
  )

  const labelled = { dataset, table, source, sourceSha256: read.sha256, rows, partRows, importDate: now() }
  const manifest = await label(labelled, folder, parts)
  await writeReport(folder, manifest, {
    blankLines: read.scanner.blankLines,
    fields: proved,
    seconds: steps.seconds,
  })
  await publish(warehouse, table, folder, manifest)
  await clearFailure(warehouse, table)
  return { status: 'published', table, manifest, seconds: steps.total() }
}

/** @throws TableFailure with every bad value and the line of its row */
async function requireGoodValues(
  { db, source, table, progress }: Job,
  fields: readonly MatchedField[],
): Promise<void> {
  const { count, values } = await badValues(db, fields)
  if (count === 0) return
  const records = new Set(values.map((value) => value.record))
  const { lines } = (await readSource(source, table.source, progress, null, records)).scanner
  const rejects = values.map(({ record, field, text, reason }): Reject => {
    return { line: lines.get(record) ?? 0, field, text, reason }
  })
  const what = count === 1 ? 'a value is' : `${count.toLocaleString('en')} values are`
  throw new TableFailure(`${what} not what the catalog declares; nothing was published`, rejects, count)
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

const progressEveryMs = 100

/** Times the steps of a job and shows how far DuckDB is in each. */
function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  const started = performance.now()
  return {
    seconds,
    total: () => (performance.now() - started) / 1000,
    time: async <T>(name: string, work: () => Promise<T>, own?: 'tells its own progress'): Promise<T> => {
      const began = performance.now()
      progress.step(name)
      const watch = setInterval(() => {
        const fraction = own === undefined ? db.progress() : null
        if (fraction !== null) progress.advance({ fraction })
      }, progressEveryMs)
      try {
        return await work()
      } finally {
        clearInterval(watch)
        seconds[name] = Number(((performance.now() - began) / 1000).toFixed(3))
      }
    },
  }
}
