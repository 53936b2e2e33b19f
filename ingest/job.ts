import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { hidesText, tableId, type Dataset, type Table } from '../core/catalog/catalog.ts'
import type { Connection } from '../core/duckdb/connection.ts'
import { duckdbVersion } from '../core/duckdb/database.ts'
import { clearFailure } from '../core/warehouse/failure.ts'
import type { SnapshotId } from '../core/warehouse/layout.ts'
import type { Manifest, Source } from '../core/warehouse/manifest.ts'
import { publish } from '../core/warehouse/published.ts'
import type { DownloadMember } from '../core/warehouse/report.ts'
import type { Store } from '../core/warehouse/stores/store.ts'
import { forgetWithdrawn } from '../core/warehouse/withdrawn.ts'
import { sort, writeParts, type Staged, type Work, type WrittenPart } from './convert/convert.ts'
import { Intake } from './convert/intake.ts'
import { writeIndexes, type Written } from './convert/indexes.ts'
import { profile, type FieldProfile } from './convert/profile.ts'
import { reconcilePublished } from './convert/reconcile.ts'
import { driftSince, emptinessOf } from './drift.ts'
import type { Progress } from './progress.ts'
import { writeDownload } from './publish/download.ts'
import { label, nameSnapshot } from './publish/label.ts'
import { rejectsKeptMax, TableFailure, type Reject } from './rejects.ts'
import { readBefore, writeReport, type Outcome, type Report } from './report.ts'
import type { Batch } from './source/batches.ts'
import { readSource, type ReadFile, type ReadSource } from './source/read.ts'
import type { PlacedFile, UnpackLimits } from './source/member.ts'
import { packingOf } from './source/packings.ts'

/** One table whose source is to be converted. */
export interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly files: readonly PlacedFile[]
  /** What else is known of a file that was read, such as its address. */
  readonly identify: (file: ReadFile, index: number) => Source
  readonly limits: UnpackLimits
  readonly store: Store
  /** What is published now, damaged or not: a new snapshot is compared with it. */
  readonly before: Manifest | null
  /** What a rollback of the new snapshot would lead to. */
  readonly previous: SnapshotId | null
  /** Folder of this job alone, from which the warehouse takes what is finished. */
  readonly scratch: string
  readonly db: Connection
  readonly progress: Progress
  readonly partRows: number
  /** Of the table, as `definitionOf` tells it. */
  readonly definition: string
  /** Fields of the catalog's filters with more different values have no codes. */
  readonly codedDistinctMax: number
  /** Text that is cast at once. */
  readonly batchBytes: number
  readonly acceptsDrift: boolean
  readonly now: () => Date
}

/**
 * read and cast in batches -> sort -> write -> reconcile -> index -> compare with the snapshot before -> pack -> publish.
 *
 * @throws TableFailure where the source is not what the catalog declares; nothing is published then
 */
export async function convertAndPublish(job: Job): Promise<Outcome> {
  const steps = stopwatch(job)
  const converted = await convert(job, steps)
  const drift = await requireLikeness(job, converted)
  const { work, folder, parts, read } = converted
  const pack = () => writeDownload(work, folder, parts, read.breaks > 0, job.progress)
  const members = await steps.time('packing', pack, 'own')
  return publishAndReport(job, steps, converted, drift, members)
}

/** Parts that lie proved in a folder, and all that was learnt on the way. */
interface Converted {
  readonly work: Work
  readonly folder: string
  readonly read: ReadSource
  readonly staged: Staged
  readonly rejects: readonly Reject[]
  readonly parts: readonly WrittenPart[]
  readonly profiles: readonly FieldProfile[]
  readonly beside: Written
  /** What of the header is not as declared, and was accepted. */
  readonly ofHeader: readonly string[]
  /** The fields that files lack which are joined by name. */
  readonly lacking: Report['missing_columns']
}

async function convert(job: Job, steps: Stopwatch): Promise<Converted> {
  const { table, files, scratch, db, progress, partRows, acceptsDrift, limits } = job
  const folder = path.join(scratch, 'snapshot')
  await mkdir(folder)
  const intake = new Intake({ table, db, scratch, acceptsDrift })
  const taker = { folder: scratch, bytes: job.batchBytes, take: (batch: Batch) => intake.take(batch) }
  const read = await steps.time('reading', () => readSource(files, { table, progress, limits, taker }), 'own')
  const rejects = await requireFewRejects(job, intake, read)
  const { staged } = intake
  const { work, drift: ofHeader } = intake.taken
  await steps.time('sorting', () => sort(work, staged))
  const write = (): Promise<WrittenPart[]> => writeParts(work, folder, staged.goodRows, partRows, progress)
  const parts = await steps.time('writing', write, 'own')
  await steps.time('reconciling', () => reconcilePublished(work, folder, parts, staged))
  const profiles = await steps.time('profiling', () => profile(work, staged.goodRows))
  const beside = await steps.time('indexing', () =>
    writeIndexes(work, folder, parts, profiles, job.codedDistinctMax),
  )
  const lacking = read.headers
    .map(({ file, header, constants }) => ({ file, fields: intake.lackingIn(header, constants) }))
    .filter(({ fields }) => fields.length > 0)
  return { work, folder, read, staged, rejects, parts, profiles, beside, ofHeader, lacking }
}

/**
 * What is unlike the snapshot before, or unlikely in itself, in sentences, where that was accepted.
 *
 * @throws TableFailure where it was not
 */
