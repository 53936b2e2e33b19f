import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Table, tableId } from '../../core/catalog/catalog.ts'
import { fileNames, type SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest, Source } from '../../core/warehouse/manifest.ts'
import type { GzipSection } from '../../core/warehouse/format/gzip-sections.ts'
import { changeKinds } from '../../core/warehouse/changes.ts'
import { readReport } from '../../core/warehouse/report.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { FieldProfile } from '../convert/profile/profile.ts'
import type { PreviousReport } from './drift.ts'
import type { LineCounts } from '../source/source-counts.ts'
import { paint } from '../base/paint.ts'
import { rejectLine, type Reject, type TableFailure } from '../base/rejects.ts'
import { alignedRows, counted, shorten } from '../../core/text.ts'

/**
 * kept = already published and not checked; skipped = it never had a source; held = rolled back and
 * unchanged; publishable = only checked, and new or changed.
 */
export type Outcome =
  | {
      readonly status: 'published'
      readonly table: Table
      readonly manifest: Manifest
      readonly report: IngestReport
    }
  | { readonly status: 'unchanged'; readonly table: Table; readonly manifest: Manifest }
  | { readonly status: 'held'; readonly table: Table; readonly withdrawn: SnapshotId }
  | { readonly status: 'publishable'; readonly table: Table }
  | { readonly status: 'kept'; readonly table: Table }
  | { readonly status: 'skipped'; readonly table: Table }
  | {
      readonly status: 'failed'
      readonly table: Table
      readonly failure: TableFailure
      readonly report: string
    }

export interface Findings {
  readonly sources: readonly string[]
  readonly rows: number
  /** Rows left out by `max_rejects`, and the first ones. */
  readonly rejectedRows: number
  readonly rejects: readonly Reject[]
  readonly warnings: readonly string[]
  readonly parts: readonly string[]
}

/** Receives facts early, since a failure has only a message. */
export type Learn = (findings: Partial<Findings>) => void

export interface IngestReport {
  readonly dataset: string
  readonly table: string
  readonly snapshot: SnapshotId
  readonly import_date: string
  readonly sources: readonly Pick<Source, 'name' | 'bytes' | 'sha256'>[]
  readonly rows_in: number
  readonly rows_out: number
  readonly rejected_rows: number
  readonly first_rejects: readonly Reject[]
  readonly lines: LineCounts
  readonly blank_lines: number
  readonly comment_lines: number
  /** Declared fields that some files lack (`union_by_name`). */
  readonly missing_columns: readonly { readonly file: string; readonly fields: readonly string[] }[]
  /** Lines left out at the ends of files, as the catalog declares. */
  readonly last_lines: readonly { readonly file: string; readonly text: string | null }[]
  /** Values of reused partitions, whose files were not read, so that the other counts exclude them. */
  readonly taken_over: readonly (string | null)[]
  readonly accepted_drift: readonly string[]
  readonly warnings: readonly string[]
  readonly fields: readonly FieldProfile[]
  /** The header, then each part. */
  readonly download_sections: readonly GzipSection[]
  readonly seconds: Readonly<Record<string, number>>
  readonly tools: Readonly<Record<string, string>>
}

const rejectsShown = 10

/**
 * Lines to print; none for tables that are only counted at the end.
 */
export function outcomeLines(outcome: Outcome, withFields = false): string[] {
  const id = tableId(outcome.table)
  switch (outcome.status) {
    case 'published':
      return [...publishedLines(id, outcome), ...(withFields ? profileLines(outcome.report) : [])]
    case 'unchanged':
      return [
        paint(
          'quiet',
          `${id}: unchanged, ${counted(outcome.manifest.rows, 'row')} since ${outcome.manifest.import_date}`,
        ),
      ]
    case 'held':
      return [
        `${id}: ${paint('warning', 'held back')}, since its source is that of the snapshot ${outcome.withdrawn}, which was rolled back; ` +
          `\`acervo ingest --accept-drift ${id}\` publishes it again`,
      ]
    case 'publishable':
    case 'kept':
    case 'skipped':
      return []
    case 'failed': {
      const { message, rejects, rejectCount, remedy } = outcome.failure
      return [
        `${id}: ${paint('bad', 'FAILED')}, ${message}`,
        ...rejectLines(rejects, rejectCount),
        ...(remedy === null ? [] : [`  remedy: ${remedy}`]),
        `  report: ${outcome.report}`,
      ]
    }
  }
}

function changedRows({ previous, changes = [] }: Manifest): string {
  const lastChanges = changes.find(({ since }) => since === previous)
  if (lastChanges === undefined) return ''
  const counts = changeKinds.flatMap((kind) =>
    lastChanges[kind] === 0 ? [] : [`${counted(lastChanges[kind], 'row')} ${kind}`],
  )
  return `; since ${lastChanges.since}: ${counts.length === 0 ? 'no row changed' : counts.join(', ')}`
}

