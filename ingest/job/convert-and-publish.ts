import { lineCountsOf } from '../source/source-counts.ts'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { tableId } from '../../core/catalog/catalog.ts'
import { duckdbVersion } from '../../core/duckdb/database.ts'
import { clearFailure, clearRollbacks } from '../../core/warehouse/state-files.ts'
import { breakingPhrases, compareSchemas } from '../../core/warehouse/schema-change.ts'
import { filesOf, storedFields, unitsOf, type Changes } from '../../core/warehouse/manifest.ts'
import { FileUnavailable } from '../../core/warehouse/stores/store.ts'
import { publish } from '../../core/warehouse/publish.ts'
import { makeParts } from '../convert/parts/parts.ts'
import type { Conversion } from '../convert/conversion.ts'
import { writeServerFiles, type ServerFiles } from '../convert/indexes/indexes.ts'
import { profile, type FieldProfile } from '../convert/profile/profile.ts'
import { driftSince, emptySourceProblem } from './drift.ts'
import type { ReusedFile } from '../convert/parts/reused-partitions.ts'
import { requireExpectations } from './expectations.ts'
import { loadClickHouse } from '../publish/clickhouse.ts'
import { writeChanges } from '../publish/changes.ts'
import { createManifest, nameSnapshot } from '../publish/label.ts'
import { detailedRejectsMax, TableFailure } from '../base/rejects.ts'
import { readPreviousReport, writeReport, type IngestReport, type Learn, type Outcome } from './report.ts'
import { sourceTotals, partitionsAndHeader } from './source-totals.ts'
import { missingFilesDrift, warningsOf } from './source-warnings.ts'
import { stopwatch, type Job, type Stopwatch } from './job.ts'
import { pack, type PackedDownload, type ProvedParts } from './pack.ts'
import { pinReusable, readAndCast, type CastSource } from './read-and-cast.ts'

/**
 * Reads, casts, sorts, writes, verifies, tests and profiles the rows, and compares them with the previous
 * snapshot. Then writes indexes, the download and changes, and publishes.
 * @throws TableFailure if the source violates the catalog; nothing is published then
 */
export function convertAndPublish(job: Job): Promise<Outcome> {
  const steps = stopwatch(job)
  return convertSource(job, steps, async (source) => {
    const drift = await requireNoDrift(job, source)
    const { conversion, folder, plan, profiles, reusedByName } = source
    const reusedNames = new Set(reusedByName.keys())
    const files = await steps.time('indexing', () =>
      writeServerFiles(
        conversion,
        job.otherDb,
        folder,
        plan.parts,
        reusedNames,
        profiles,
        job.codedDistinctMax,
      ),
    )
    const packed = await steps.time('packing', () => pack(job, source), { reportsProgress: true })
    const isCompared = job.previous !== null && !job.withoutChanges
    const changes = isCompared ? await steps.time('comparing', () => changesOf(job, source)) : null
    return publishAndReport(job, steps, { ...source, files, changes }, drift, packed)
  })
}

/** Returns null if previous rows cannot be fetched, which must not keep new ones from being published. */
async function changesOf(
  { store, previous, progress, table }: Job,
  { conversion, folder, plan, rows, reusedByName }: Converted,
): Promise<Changes[] | null> {
  if (previous === null) return null
  const parts = plan.parts.map(({ file }) => file)
  try {
    return await writeChanges(conversion, { store, previous, folder, parts, rows, reused: reusedByName })
  } catch (error) {
    if (!(error instanceof FileUnavailable)) throw error
    progress.log(`${tableId(table)}: published without its changes: ${error.message}`)
    return null
  }
}

/**
 * Converts like `convertAndPublish`, but publishes nothing.
 * @param learn receives the rows before a comparison that may fail
 * @throws TableFailure if an ingest would publish nothing
 */
export function convertAndCompare(job: Job, learn: Learn): Promise<Outcome> {
  return convertSource(job, stopwatch(job), async (converted) => {
    const { folder, plan, rows, rejects } = converted
    const { records, rejectedRows } = sourceTotals(job, converted).counts
    const warnings = warningsOf(job, converted)
    const parts = plan.parts.map(({ file }) => path.join(folder, file))
    learn({ rows, rejectedRows: records + rejectedRows - rows, rejects, warnings, parts })
    const drift = await requireNoDrift(job, converted)
    learn({ warnings: [...warnings, ...drift.map((line) => `accepted: ${line}`)] })
    return { status: 'publishable', table: job.table }
  })
}

async function convertSource<Result>(
  job: Job,
  steps: Stopwatch,
  use: (converted: Converted) => Promise<Result>,
): Promise<Result> {
  const { reusable, release } = await pinReusable(job)
  try {
    const converted = await convert(job, await readAndCast(job, reusable, steps), steps)
    const areMet =
      job.table.expectations.length === 0 ||
      (await steps.time('testing', () => requireExpectations(job, converted)))
    if (areMet) {
      const { conversion, rows } = converted
      const profiles = await steps.time('profiling', () => profile(conversion, rows))
      return await use({ ...converted, profiles })
    }
  } finally {
    release()
  }
  // Expectations are broken, and reused rows have no line numbers to report: convert all files.
  // Without reuse, `requireExpectations` throws instead.
  const scratch = path.join(job.scratch, 'complete')
  await mkdir(scratch)
  return convertSource({ ...job, reusable: null, scratch }, steps, use)
}

interface Converted extends ConvertedRows {
  readonly profiles: readonly FieldProfile[]
}