async function requireLikeness(job: Job, { read, staged, profiles, ofHeader }: Converted): Promise<string[]> {
  const { table, store, acceptsDrift, before } = job
  const known = before && (await readBefore(store, table, before))
  const unlike = [...ofHeader, ...goneFiles(before, read), ...driftSince(known, staged.goodRows, profiles)]
  const empty = emptinessOf(table, read)
  const drift = [...unlike, ...empty]
  if (drift.length === 0 || acceptsDrift) return drift
  const since =
    before === null || unlike.length === 0
      ? ''
      : `the source is unlike the snapshot of ${before.import_date}: `
  const always =
    empty.length === 0 ? '' : 'where the table may have none, its may_be_empty: true in the catalog says so; '
  throw new TableFailure(
    `${since}${drift.join('; ')}. Look at it; ${always}` +
      `\`make ingest ACCEPT_DRIFT=1 TABLES=${tableId(table)}\` (--accept-drift) publishes it all the same`,
  )
}

async function publishAndReport(
  job: Job,
  steps: Stopwatch,
  { folder, read, staged, rejects, parts, profiles, beside, lacking }: Converted,
  drift: readonly string[],
  members: readonly DownloadMember[],
): Promise<Outcome> {
  const { table, dataset, store, definition, before, previous, now } = job
  const labelled = {
    dataset,
    table,
    sources: read.files.map(job.identify),
    rows: staged.goodRows,
    textBytes: read.textBytes,
    definition,
    importDate: now(),
    before,
    previous,
  }
  const named = await steps.time('hashing', () => nameSnapshot(labelled, folder, parts))
  const report: Report = {
    dataset: table.dataset,
    table: table.name,
    snapshot: named.snapshot,
    import_date: labelled.importDate.toISOString(),
    // Addresses may be of inner hosts, or carry a token; the report is public.
    sources: read.files,
    rows_in: read.records + read.rejectedRows,
    rows_out: staged.goodRows,
    rejected_rows: read.rejectedRows + staged.badRows,
    first_rejects: rejects,
    blank_lines: read.blankLines,
    comment_lines: read.commentLines,
    missing_columns: lacking,
    last_lines: read.lastLines.slice(0, rejectsKeptMax),
    accepted_drift: drift,
    warnings: warningsOf(job, read),
    fields: profiles,
    download_members: members,
    seconds: steps.seconds,
    tools: { node: process.version, duckdb: duckdbVersion },
  }
  await writeReport(folder, report)
  const manifest = await label(labelled, named, folder, beside)
  await publish(store, table, folder, manifest)
  await clearFailure(store, table)
  // What is published anew is not held back any more.
  await forgetWithdrawn(store, table)
  return { status: 'published', table, manifest, report }
}

function warningsOf({ table, files }: Job, { unended, endless }: ReadSource): string[] {
  // What is packed, or summed up elsewhere, tells itself that it is whole.
  const unmeasured = files.filter(
    ({ name, isUnmeasured }) =>
      isUnmeasured === true && packingOf(name) === null && table.source.checksums === null,
  )
  return [
    ...unended.map((file) => `the last line of ${file} is not ended: see that it is not cut off`),
    ...endless.map(
      (file) =>
        `no line of ${file} begins with ${JSON.stringify(table.source.stopAt)}, where its rows were to end: see that it is not cut off`,
    ),
    ...unmeasured.map(({ name }) => `the server did not say how long ${name} is: see that it is not cut off`),
  ]
}

/** Of several files, one that is not there any more takes its rows with it in silence. */
function goneFiles(earlier: Manifest | null, { files }: ReadSource): string[] {
  if (earlier === null || earlier.sources.length < 2) return []
  const names = new Set(files.map(({ name }) => name))
  const gone = earlier.sources.filter(({ name }) => !names.has(name))
  return gone.map(({ name }) => `the file ${name} of the source is gone`)
}

/**
 * The rejects of a source that has no more than the catalog allows, the first ones whole.
 *
 * @throws TableFailure with every bad row and value, and its line, where there are more
 */
async function requireFewRejects(
  job: Job,
  { staged: { badRows }, badCount, badValues: values }: Intake,
  read: ReadSource,
): Promise<readonly Reject[]> {
  if (badRows === 0 && read.rejectedRows === 0) return []
  const records = new Set(values.map(({ record }) => record))
  const { table, files, limits, progress } = job
  const located =
    records.size === 0
      ? null
      : await readSource(files, { table, progress, limits, taker: null, locate: records })
  const bad = values.map(({ record, field, text, reason }): Reject => {
    const { file = '', line = 0 } = located?.lines.get(record) ?? {}
    return {
      ...(read.files.length > 1 && { file }),
      line,
      field,
      text: hidesText(table) ? null : text,
      reason,
    }
  })
  const rejects = [...read.rejects, ...bad].slice(0, rejectsKeptMax)
  const rows = badRows + read.rejectedRows
  if (rows <= table.rejectsMax) return rejects
  const allowed = table.rejectsMax === 0 ? '' : `, and the catalog allows ${table.rejectsMax}`
  const what = rows === 1 ? 'a row is' : `${rows.toLocaleString('en')} rows are`
  throw new TableFailure(
    `${what} not what the catalog declares${allowed}; nothing was published`,
    rejects,
    badCount + read.rejectedRows,
  )
}

const progressEveryMs = 100

type Stopwatch = ReturnType<typeof stopwatch>

/** Times the steps of a job and shows how far DuckDB is in each, where the step does not tell itself. */
function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  return {
    seconds,
    time: async <T>(name: string, work: () => Promise<T>, own?: 'own'): Promise<T> => {
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
