import os from 'node:os'
import path from 'node:path'
import { tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import { messageOf, StartError } from '../../core/errors.ts'
import { Database } from '../../core/duckdb/database.ts'
import { OutOfMemory } from '../../core/duckdb/errors.ts'
import { damagedIn, quarantine, newestIn, publishedBefore } from '../../core/warehouse/history.ts'
import {
  clearFailure,
  writeFailure,
  recordHashes,
  readHashes,
  recordCheck,
  recordVerified,
  versionsIn,
  readRollbacks,
} from '../../core/warehouse/state-files.ts'
import { mendManifest, publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import { codedValuesMax } from '../../core/warehouse/format/codes.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsFields, NewerManifest, type Manifest, type Source } from '../../core/warehouse/manifest.ts'
import type { Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { filesInStore, verifyFiles } from '../../core/warehouse/verify-files.ts'
import { converterVersion, isWide, partRowsDefault } from '../convert/convert.ts'
import { batchBytesDefault } from '../source/batches.ts'
import { convertAndPublish } from '../job/convert-and-publish.ts'
import { fillClickHouse } from '../job/fill-clickhouse.ts'
import type { Progress } from '../base/progress.ts'
import { findReusable } from '../convert/reused-partitions.ts'
import { dropForgotten } from '../publish/clickhouse.ts'
import { removeGarbage } from '../publish/garbage.ts'
import { definitionOf, definitionsUntil } from '../publish/label.ts'
import { withTableLock } from '../publish/lock.ts'
import { inScratch, sweepScratch } from '../publish/scratch.ts'
import { TableFailure } from '../base/rejects.ts'
import { failureReport, type Outcome } from '../job/report.ts'
import { expectedFiles } from '../source/find.ts'
import { SourceHashes } from '../source/hashes.ts'
import { obtain, type ObtainedFile } from '../source/obtain.ts'

export interface IngestOptions {
  readonly catalog: Catalog
  /** A folder, or an http(s) address. */
  readonly sources: string
  readonly store: Store
  /** Memory limit of a run, in bytes. */
  readonly memoryBytes: number
  /** Maximum number of bytes that a source may decompress to. */
  readonly unpackedBytesMax: number
  readonly now: () => Date
  readonly progress: (table: Table) => Progress
  /** Skips tables that are published as declared, without checking their source. */
  readonly onlyUnpublished?: boolean
  /** Publishes in spite of differences from the previous snapshot. */
  readonly acceptsDrift?: boolean
  readonly partRows?: number
  /** Version of the conversion from source to rows. */
  readonly converter?: number
  /** Maximum number of distinct values of a field that gets codes. */
  readonly codedDistinctMax?: number
  /** Size in bytes of text from which a batch is complete. */
  readonly batchBytes?: number
  /** Removes expired snapshots; without it, all stay. */
  readonly retention?: Retention
  /** Milliseconds before a failed download is retried. */
  readonly retryMs?: number
  /** Timeout of a silent server, in ms. */
  readonly silenceMs?: number
  /** Milliseconds that a source file must be unchanged before its inode, size and times identify its content. */
  readonly settledMs?: number
  /** Milliseconds after which a source file is hashed again even if it seems unchanged. */
  readonly believedMs?: number
  /** Maximum number of concurrent tables, memory permitting. */
  readonly jobs?: number
  /** Engine for filters and orders of tables that the catalog assigns to it. */
  readonly clickHouse?: ClickHouse | null
}

/** Memory that a job needs for sorting; with less, fewer jobs run concurrently. */
const jobBytesMin = 400e6
/** Share of a job's memory for DuckDB; the rest is for reading and compressing outside of its buffers. */
const duckdbShare = 0.55
/**
 * Larger share for a wide table: DuckDB counts whole buffers of 2,048 rows per column, of which short tables
 * fill little.
 */
const wideShare = 0.8
/** Maximum number of threads of DuckDB: each has buffers of its own, which take memory. */
const threadsMax = 4
const retryMsDefault = 1000
const silenceMsDefault = 30_000

/** Ingests tables, concurrently as far as cores and memory allow; yields outcomes as they complete. */
export async function* ingest(tables: readonly Table[], options: IngestOptions): AsyncGenerator<Outcome> {
  try {
    await sweepScratch(options.store)
  } catch (cause) {
    throw new StartError(`cannot write to the warehouse ${options.store.address}: ${messageOf(cause)}`, {
      cause,
    })
  }
  const cores = options.jobs ?? os.availableParallelism()
  const jobs = Math.max(1, Math.min(cores, tables.length, Math.floor(options.memoryBytes / jobBytesMin)))
  const share = { ...options, memoryBytes: Math.floor(options.memoryBytes / jobs) }
  const waiting = [...tables]
  const running = new Map<Table, Promise<Outcome>>()
  while (waiting.length > 0 || running.size > 0) {
    while (running.size < jobs) {
      const table = waiting.shift()
      if (table === undefined) break
      running.set(table, outcomeOf(table, share))
    }
    const outcome = await Promise.race(running.values())
    running.delete(outcome.table)
    yield outcome
  }
}

async function outcomeOf(table: Table, options: IngestOptions): Promise<Outcome> {
  const progress = options.progress(table)
  try {
    return await withTableLock(options.store, table, async () => {
      const outcome = await ingestOrFail(table, options, progress)
      if (options.retention !== undefined && 'manifest' in outcome) {
        await removeGarbage(options.store, table, outcome.manifest, options.now(), options.retention).catch(
          // A failed removal must not fail the ingest: the table stays published.
          (error: unknown) =>
            progress.log(`${tableId(table)}: old snapshots were not removed: ${messageOf(error)}`),
        )
      }
      if (table.engine === 'clickhouse' && options.clickHouse && 'manifest' in outcome) {
        const snapshots = new Set(await snapshotsIn(options.store, table))
        await dropForgotten(options.clickHouse, table, snapshots).catch((error: unknown) =>
          progress.log(`${tableId(table)}: old tables of ClickHouse were not dropped: ${messageOf(error)}`),
        )
      }
      return outcome
    })
  } catch (error) {
    const failure = asFailure(error, options.memoryBytes)
    return { status: 'failed', table, failure, report: 'none, the source was not read' }
  } finally {
    // End the progress line before the outcome is printed.
    progress.end()
  }
}

/**
 * Ingests a table, and reports a failure. Call it only under the lock of the table, so that no other job's
 * report is overwritten.
 */
async function ingestOrFail(table: Table, options: IngestOptions, progress: Progress): Promise<Outcome> {
  try {
    return await ingestTable(table, options, progress)
  } catch (error) {
    const failure = asFailure(error, options.memoryBytes)
    return { status: 'failed', table, failure, report: await tryToReport(failure, table, options) }
  }
}

/** Writes a failure report. Its own failure, for instance on a full disk, must not stop the other tables. */
async function tryToReport(
  failure: TableFailure,
  table: Table,
  { store, now }: IngestOptions,
): Promise<string> {
  try {
    return await writeFailure(store, table, failureReport(table, failure, now()))
  } catch (error) {
    return `none, ${messageOf(error)}`
  }
}

function asFailure(error: unknown, memoryBytes: number): TableFailure {
  if (error instanceof TableFailure) return error
  const message =
    error instanceof OutOfMemory
      ? `the ingest needs more than its ${Math.round(memoryBytes / 1e6)} MB of memory: raise INGEST_MEMORY`
      : messageOf(error)
  return Object.assign(new TableFailure(message), { cause: error })
}

async function ingestTable(table: Table, options: IngestOptions, progress: Progress): Promise<Outcome> {
  const { catalog, sources, store, onlyUnpublished = false } = options
  const { partRows = partRowsDefault, converter = converterVersion } = options
  const dataset = catalog.datasets.get(table.dataset)
  if (dataset === undefined) throw new Error(`the catalog has no dataset ${table.dataset}`)
  if (table.engine === 'clickhouse' && (options.clickHouse ?? null) === null)
    throw new TableFailure('the catalog declares engine: clickhouse, but CLICKHOUSE_URL is not set')
  const found = await currentSnapshot(store, table, progress)
  const { manifest, isDamaged } = found
  const current = isDamaged ? null : manifest
  const definition = definitionOf(table, partRows, converter)
  const isAsDeclared = current?.definition === definition
  if (onlyUnpublished && isAsDeclared) return { status: 'kept', table }
  return inScratch(store, async (scratch) => {
    const obtained = await obtain(table, {
      sources,
      folder: scratch,
      known: isAsDeclared ? current.sources : [],
      bytesMax: options.unpackedBytesMax,
      progress,
      retryMs: options.retryMs ?? retryMsDefault,
      silenceMs: options.silenceMs ?? silenceMsDefault,
    })
    if (obtained === 'missing') return withoutSource(table, sources, found)
    const files = obtained === 'unchanged' ? [] : obtained
    const hashes = await SourceHashes.of(files, await readHashes(store, table), {
      now: options.now(),
      settledMs: options.settledMs,
      believedMs: options.believedMs,
    })
    const note = (read: readonly Source[]): Promise<void> =>
      recordHashes(store, table, hashes.noted(read)).catch((error: unknown) =>
        progress.log(`${tableId(table)}: the hashes of its source were not stored: ${messageOf(error)}`),
      )
    if (
      isAsDeclared &&
      (obtained === 'unchanged' || (await isSame(current, obtained, table.source, hashes)))
    ) {
      await clearFailure(store, table)
      await fill(table, current, options, progress)
      await note(current.sources)
      await recordCheck(store, table, 'unchanged', options.now())
      return { status: 'unchanged', table, manifest: current }
    }
    if (obtained === 'unchanged') throw new Error('the source is unchanged, but the table is not published')
    const { acceptsDrift = false } = options
    // A new version of the converter is no reason to publish a rolled back source again.
    const definitions = definitionsUntil(table, partRows, converter)
    for (const withdrawn of acceptsDrift ? [] : await readRollbacks(store, table)) {
      if (!definitions.includes(withdrawn.definition) || !(await hashes.are(withdrawn.sources))) continue
      const trouble = whyNotServed(found, table)
      if (trouble === null) {
        if (current !== null) await fill(table, current, options, progress)
        await recordCheck(store, table, 'held', options.now())
        return { status: 'held', table, withdrawn: withdrawn.snapshot }
      }
      throw new TableFailure(
        `${trouble}, and the source is that of the snapshot ${withdrawn.snapshot}, which was rolled back; ` +
          `\`acervo ingest --accept-drift ${tableId(table)}\` publishes it again`,
      )
    }
    // Quarantine damaged snapshots before they are replaced, so that a killed job leaves no manual work.
    await quarantine(store, table, found.damaged, options.now()).catch((error: unknown) =>
      progress.log(`${tableId(table)}: damaged files were not set aside: ${messageOf(error)}`),
    )
    const reusable =
      isAsDeclared && !acceptsDrift && table.partition !== null
        ? await findReusable(store, table, current, await hashes.files())
        : null
    const work = await Database.open({
      ...duckdbLimits(options, table),
      scratch: path.join(scratch, 'spill'),
      folders: [scratch],
    })
    const db = await work.connect({ progress: true })
    try {
      const outcome = await convertAndPublish({
        table,
        dataset,
        files: obtained.map(({ file }) => file),
        identify: (file, index) => ({ ...file, ...obtained[index]?.validators }),
        limits: options,
        store,
        before: manifest,
        reusable,
        previous: found.previous,
        scratch,
        db,
        progress,
        partRows,
        definition,
        codedDistinctMax: options.codedDistinctMax ?? codedValuesMax,
        batchBytes: options.batchBytes ?? batchBytesDefault,
        acceptsDrift,
        clickHouse: options.clickHouse ?? null,
        now: options.now,
      })
      if ('manifest' in outcome) await note(outcome.manifest.sources)
      return outcome
    } finally {
      db.close()
      work.close()
    }
  })
}

function duckdbLimits({ memoryBytes }: IngestOptions, table: Table): { memory: string; threads: number } {
  return {
    memory: `${Math.floor((memoryBytes * (isWide(table) ? wideShare : duckdbShare)) / 1e6)}MB`,
    // A wide table gets one thread, since each thread has buffers for all columns.
    threads: isWide(table) ? 1 : Math.min(threadsMax, os.availableParallelism()),
  }
}

/** Loads the published snapshot into ClickHouse if it is missing there; until then, DuckDB serves the table. */
async function fill(
  table: Table,
  current: Manifest,
  options: IngestOptions,
  progress: Progress,
): Promise<void> {
  if (table.engine !== 'clickhouse' || !options.clickHouse) return
  const limits = { ...duckdbLimits(options, table), progress }
  await fillClickHouse(options.store, table, current, options.clickHouse, limits).catch((error: unknown) =>
    progress.log(
      `${tableId(table)}: the published snapshot was not loaded into ClickHouse: ${messageOf(error)}`,
    ),
  )
}

function withoutSource(table: Table, sources: string, found: Current): Outcome {
  const { manifest, isDamaged } = found
  if (manifest === null && !isDamaged) return { status: 'skipped', table }
  const trouble = whyNotServed(found, table)
  const serving =
    trouble === null ? `the snapshot of ${manifest?.import_date ?? ''} is still served` : `and ${trouble}`
  throw new TableFailure(`the source is missing: there is no ${expectedFiles(sources, table)}; ${serving}`)
}

/** Returns why a server cannot serve the published snapshot; null if it can. */
function whyNotServed({ manifest, isDamaged }: Current, table: Table): string | null {
  if (manifest === null || isDamaged) return 'the published snapshot is damaged'
  return holdsFields(manifest, table)
    ? null
    : 'the fields of the published snapshot differ from the catalog, so it is not served'
}

/** Published state of a table. */
interface Current {
  /** Null if nothing was ever published, or no manifest is readable. */
  readonly manifest: Manifest | null
  readonly isDamaged: boolean
  /** All damaged snapshots if the published one is damaged: the next publication replaces them. */
  readonly damaged: readonly SnapshotId[]
  /** Snapshot that a rollback of the next one restores; null if there is none. */
  readonly previous: SnapshotId | null
}

/** Reads the published state; a damaged snapshot must not stop the ingest that would replace it. */
async function currentSnapshot(store: Store, table: Table, progress: Progress): Promise<Current> {
  let manifest: Manifest | null = null
  try {
    manifest = await publishedOf(store, table)
    if (manifest === null) {
      if ((await snapshotsIn(store, table)).length === 0)
        return { manifest, isDamaged: false, damaged: [], previous: null }
      throw new Error('current.json is missing, although there are snapshots')
    }
    const versions = await versionsIn(store, table, manifest)
    await verifyFiles(filesInStore(store, layout.snapshot(table, manifest.snapshot)), manifest)
    await recordVerified(store, table, manifest.snapshot, versions)
    await mendManifest(store, table, manifest.snapshot)
    return { manifest, isDamaged: false, damaged: [], previous: manifest.snapshot }
  } catch (error) {
    if (error instanceof NewerManifest) throw new TableFailure(error.message)
    progress.log(`${tableId(table)}: the published snapshot is damaged: ${messageOf(error)}`)
    const damaged = await damagedIn(store, table)
    let previous: SnapshotId | null = null
    for await (const one of earlierThan(store, table, manifest)) {
      // If the pointer is unreadable, a new snapshot is compared with the newest remaining one.
      manifest ??= one
      if (damaged.includes(one.snapshot)) continue
      previous = one.snapshot
      break
    }
    return { manifest, isDamaged: true, damaged, previous }
  }
}

/** Yields earlier snapshots; if a damaged manifest breaks the chain, the remaining ones. */
async function* earlierThan(store: Store, table: Table, manifest: Manifest | null): AsyncGenerator<Manifest> {
  if (manifest !== null) yield* publishedBefore(store, table, manifest)
  for await (const one of newestIn(store, table)) {
    if (manifest === null || one.snapshot < manifest.snapshot) yield one
  }
}

/** Returns whether the published snapshot was made from these very files. */
async function isSame(
  { sources }: Manifest,
  obtained: readonly ObtainedFile[],
  { fromName }: Table['source'],
  hashes: SourceHashes,
): Promise<boolean> {
  const areAlike = obtained.every(({ file }, index) => {
    const before = sources[index]
    return before?.bytes === file.bytes && (fromName === null || before.name === file.name)
  })
  return areAlike && (await hashes.are(sources.map(({ sha256 }) => sha256)))
}
