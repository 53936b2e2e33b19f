import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { hidesText, tableId, type Dataset, type Table } from '../core/catalog/catalog.ts'
import type { ClickHouse } from '../core/clickhouse/link.ts'
import type { Connection } from '../core/duckdb/connection.ts'
import { duckdbVersion } from '../core/duckdb/database.ts'
import { clearFailure } from '../core/warehouse/failure.ts'
import type { SnapshotId } from '../core/warehouse/layout.ts'
import { filesOf, type Manifest, type Partition, type Source } from '../core/warehouse/manifest.ts'
import { NotHere } from '../core/warehouse/not-here.ts'
import { publish } from '../core/warehouse/published.ts'
import type { DownloadMember } from '../core/warehouse/report.ts'
import type { Store } from '../core/warehouse/stores/store.ts'
import { forgetWithdrawn } from '../core/warehouse/withdrawn.ts'
import { sort, writeParts, type DuePart, type Work } from './convert/convert.ts'
import { Intake } from './convert/intake.ts'
import { writeIndexes, type NumberedBefore, type Written } from './convert/indexes.ts'
import { numberKept } from './convert/kept-values.ts'
import { partitionsIn, type SortedPartition } from './convert/partitions.ts'
import { profile, type FieldProfile } from './convert/profile.ts'
import { reconcilePublished } from './convert/reconcile.ts'
import { driftSince, emptinessOf } from './drift.ts'
import {
  downloadBefore,
  heldFiles,
  isTaken,
  planned,
  takenFiles,
  takeOver,
  valuesBefore,
  without,
  type Kept,
  type Planned,
  type TakenFile,
} from './partitions.ts'
import type { Progress } from './progress.ts'
import { loadClickHouse } from './publish/clickhouse.ts'
import { writeDownload, type MemberBefore } from './publish/download.ts'
import { label, nameSnapshot } from './publish/label.ts'
import { rejectsKeptMax, TableFailure, type Reject } from './rejects.ts'
import { readBefore, writeReport, type Outcome, type Report } from './report.ts'
import type { Batch } from './source/batches.ts'
import { readSource, type FileTally, type ReadFile, type ReadSource } from './source/read.ts'
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
  /** What of it is taken over; null where all is read. */
  readonly kept: Kept | null
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
  /** Null where there is none. */
  readonly clickHouse: ClickHouse | null
  readonly now: () => Date
}

/**
 * read and cast in batches -> sort -> write -> reconcile -> index -> compare with the snapshot before -> pack -> publish.
 *
 * @throws TableFailure where the source is not what the catalog declares; nothing is published then
 */
export async function convertAndPublish(job: Job): Promise<Outcome> {
  const steps = stopwatch(job)
  const { kept, letGo } = await heldOf(job)
  try {
    const taken = await takeIn(job, kept, steps)
    const converted = await convert(job, taken, steps)
    const drift = await requireLikeness(job, converted)
    const members = await steps.time('packing', () => pack(job, converted), 'own')
    return await publishAndReport(job, steps, converted, drift, members)
  } finally {
    letGo()
  }
}

/** What is taken over has to be here; where that is more than may be, all is read. */
async function heldOf({ store, table, kept }: Job): Promise<{ kept: Kept | null; letGo: () => void }> {
  try {
    return { kept, letGo: await store.hold(kept === null ? [] : heldFiles(table, kept)) }
  } catch (error) {
    if (!(error instanceof NotHere)) throw error
    return { kept: null, letGo: () => undefined }
  }
}

/** What was read of a source, and what did not have to be. */
interface TakenIn {
  readonly kept: Kept | null
  readonly intake: Intake
  readonly read: ReadSource
  readonly rejects: readonly Reject[]
  /** Of the rows that were read, in their order. */
  readonly partitions: readonly SortedPartition[]
}

