import os from 'node:os'
import path from 'node:path'
import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database } from '../../core/duckdb/database.ts'
import { codedValuesMax } from '../../core/warehouse/format/codes.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { readRollbacks } from '../../core/warehouse/state-files.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import { converterVersion, partRowsDefault } from '../convert/conversion.ts'
import { requirePatterns } from '../convert/expectations.ts'
import { pinReferenced } from '../job/expectations.ts'
import type { Job } from '../job/job.ts'
import { definitionOf, definitionsUntil } from '../publish/label.ts'
import { batchBytesDefault } from '../source/batches.ts'
import type { SourceHashes } from '../source/hashes.ts'
import { obtain, type ObtainedFile } from '../source/obtain.ts'
import type { Source } from '../../core/warehouse/manifest.ts'
import type { IngestOptions } from './options.ts'

/** The rest is for reading and compressing. */
const duckdbShare = 0.55
/** Wider tables need a larger share for DuckDB: whole buffers of 2,048 rows per column and thread. */
const wideFields = 2000
const wideShare = 0.8
/** Each thread has buffers of its own. */
const threadsMax = 4
const retryMsDefault = 1000
const silenceMsDefault = 30_000

export function duckdbLimits(
  { memoryBytes }: Pick<IngestOptions, 'memoryBytes'>,
  table: Table,
): { memory: string; threads: number } {
  const isWide = table.fields.length > wideFields
  return {
    memory: `${Math.floor((memoryBytes * (isWide ? wideShare : duckdbShare)) / 1e6)}MB`,
    threads: isWide ? 1 : Math.min(threadsMax, os.availableParallelism()),
  }
}

export function definitionFor(table: Table, { partRows, converter }: IngestOptions): string {
  return definitionOf(table, partRows ?? partRowsDefault, converter ?? converterVersion)
}

/** Snapshot of the same source that was rolled back; else null. */
export async function rolledBackWith(
  hashes: SourceHashes,
  table: Table,
  { store, partRows = partRowsDefault, converter = converterVersion }: IngestOptions,
): Promise<SnapshotId | null> {
  // A new version of the converter must not publish a rolled back source again.
  const definitions = definitionsUntil(table, partRows, converter)
  for (const { definition, sources, snapshot } of await readRollbacks(store, table))
    if (definitions.includes(definition) && (await hashes.are(sources))) return snapshot
  return null
}

/** @param knownSources sources of the published snapshot, if servers may report them as unchanged */
export function obtainFor(
  table: Table,
  options: IngestOptions,
  {
    scratch,
    knownSources,
    progress,
  }: { scratch: string; knownSources: readonly Source[]; progress: Progress },
): ReturnType<typeof obtain> {
  return obtain(table, {
    sources: options.sources,
    folder: scratch,
    knownSources,
    bytesMax: options.unpackedBytesMax,
    progress,
    retryMs: options.retryMs ?? retryMsDefault,
    silenceMs: options.silenceMs ?? silenceMsDefault,
  })
}

interface JobOfTable extends Pick<Job, 'before' | 'reusable' | 'previous' | 'scratch' | 'progress'> {
  readonly obtainedFiles: readonly ObtainedFile[]
  /** Rows of tables by `dataset/table`, which replace the published ones. */
  readonly unpublished?: Job['referenced']
}

export async function withJob<Result>(
  table: Table,
  { obtainedFiles, unpublished = new Map(), ...inputs }: JobOfTable,
  options: IngestOptions,
  work: (job: Job) => Promise<Result>,
): Promise<Result> {
  const { scratch } = inputs
  const { files: referenced, release } = await pinReferenced(table, options, unpublished)
  const folders = [...referenced.values()].flat().map((file) => path.dirname(file))
  // The new snapshot is compared with the previous one.
  if (inputs.previous !== null) folders.push(options.store.place(layout.snapshot(table, inputs.previous)))
  const database = await Database.open({
    ...duckdbLimits(options, table),
    scratch: path.join(scratch, 'spill'),
    folders: [scratch, ...new Set(folders)],
  })
  const db = await database.connect({ progress: true })
  let otherDb: Connection | null = null
  try {
    otherDb = await database.connect()
    await requirePatterns(db, table)
    return await work({
      ...inputs,
      table,
      dataset: datasetOf(table, options),
      files: obtainedFiles.map(({ file }) => file),
      identify: (file, index) => ({ ...file, ...obtainedFiles[index]?.validators }),
      limits: options,
      store: options.store,
      referenced,
      db,
      otherDb,
      partRows: options.partRows ?? partRowsDefault,
      definition: definitionFor(table, options),
      codedDistinctMax: options.codedDistinctMax ?? codedValuesMax,
      batchBytes: options.batchBytes ?? batchBytesDefault,
      acceptsDrift: options.acceptsDrift ?? false,
      withoutChanges: options.withoutChanges ?? false,
      clickHouse: options.clickHouse ?? null,
      now: options.now,
    })
  } finally {
    db.close()
    otherDb?.close()
    database.close()
    release()
  }
}

function datasetOf(table: Table, { catalog }: IngestOptions): Dataset {
  const dataset = catalog.datasets.get(table.dataset)
  if (dataset === undefined) throw new Error(`the catalog has no dataset ${table.dataset}`)
  return dataset
}

/** @throws TableFailure if the catalog assigns the table to an unavailable engine */
export function requireEngine(table: Table, { clickHouse }: IngestOptions): void {
  if (table.engine === 'clickhouse' && (clickHouse ?? null) === null)
    throw new TableFailure('the catalog declares engine: clickhouse, but CLICKHOUSE_URL is not set')
}
