import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { quarantine } from '../../core/warehouse/history.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsFields, unmaskedFields, type Manifest, type Source } from '../../core/warehouse/manifest.ts'
import { clearFailure, readHashes, recordCheck, recordHashes } from '../../core/warehouse/state-files.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import { findReusable } from '../convert/parts/reused-partitions.ts'
import { convertAndCompare, convertAndPublish } from '../job/convert-and-publish.ts'
import { requireReferences } from '../job/expectations.ts'
import { fillClickHouse } from '../job/fill-clickhouse.ts'
import type { Job } from '../job/job.ts'
import type { Learn, Outcome } from '../job/report.ts'
import { expectedFiles } from '../source/find.ts'
import { SourceHashes } from '../source/hashes.ts'
import { definitionFor, duckdbLimits, obtainFor, rolledBackWith, withJob } from './open-job.ts'
import type { IngestOptions } from './options.ts'

export interface PublishedState {
  readonly manifest: Manifest | null
  readonly isDamaged: boolean
  /** All damaged snapshots, if the published one is; the next publication replaces them. */
  readonly damagedIds: readonly SnapshotId[]
  readonly previous: SnapshotId | null
}

interface DecideOptions extends IngestOptions {
  /** False to leave the warehouse as it is. */
  readonly publish: boolean
  readonly scratch: string
  readonly tableProgress: Progress
  /** Converted rows by `dataset/table`, to which references refer. */
  readonly unpublished: Job['referenced']
  readonly learn: Learn
}

/**
 * Does what a table needs: nothing, if its source is unchanged or was withdrawn, else a conversion.
 * @throws TableFailure if nothing can be published
 */
export async function ingestIfChanged(
  table: Table,
  published: PublishedState,
  options: DecideOptions,
): Promise<Outcome> {
  const { store, publish, scratch, tableProgress: progress, learn, acceptsDrift = false } = options
  const current = published.isDamaged ? null : published.manifest
  // Manifests of older releases list no masks.
  const isAsDeclared =
    current?.definition === definitionFor(table, options) && unmaskedFields(current, table).length === 0
  const knownSources = isAsDeclared ? current.sources : []
  const obtainedFiles = await obtainFor(table, options, { scratch, knownSources, progress })
  if (obtainedFiles === 'missing') return withoutSource(table, options.sources, published)
  const files = obtainedFiles === 'unchanged' ? [] : obtainedFiles
  learn({
    sources: [
      ...(obtainedFiles === 'unchanged' ? knownSources.map(({ address, name }) => address ?? name) : []),
      ...files.map(({ file, validators }) => validators?.address ?? path.join(options.sources, file.place)),
    ],
  })
  const hashes = await SourceHashes.of(files, await readHashes(store, table), {
    now: options.now(),
    settledMs: options.settledMs,
    believedMs: options.believedMs,
  })
  if (
    isAsDeclared &&
    (obtainedFiles === 'unchanged' || (await hashes.areOf(current.sources, obtainedFiles, table.source)))
  ) {
    await requireReferences(table, current, { ...options, limits: duckdbLimits(options, table) })
    if (publish) {
      await clearFailure(store, table)
      await fill(table, current, options)
      await note(table, hashes, current.sources, options)
      await recordCheck(store, table, 'unchanged', options.now())
    }
    return { status: 'unchanged', table, manifest: current }
  }
  if (obtainedFiles === 'unchanged')
    throw new Error('the source is unchanged, but the table is not published')
  const withdrawn = acceptsDrift ? null : await rolledBackWith(hashes, table, options)
  if (withdrawn !== null) {
    const trouble = whyNotServed(published, table)
    if (trouble !== null)
      throw new TableFailure(
        `${trouble}, and the source is that of the snapshot ${withdrawn}, which was rolled back; ` +
          `\`acervo ingest --accept-drift ${tableId(table)}\` publishes it again`,
      )
    if (publish) {
      if (current !== null) await fill(table, current, options)
      await recordCheck(store, table, 'held', options.now())
    }
    return { status: 'held', table, withdrawn }
  }
  const jobInputs = {
    obtainedFiles,
    before: published.manifest,
    previous: published.previous,
    scratch,
    progress,
  }
  if (!publish)
    return withJob(
      table,
      { ...jobInputs, reusable: null, unpublished: options.unpublished },
      options,
      (job) => convertAndCompare(job, learn),
    )
  // Set damaged files aside before they are replaced, so that a killed job leaves no manual work.
  await quarantine(store, table, published.damagedIds, options.now()).catch((error: unknown) =>
    progress.log(`${tableId(table)}: damaged files were not set aside: ${messageOf(error)}`),
  )
  const reusable =
    isAsDeclared && !acceptsDrift && table.partition !== null
      ? await findReusable(store, table, current, await hashes.files())
      : null
  const outcome = await withJob(table, { ...jobInputs, reusable }, options, convertAndPublish)
  if (outcome.status === 'published') await note(table, hashes, outcome.manifest.sources, options)
  return outcome
}

async function note(
  table: Table,
  hashes: SourceHashes,
  read: readonly Source[],
  { store, tableProgress: progress }: DecideOptions,
): Promise<void> {
  await recordHashes(store, table, hashes.recordOf(read)).catch((error: unknown) =>
    progress.log(`${tableId(table)}: the hashes of its source were not stored: ${messageOf(error)}`),
  )
}

async function fill(table: Table, current: Manifest, options: DecideOptions): Promise<void> {
  const { store, clickHouse, tableProgress: progress } = options
  if (table.engine !== 'clickhouse' || !clickHouse) return
  const limits = { ...duckdbLimits(options, table), progress }
  await fillClickHouse(store, table, current, clickHouse, limits).catch((error: unknown) =>
    progress.log(
      `${tableId(table)}: the published snapshot was not loaded into ClickHouse: ${messageOf(error)}`,
    ),
  )
}

function withoutSource(table: Table, sources: string, published: PublishedState): Outcome {
  const { manifest, isDamaged } = published
  if (manifest === null && !isDamaged) return { status: 'skipped', table }
  const trouble = whyNotServed(published, table)
  const servingNote =
    trouble === null ? `the snapshot of ${manifest?.import_date ?? ''} is still served` : `and ${trouble}`
  throw new TableFailure(
    `the source is missing: there is no ${expectedFiles(sources, table)}; ${servingNote}`,
  )
}

function whyNotServed({ manifest, isDamaged }: PublishedState, table: Table): string | null {
  if (manifest === null || isDamaged) return 'the published snapshot is damaged'
  return holdsFields(manifest, table)
    ? null
    : 'the fields of the published snapshot differ from the catalog, so it is not served'
}