/** Reads and casts what is not taken over; where a file turns out to belong to what was to be, that too. */
async function takeIn(job: Job, held: Kept | null, steps: Stopwatch): Promise<TakenIn> {
  const { table, files, scratch, db, progress, acceptsDrift, limits } = job
  let kept = held
  for (let round = 0; ; round += 1) {
    const folder = path.join(scratch, `read-${round}`)
    await mkdir(folder)
    const others = kept?.partitions.map(({ partition }) => partition.lacks) ?? []
    const hasElsewhere = (name: string): boolean => others.some((lacks) => !lacks.includes(name))
    const intake = new Intake({ table, db, scratch, acceptsDrift, hasElsewhere })
    const taker = { folder, bytes: job.batchBytes, take: (batch: Batch) => intake.take(batch) }
    const places = kept === null ? [...files.keys()] : kept.read
    const due = places.flatMap((place) => files[place] ?? [])
    const read = await steps.time('reading', () => readSource(due, { table, progress, limits, taker }), 'own')
    const rejects = await requireFewRejects(job, intake, read, due, kept)
    const { staged } = intake
    if (table.partition === null)
      return { kept, intake, read, rejects, partitions: [{ value: null, rows: staged.goodRows, files: [] }] }
    const partitions = await partitionsIn(intake.taken.work, staged, read)
    if (kept === null) return { kept, intake, read, rejects, partitions }
    const values = new Set(partitions.map(({ value }) => value))
    const isMet = kept.partitions.some(({ partition }) => values.has(partition.value))
    const isAlike = table.source.unionByName || headerOf(read) === kept.before.header
    if (isAlike && !isMet) return { kept, intake, read, rejects, partitions }
    kept = isAlike ? without(kept, values, files.length) : null
    await rm(folder, { recursive: true })
  }
}

/** What all files that are not joined by name have in common. */
function headerOf({ headers }: ReadSource): string {
  return createHash('sha256').update(JSON.stringify(headers[0]?.header)).digest('hex')
}

/** Parts that lie proved in a folder, and all that was learnt on the way. */
interface Converted extends TakenIn {
  readonly work: Work
  readonly folder: string
  readonly rows: number
  readonly plan: Planned
  /** Files of the snapshot before. */
  readonly taken: ReadonlyMap<string, TakenFile>
  readonly profiles: readonly FieldProfile[]
  readonly beside: Written
  /** What of the header is not as declared, and was accepted. */
  readonly ofHeader: readonly string[]
  /** The fields that files lack which are joined by name. */
  readonly lacking: Report['missing_columns']
}

async function convert(job: Job, taken: TakenIn, steps: Stopwatch): Promise<Converted> {
  const { table, store, scratch, progress, partRows } = job
  const { kept, intake, read, partitions } = taken
  const folder = path.join(scratch, 'snapshot')
  await mkdir(folder)
  const { staged } = intake
  const { work: ofRead, drift: ofHeader } = intake.taken
  const plan = planned(table, kept, partitions, partRows)
  const files = kept === null ? new Map<string, TakenFile>() : takenFiles(table, kept, plan.parts)
  await steps.time('sorting', () => sort(ofRead, staged))
  const due = plan.parts.filter((part): part is DuePart => !isTaken(part))
  await steps.time('writing', () => writeParts(ofRead, folder, due, progress), 'own')
  await takeOver(store, files.values(), folder)
  await steps.time('reconciling', () => reconcilePublished(ofRead, folder, due, staged))
  const parts = plan.parts.map(({ file, ...part }) => ({ ...part, path: path.join(folder, file) }))
  const work = kept === null ? ofRead : { ...ofRead, parts }
  const rows = plan.parts.reduce((sum, part) => sum + part.rows, 0)
  const before =
    kept === null ? null : await steps.time('counting', () => numberedBefore(job, work, ofRead, plan, kept))
  const profiles = await steps.time('profiling', () => profile(work, rows, before?.fields))
  const beside = await steps.time('indexing', () =>
    writeIndexes(work, folder, plan.parts, new Set(files.keys()), profiles, job.codedDistinctMax, before),
  )
  const lacking = read.headers
    .map(({ file, header, constants }) => ({ file, fields: intake.lackingIn(header, constants) }))
    .filter(({ fields }) => fields.length > 0)
  return { ...taken, work, folder, rows, plan, taken: files, profiles, beside, ofHeader, lacking }
}

