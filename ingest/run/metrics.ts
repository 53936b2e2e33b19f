import { randomUUID } from 'node:crypto'
import { chmod, rename, rm, writeFile } from 'node:fs/promises'
import { Gauge, Registry } from 'prom-client'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { readChecks } from '../../core/warehouse/state-files.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { readReport } from '../../core/warehouse/report.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import type { Outcome } from '../job/report.ts'

interface Run {
  readonly outcomes: readonly Outcome[]
  readonly began: Date
  readonly endedAt: Date
}

/** State of all tables, from the warehouse, for the textfile collector of node_exporter. */
export async function ingestMetrics(store: Store, catalog: Catalog, run: Run): Promise<string> {
  const registry = new Registry()
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<Label> => new Gauge({ name, help, labelNames, registers: [registry] })
  const rows = gauge('acervo_ingest_rows', 'Rows of the published snapshot.', ['table'])
  const rejected = gauge('acervo_ingest_rejected_rows', 'Rejected rows of the source.', ['table'])
  const seconds = gauge('acervo_ingest_step_seconds', 'Duration of each step of the ingest.', [
    'table',
    'step',
  ])
  const succeeded = gauge(
    'acervo_ingest_last_success_timestamp_seconds',
    'Last time when an ingest published the source, or found it already published.',
    ['table'],
  )
  const failing = gauge('acervo_ingest_failing', '1 if the last check of the source failed.', ['table'])
  for (const table of allTables(catalog)) {
    const labels = { table: tableId(table) }
    const status = await ingestStatusOf(store, table)
    if (status === null) continue
    rows.set(labels, status.rows)
    rejected.set(labels, status.rejectedRows)
    for (const [step, duration] of Object.entries(status.seconds)) seconds.set({ ...labels, step }, duration)
    if (status.succeededAt !== null) succeeded.set(labels, status.succeededAt / 1000)
    failing.set(labels, Number(status.isFailing))
  }
  gauge('acervo_ingest_last_run_timestamp_seconds', 'End of the last run.', []).set(
    run.endedAt.getTime() / 1000,
  )
  gauge('acervo_ingest_last_run_seconds', 'Duration of the last run.', []).set(
    (run.endedAt.getTime() - run.began.getTime()) / 1000,
  )
  const tablesByOutcome = gauge('acervo_ingest_last_run_tables', 'Tables of the last run by outcome.', [
    'outcome',
  ])
  for (const status of ['published', 'unchanged', 'held', 'kept', 'skipped', 'failed'] as const) {
    tablesByOutcome.set(
      { outcome: status },
      run.outcomes.filter((outcome) => outcome.status === status).length,
    )
  }
  return registry.metrics()
}

async function ingestStatusOf(store: Store, table: Table) {
  // The latest check comes first.
  const checks = await readChecks(store, table)
  const manifest = await publishedOf(store, table).catch(() => null)
  if (checks.length === 0 && manifest === null) return null
  const report = manifest === null ? null : await readReport(store, table, manifest)
  const lastSuccess = checks.find(({ outcome }) => outcome !== 'failed')
  const successes = [manifest?.import_date, lastSuccess?.at].flatMap((time) =>
    time === undefined ? [] : [Date.parse(time)],
  )
  const succeededAt = successes.length === 0 ? null : Math.max(...successes)
  const lastFailure = checks.find(({ outcome }) => outcome === 'failed')
  return {
    rows: manifest?.rows ?? 0,
    rejectedRows: report?.rejected_rows ?? 0,
    seconds: report?.seconds ?? {},
    succeededAt,
    isFailing: lastFailure !== undefined && Date.parse(lastFailure.at) > (succeededAt ?? 0),
  }
}

/** Writes atomically, since the collector may read the file at any moment. */
export async function writeMetrics(file: string, text: string): Promise<void> {
  // The collector reads only names that end with `.prom`.
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, text)
    // The collector runs as another user, who must be able to read the file.
    await chmod(draft, 0o644)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