function publishedLines(
  id: string,
  { report, manifest }: Extract<Outcome, { readonly status: 'published' }>,
): string[] {
  const seconds = Object.values(report.seconds).reduce((sum, step) => sum + step, 0)
  const lines = [
    `${id}: ${paint('good', 'published')} ${counted(report.rows_out, 'row')} in ${seconds.toFixed(1)} s (${report.snapshot})${changedRows(manifest)}; ${lineSum(report.lines)}`,
  ]
  if (report.rejected_rows > 0) {
    lines.push(
      `  ${counted(report.rejected_rows, 'row')} ${report.rejected_rows === 1 ? 'was' : 'were'} rejected and left out, as max_rejects allows:`,
    )
    lines.push(...rejectLines(report.first_rejects, report.first_rejects.length))
  }
  const filesByMissingFields = report.missing_columns
  for (const { file, fields } of filesByMissingFields.slice(0, rejectsShown))
    lines.push(`  ${file} lacks ${fields.map((name) => `"${name}"`).join(', ')}, so its rows have null there`)
  if (filesByMissingFields.length > rejectsShown)
    lines.push(`  and ${filesByMissingFields.length - rejectsShown} more files lack columns`)
  for (const { file, text } of report.last_lines.slice(0, rejectsShown)) {
    lines.push(`  left out at the end of ${file}${text === null ? '' : `: ${shortened(text)}`}`)
  }
  if (report.taken_over.length > 0)
    lines.push(
      report.taken_over.length === 1
        ? '  1 partition is unchanged and was not read'
        : `  ${report.taken_over.length.toLocaleString('en')} partitions are unchanged and were not read`,
    )
  for (const line of report.accepted_drift) lines.push(paint('warning', `  accepted: ${line}`))
  for (const line of report.warnings) lines.push(paint('warning', `  warning: ${line}`))
  return lines
}

function amount(count: number, singular: string, many: string): string[] {
  return count === 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? singular : many}`]
}

function lineSum({ all: total, ...counts }: LineCounts): string {
  const parts = [
    ...amount(counts.skipped, 'line skipped before the header', 'lines skipped before the header'),
    ...amount(counts.header, 'header', 'in the header'),
    ...amount(counts.repeatedHeaders, 'repeats the header', 'repeat the header'),
    ...amount(counts.dropped, 'dropped', 'dropped'),
    ...amount(counts.rows, 'row', 'rows'),
    ...amount(counts.breaks, 'line break in a value', 'line breaks in values'),
    ...amount(counts.rejected, 'rejected', 'rejected'),
    ...amount(counts.blank, 'blank', 'blank'),
    ...amount(counts.comments, 'comment', 'comments'),
    ...amount(counts.last, 'left out at the end', 'left out at the end'),
  ]
  return `${counted(total, 'line')}: ${parts.join(', ')}`
}

function rejectLines(rejects: readonly Reject[], count: number): string[] {
  const remaining = count - Math.min(rejects.length, rejectsShown)
  return [
    ...rejects.slice(0, rejectsShown).map((reject) => `  ${rejectLine(reject)}`),
    ...(remaining > 0 ? [`  and ${remaining.toLocaleString('en')} more`] : []),
  ]
}

const cellMax = 30

function profileLines({ fields, rows_out: rows }: IngestReport): string[] {
  const share = (nulls: number): string => (nulls === 0 ? '0' : `${((100 * nulls) / rows).toFixed(1)} %`)
  const cells = fields.map(({ name, type, nulls, distinct_estimate: estimate, distinct, min, max }) => [
    shortened(name),
    type,
    share(nulls),
    `${distinct === undefined ? 'about ' : ''}${estimate.toLocaleString('en')}`,
    shortened(min ?? ''),
    shortened(max ?? ''),
  ])
  const table = [['field', 'type', 'nulls', 'distinct', 'least', 'greatest'], ...cells]
  return alignedRows(table).map((line) => `  ${line}`)
}

function shortened(text: string): string {
  // Replaces control characters, which could move the cursor or change colours on a terminal.
  return shorten(text.replaceAll(/[\s\p{Cc}]+/gu, ' '), cellMax)
}

export async function writeReport(folder: string, report: IngestReport): Promise<void> {
  await writeFile(path.join(folder, fileNames.report), `${JSON.stringify(report, null, 2)}\n`)
}

/** Returns only the number of rows if the report is unreadable. */
export async function readPreviousReport(
  store: Store,
  table: Table,
  manifest: Manifest,
): Promise<PreviousReport> {
  const report = await readReport(store, table, manifest)
  // The manifest has the number of rows, but not the fields.
  return report === null
    ? { rows: manifest.rows, fields: [] }
    : { rows: report.rows_out, fields: report.fields }
}

export function failureReport({ dataset, name }: Table, failure: TableFailure, at: Date): object {
  return {
    dataset,
    table: name,
    at: at.toISOString(),
    problem: failure.message,
    remedy: failure.remedy,
    rejects: failure.rejectCount,
    first_rejects: failure.rejects,
  }
}