interface ConvertedRows extends ProvedParts {
  readonly conversion: Conversion
  readonly rows: number
  readonly reusedByName: ReadonlyMap<string, ReusedFile>
  readonly headerDrift: readonly string[]
  readonly lacking: IngestReport['missing_columns']
}

async function convert(job: Job, castSource: CastSource, steps: Stopwatch): Promise<ConvertedRows> {
  const { scratch } = job
  const { reusable, intake, read, partitions } = castSource
  const folder = path.join(scratch, 'snapshot')
  await mkdir(folder)
  const { conversion, drift: headerDrift } = intake.matched
  const parts = await makeParts(conversion, intake.staged, {
    ...job,
    folder,
    reusable,
    partitions,
    time: steps.time,
  })
  const missingFieldsByFile = read.headers
    .map(({ file, header, constants }) => ({ file, fields: intake.lackingIn(header, constants) }))
    .filter(({ fields }) => fields.length > 0)
  return { ...castSource, ...parts, folder, headerDrift, lacking: missingFieldsByFile }
}

/**
 * Returns the accepted drift.
 * @throws TableFailure for other drift
 */
async function requireNoDrift(job: Job, converted: Converted): Promise<string[]> {
  const { table, store, acceptsDrift, before } = job
  const { rows, profiles, headerDrift } = converted
  const read = sourceTotals(job, converted)
  const previousReport = before && (await readPreviousReport(store, table, before))
  const schemaChange =
    before && compareSchemas(before, { fields: storedFields(table), units: unitsOf(table) })
  const breaking = schemaChange === null ? [] : breakingPhrases(schemaChange)
  const sourceDifferences = [
    ...headerDrift,
    ...missingFilesDrift(before, read, converted.read),
    ...driftSince(previousReport, rows, profiles),
  ]
  const differences = [...breaking, ...sourceDifferences]
  const emptyProblems = emptySourceProblem(table, read)
  const drift = [...differences, ...emptyProblems]
  if (drift.length === 0 || acceptsDrift) return drift
  const reason =
    before === null || differences.length === 0
      ? ''
      : sourceDifferences.length === 0
        ? `programs that read the snapshot of ${before.import_date} may break: `
        : `the source differs too much from the snapshot of ${before.import_date}: `
  const emptyAdvice =
    emptyProblems.length === 0
      ? ''
      : 'if the table may be empty, declare may_be_empty: true for it in the catalog; '
  throw new TableFailure(
    `${reason}${drift.join('; ')}. Check it; ${emptyAdvice}` +
      `\`acervo ingest --accept-drift ${tableId(table)}\` publishes it anyway`,
  )
}

async function publishAndReport(
  job: Job,
  steps: Stopwatch,
  converted: Converted & { readonly files: ServerFiles; readonly changes: Changes[] | null },
  drift: readonly string[],
  { sections, sums }: PackedDownload,
): Promise<Outcome> {
  const { table, dataset, store, definition, before, previous, now } = job
  const {
    conversion,
    folder,
    read,
    reusable,
    rejects,
    rows,
    plan,
    reusedByName,
    profiles,
    files,
    lacking,
    changes,
  } = converted
  const { files: sources, counts } = sourceTotals(job, converted)
  const labelled = {
    dataset,
    table,
    sources: sources.map(job.identify),
    rows,
    textBytes: counts.textBytes,
    definition,
    importDate: now(),
    before,
    previous,
    reusedFiles: reusedByName,
    isLoaded: table.engine === 'clickhouse',
    download: sums,
    changes,
    ...partitionsAndHeader(job, converted),
  }
  const parts = plan.parts.map(({ file, firstRow, rows: count }) => ({ file, firstRow, rows: count }))
  const namedManifest = await steps.time('hashing', () => nameSnapshot(labelled, folder, parts))
  const { clickHouse } = job
  if (labelled.isLoaded && clickHouse !== null)
    await steps.time(
      'loading',
      () => loadClickHouse(conversion, clickHouse, namedManifest.snapshot, rows, job.progress),
      { reportsProgress: true },
    )
  const report: IngestReport = {
    dataset: table.dataset,
    table: table.name,
    snapshot: namedManifest.snapshot,
    import_date: labelled.importDate.toISOString(),
    // Full addresses may name internal hosts or contain a token, and the report is public.
    sources,
    rows_in: counts.records + counts.rejectedRows,
    rows_out: rows,
    rejected_rows: counts.records + counts.rejectedRows - rows,
    first_rejects: rejects,
    lines: lineCountsOf(read.counts, reusable === null ? counts.records - rows : 0),
    blank_lines: counts.blank,
    comment_lines: counts.comments,
    missing_columns: lacking,
    last_lines: read.lastLines.slice(0, detailedRejectsMax),
    taken_over: reusable?.partitions.map(({ partition }) => partition.value) ?? [],
    accepted_drift: drift,
    warnings: warningsOf(job, converted),
    fields: profiles,
    download_sections: sections,
    seconds: steps.seconds,
    tools: { node: process.version, duckdb: duckdbVersion },
  }
  await writeReport(folder, report)
  const manifest = await createManifest(labelled, namedManifest, folder, files)
  const existingKeys = new Map([...reusedByName].map(([file, { key }]) => [file, key]))
  const writtenFiles = new Set(filesOf(manifest).map(({ file }) => file))
  // Removes reused files that are no longer needed.
  for (const file of [...existingKeys.keys()].filter((key) => !writtenFiles.has(key))) {
    await rm(path.join(folder, file))
    existingKeys.delete(file)
  }
  await publish(store, table, folder, manifest, existingKeys)
  await clearFailure(store, table)
  // No rollback holds back a source that is published again.
  await clearRollbacks(store, table)
  return { status: 'published', table, manifest, report }
}
