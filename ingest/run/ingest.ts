import os from 'node:os'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf, StartError } from '../../core/errors.ts'
import { damagedIn, earlierSnapshots } from '../../core/warehouse/history.ts'
import { writeFailure, recordVerified, versionsIn } from '../../core/warehouse/state-files.ts'
import { mendManifest, publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { NewerManifest, type Manifest } from '../../core/warehouse/manifest.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { filesInStore, verifyFiles } from '../../core/warehouse/verify-files.ts'
import { referencedTables } from '../job/expectations.ts'
import type { Progress } from '../base/progress.ts'
import { dropForgotten } from '../publish/clickhouse.ts'
import { removeGarbage } from '../publish/garbage.ts'
import { withTableLock } from '../publish/lock.ts'
import { inScratch, sweepScratch } from '../publish/scratch.ts'
import { asFailure, TableFailure } from '../base/rejects.ts'
import { failureReport, type Outcome } from '../job/report.ts'
import { ingestIfChanged, type PublishedState } from './decide.ts'
import { definitionFor, requireEngine } from './open-job.ts'
import type { IngestOptions } from './options.ts'

/** Minimum memory of a job, for sorting: with less memory, fewer jobs run at once. */
const jobBytesMin = 400e6

/** Ingests tables as concurrently as cores and memory allow; yields outcomes as they complete. */
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
  const optionsOfJob = { ...options, memoryBytes: Math.floor(options.memoryBytes / jobs) }
  const waitingTables = [...tables]
  const running = new Map<Table, Promise<Outcome>>()
  const unfinishedIds = new Set(tables.map(tableId))
  while (waitingTables.length > 0 || running.size > 0) {
    while (running.size < jobs) {
      // A table waits for the tables that its expectations refer to.
      const index = waitingTables.findIndex(
        (table) => ![...referencedTables(table)].some((id) => unfinishedIds.has(id)),
      )
      const [table] = index === -1 ? [] : waitingTables.splice(index, 1)
      if (table === undefined) break
      running.set(table, outcomeOf(table, optionsOfJob))
    }
    const outcome = await Promise.race(running.values())
    running.delete(outcome.table)
    unfinishedIds.delete(tableId(outcome.table))
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

/** Requires the lock of the table, so that no other job's report is overwritten. */
async function ingestOrFail(table: Table, options: IngestOptions, progress: Progress): Promise<Outcome> {
  try {
    return await ingestTable(table, options, progress)
  } catch (error) {
    const failure = asFailure(error, options.memoryBytes)
    return { status: 'failed', table, failure, report: await tryToReport(failure, table, options) }
  }
}

/** A failure to report, such as on a full disk, must not stop the other tables. */
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

async function ingestTable(table: Table, options: IngestOptions, progress: Progress): Promise<Outcome> {
  const { store, onlyUnpublished = false } = options
  requireEngine(table, options)
  const published = await publishedState(store, table, progress)
  const { manifest, isDamaged } = published
  if (onlyUnpublished && !isDamaged && manifest?.definition === definitionFor(table, options))
    return { status: 'kept', table }
  return inScratch(store, (scratch) =>
    ingestIfChanged(table, published, {
      ...options,
      publish: true,
      scratch,
      tableProgress: progress,
      unpublished: new Map(),
      learn: () => undefined,
    }),
  )
}

/** Verifies the published snapshot; damage must not stop its replacement. */
async function publishedState(store: Store, table: Table, progress: Progress): Promise<PublishedState> {
  let manifest: Manifest | null = null
  try {
    manifest = await publishedOf(store, table)
    if (manifest === null) {
      if ((await snapshotsIn(store, table)).length === 0)
        return { manifest, isDamaged: false, damagedIds: [], previous: null }
      throw new Error('current.json is missing, although there are snapshots')
    }
    const versions = await versionsIn(store, table, manifest)
    await verifyFiles(filesInStore(store, layout.snapshot(table, manifest.snapshot)), manifest)
    await recordVerified(store, table, manifest.snapshot, versions)
    // The verified manifest comes from `current.json`; its copy beside the parts may be missing or damaged.
    await mendManifest(store, table, manifest.snapshot)
    return { manifest, isDamaged: false, damagedIds: [], previous: manifest.snapshot }
  } catch (error) {
    if (error instanceof NewerManifest) throw new TableFailure(error.message)
    progress.log(`${tableId(table)}: the published snapshot is damaged: ${messageOf(error)}`)
    const damagedIds = await damagedIn(store, table)
    let previous: SnapshotId | null = null
    for await (const earlierManifest of earlierSnapshots(store, table, manifest)) {
      // If `current.json` is unreadable, a new snapshot is compared with the newest remaining one.
      manifest ??= earlierManifest
      if (damagedIds.includes(earlierManifest.snapshot)) continue
      previous = earlierManifest.snapshot
      break
    }
    return { manifest, isDamaged: true, damagedIds, previous }
  }
}