/** The values of fields, counted by what the snapshot before knows of them; null where it knows nothing. */
async function numberedBefore(
  { store, table }: Job,
  work: Work,
  read: Work,
  plan: Planned,
  kept: Kept,
): Promise<NumberedBefore | null> {
  const values = valuesBefore(store, table, kept, plan)
  return values === null ? null : { values, fields: await numberKept(work, read, values) }
}

async function pack(
  { table, store, progress }: Job,
  { intake, folder, plan, read, kept }: Converted,
): Promise<DownloadMember[]> {
  const file = kept === null ? '' : store.place(downloadBefore(table, kept).key)
  const pieces = plan.parts.map((part): DuePart | MemberBefore => {
    if (!isTaken(part)) return part
    const { member, memberStart: start } = part.taken
    return { file, start, member, rows: part.rows }
  })
  return writeDownload(intake.taken.work, folder, pieces, read.breaks > 0, progress)
}

/**
 * What is unlike the snapshot before, or unlikely in itself, in sentences, where that was accepted.
 *
 * @throws TableFailure where it was not
 */
async function requireLikeness(job: Job, converted: Converted): Promise<string[]> {
  const { table, store, acceptsDrift, before } = job
  const { rows, profiles, ofHeader } = converted
  const read = allRead(job, converted)
  const known = before && (await readBefore(store, table, before))
  const unlike = [...ofHeader, ...goneFiles(before, read), ...driftSince(known, rows, profiles)]
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

/** What the whole source comes to, with what was taken over. */
function allRead(
  { files }: Job,
  { read, kept }: TakenIn,
): Omit<FileTally, 'members'> & Pick<ReadSource, 'files'> {
  const partitions = kept?.partitions.map(({ partition }) => partition) ?? []
  const sum = (of: (one: Omit<FileTally, 'members'>) => number): number =>
    partitions.reduce((total, one) => total + of(one), of(read))
  const sources = kept?.before.sources ?? []
  const known = new Map(sources.map((source) => [source.name, source]))
  const fresh = new Map(read.files.map((file) => [file.name, file]))
  return {
    // A name alone says which file it is where some are taken over.
    files:
      kept === null
        ? read.files
        : files.map(({ name, bytes }) => {
            const { sha256 } = fresh.get(name) ?? known.get(name) ?? { sha256: '' }
            return { name, bytes, sha256 }
          }),
    records: sum(({ records }) => records),
    rejectedRows: sum(({ rejectedRows }) => rejectedRows),
    textBytes: sum(({ textBytes }) => textBytes),
    blankLines: sum(({ blankLines }) => blankLines),
    commentLines: sum(({ commentLines }) => commentLines),
  }
}

/** What the next ingest may take over. */
function partitionsOf(
  { table, files }: Job,
  { read, intake, kept, plan }: Converted,
): Pick<Manifest, 'partitions' | 'header'> {
  if (table.partition === null) return {}
  const places = kept === null ? [...files.keys()] : kept.read
  let first = 0
  const lackingIn = read.tallies.map(({ members }) => {
    const own = read.headers.slice(first, first + members)
    first += members
    return own.map(({ header, constants }) => intake.lackingIn(header, constants))
  })
  const partitions = plan.partitions.map((partition): Partition => {
    if ('sources' in partition) return partition
    const tallies = partition.files.flatMap((file) => read.tallies[file] ?? [])
    const sum = (of: (one: FileTally) => number): number => tallies.reduce((total, one) => total + of(one), 0)
    const [lacks = [], ...others] = partition.files.flatMap((file) => lackingIn[file] ?? [])
    return {
      value: partition.value,
      rows: partition.rows,
      sources: partition.files.flatMap((file) => places[file] ?? []),
      records: sum(({ records }) => records),
      rejectedRows: sum(({ rejectedRows }) => rejectedRows),
      textBytes: sum(({ textBytes }) => textBytes),
      blankLines: sum(({ blankLines }) => blankLines),
      commentLines: sum(({ commentLines }) => commentLines),
      lacks: lacks.filter((name) => others.every((other) => other.includes(name))),
    }
  })
  return { partitions, ...(!table.source.unionByName && { header: headerOf(read) }) }
}

async function publishAndReport(
  job: Job,
  steps: Stopwatch,
  converted: Converted,
  drift: readonly string[],
  members: readonly DownloadMember[],
): Promise<Outcome> {
  const { table, dataset, store, definition, before, previous, now } = job
  const { work, folder, read, kept, rejects, rows, plan, taken, profiles, beside, lacking } = converted
  const all = allRead(job, converted)
  const labelled = {
    dataset,
    table,
    sources: all.files.map(job.identify),
    rows,
    textBytes: all.textBytes,
    definition,
    importDate: now(),
    before,
    previous,
    taken,
    isLoaded: table.engine === 'clickhouse',
    ...partitionsOf(job, converted),
  }
  const parts = plan.parts.map(({ file, firstRow, rows: count }) => ({ file, firstRow, rows: count }))
  const named = await steps.time('hashing', () => nameSnapshot(labelled, folder, parts))
  const { clickHouse } = job
  if (labelled.isLoaded && clickHouse !== null)
    await steps.time(
      'loading',
      () => loadClickHouse(work, clickHouse, named.snapshot, rows, job.progress),
      'own',
    )
  const report: Report = {
    dataset: table.dataset,
    table: table.name,
    snapshot: named.snapshot,
    import_date: labelled.importDate.toISOString(),
    // Addresses may be of inner hosts, or carry a token; the report is public.
    sources: all.files,
    rows_in: all.records + all.rejectedRows,
    rows_out: rows,
    rejected_rows: all.records + all.rejectedRows - rows,
    first_rejects: rejects,
    blank_lines: all.blankLines,
    comment_lines: all.commentLines,
    missing_columns: lacking,
    last_lines: read.lastLines.slice(0, rejectsKeptMax),
    taken_over: kept?.partitions.map(({ partition }) => partition.value) ?? [],
    accepted_drift: drift,
    warnings: warningsOf(job, read),
    fields: profiles,
    download_members: members,
    seconds: steps.seconds,
    tools: { node: process.version, duckdb: duckdbVersion },
  }
  await writeReport(folder, report)
  const manifest = await label(labelled, named, folder, beside)
  const same = new Map([...taken].map(([file, { key }]) => [file, key]))
  const written = new Set(filesOf(manifest).map(({ file }) => file))
  // Such as texts of fields that have codes by now.
  for (const file of [...same.keys()].filter((one) => !written.has(one))) {
    await rm(path.join(folder, file))
    same.delete(file)
  }
  await publish(store, table, folder, manifest, same)
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
function goneFiles(earlier: Manifest | null, { files }: Pick<ReadSource, 'files'>): string[] {
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
  files: readonly PlacedFile[],
  kept: Kept | null,
): Promise<readonly Reject[]> {
  if (badRows === 0 && read.rejectedRows === 0) return []
  const records = new Set(values.map(({ record }) => record))
  const { table, limits, progress } = job
  const located =
    records.size === 0
      ? null
      : await readSource(files, { table, progress, limits, taker: null, locate: records })
  const bad = values.map(({ record, field, text, reason }): Reject => {
    const { file = '', line = 0 } = located?.lines.get(record) ?? {}
    return {
      ...(job.files.length > 1 && { file }),
      line,
      field,
      text: hidesText(table) ? null : text,
      reason,
    }
  })
  const rejects = [...read.rejects, ...bad].slice(0, rejectsKeptMax)
  const before = kept?.partitions.reduce((sum, { partition }) => sum + leftOut(partition), 0) ?? 0
  const rows = badRows + read.rejectedRows + before
  if (rows <= table.rejectsMax) return rejects
  const allowed = table.rejectsMax === 0 ? '' : `, and the catalog allows ${table.rejectsMax}`
  const what = rows === 1 ? 'a row is' : `${rows.toLocaleString('en')} rows are`
  throw new TableFailure(
    `${what} not what the catalog declares${allowed}; nothing was published`,
    rejects,
    badCount + read.rejectedRows,
  )
}

const leftOut = ({ records, rejectedRows, rows }: Partition): number => records + rejectedRows - rows

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
