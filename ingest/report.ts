import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../core/catalog/catalog.ts'
import { tableId } from '../core/catalog/catalog.ts'
import { layout } from '../core/warehouse/layout.ts'
import type { Manifest } from '../core/warehouse/manifest.ts'
import { renameDurably, writeDurably } from './durable.ts'
import type { ProvedField } from './prove.ts'
import { rejectLine, type TableFailure } from './rejects.ts'

/** What came of one table: kept = published already and not looked at; skipped = it never had a source. */
export type Outcome =
  | {
      readonly status: 'published'
      readonly table: Table
      readonly manifest: Manifest
      readonly seconds: number
    }
  | { readonly status: 'unchanged'; readonly table: Table; readonly manifest: Manifest }
  | { readonly status: 'kept'; readonly table: Table }
  | { readonly status: 'skipped'; readonly table: Table }
  | {
      readonly status: 'failed'
      readonly table: Table
      readonly failure: TableFailure
      readonly report: string
    }

/** Rejects shown on the terminal; the report file has more. */
const rejectsShown = 10

/** The lines that tell a person about an outcome; those without news are only counted. */
export function outcomeLines(outcome: Outcome): string[] {
  const id = tableId(outcome.table)
  switch (outcome.status) {
    case 'published': {
      const { rows, snapshot } = outcome.manifest
      return [
        `${id}: published ${rows.toLocaleString('en')} rows in ${outcome.seconds.toFixed(1)} s (${snapshot})`,
      ]
    }
    case 'unchanged':
      return [
        `${id}: unchanged, ${outcome.manifest.rows.toLocaleString('en')} rows since ${outcome.manifest.import_date}`,
      ]
    case 'kept':
    case 'skipped':
      return []
    case 'failed': {
      const { message, rejects, rejectCount } = outcome.failure
      const more = rejectCount - Math.min(rejects.length, rejectsShown)
      return [
        `${id}: FAILED, ${message}`,
        ...rejects.slice(0, rejectsShown).map((reject) => `  ${rejectLine(reject)}`),
        ...(more > 0 ? [`  and ${more.toLocaleString('en')} more`] : []),
        `  report: ${outcome.report}`,
      ]
    }
  }
}

/** `report.json`, beside the parts: what the ingest saw and proved. */
export async function writeReport(
  folder: string,
  manifest: Manifest,
  facts: { blankLines: number; fields: readonly ProvedField[]; seconds: Readonly<Record<string, number>> },
): Promise<void> {
  const { dataset, table, snapshot, import_date, source, rows, tools } = manifest
  const report = {
    dataset,
    table,
    snapshot,
    import_date,
    source,
    rows_in: rows,
    rows_out: rows,
    rejects: 0,
    blank_lines: facts.blankLines,
    fields: facts.fields,
    seconds: facts.seconds,
    tools,
  }
  await writeDurably(path.join(folder, layout.report), `${JSON.stringify(report, null, 2)}\n`)
}

/** Writes why a table was not published, beside its snapshots -> path of the file. */
export async function writeFailure(
  warehouse: string,
  table: Table,
  failure: TableFailure,
  at: Date,
): Promise<string> {
  const file = layout.failure(warehouse, table)
  await mkdir(path.dirname(file), { recursive: true })
  const report = {
    dataset: table.dataset,
    table: table.name,
    at: at.toISOString(),
    problem: failure.message,
    rejects: failure.rejectCount,
    first_rejects: failure.rejects,
  }
  const draft = `${file}.${process.pid}.draft`
  await writeDurably(draft, `${JSON.stringify(report, null, 2)}\n`)
  await renameDurably(draft, file)
  return file
}

/** A table that is well again has no failure. */
export async function clearFailure(warehouse: string, table: Table): Promise<void> {
  await rm(layout.failure(warehouse, table), { force: true })
}
