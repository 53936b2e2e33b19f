import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Dataset, Table } from '../core/catalog/catalog.ts'
import type { Connection } from '../core/warehouse/duckdb.ts'
import { checkSource, type MatchedField } from './check.ts'
import { badValues, sort, stage, writeParts } from './convert.ts'
import type { Progress } from './progress.ts'
import { provePublished, proveStaged } from './prove.ts'
import { label, publish } from './publish.ts'
import { TableFailure, type Reject } from './rejects.ts'
import { clearFailure, writeReport, type Outcome } from './report.ts'
import { readSource, type SourceFile } from './source.ts'

/** One table whose source is to be converted. */
export interface Job {
  readonly table: Table
  readonly dataset: Dataset
  readonly source: SourceFile
  readonly warehouse: string
  /** Folder of this job alone, on the file system of the warehouse. */
  readonly scratch: string
  readonly db: Connection
  readonly progress: Progress
  readonly partRows: number
  readonly now: () => Date
}

/**
 * check -> convert -> prove -> publish -> report.
 *
 * @throws TableFailure where the source is not what the catalog declares; nothing is published then
 */
export async function convertAndPublish(job: Job): Promise<Outcome> {
  const { table, dataset, source, warehouse, scratch, db, progress, partRows, now } = job
  const steps = stopwatch(job)
  const plainFile = path.join(scratch, 'source.csv')
  const folder = path.join(scratch, 'snapshot')
  await mkdir(folder)

  const read = await steps.time('reading', () => readSource(source, table.source, progress, plainFile))
  const fields = checkSource(table, read)
  const rows = read.scanner.records
  await steps.time('staging', () => stage(db, plainFile, table, read.scanner.columns.length))
  await steps.time('checking', async () => {
    await proveStaged(db, read.scanner)
    await requireGoodValues(job, fields)
  })
  await steps.time('sorting', () => sort(db, table, fields))
  const parts = await steps.time(
    'writing',
    () => writeParts(db, fields, folder, rows, partRows, progress),
    'tells its own progress',
  )
  const proved = await steps.time(
    'proving',
    () => provePublished(db, fields, folder, parts, rows, progress),
    'tells its own progress',
  )

  const labelled = {
    dataset,
    table,
    source,
    sourceSha256: read.sha256,
    rows,
    textBytes: read.scanner.columns.reduce((sum, { bytes }) => sum + bytes, 0),
    partRows,
    importDate: now(),
  }
  const manifest = await label(labelled, folder, parts)
  await writeReport(folder, manifest, {
    blankLines: read.scanner.blankLines,
    fields: proved,
    seconds: steps.seconds,
  })
  await publish(warehouse, table, folder, manifest)
  await clearFailure(warehouse, table)
  return { status: 'published', table, manifest, seconds: steps.total() }
}

/** @throws TableFailure with every bad value and the line of its row */
async function requireGoodValues(
  { db, source, table, progress }: Job,
  fields: readonly MatchedField[],
): Promise<void> {
  const { count, values } = await badValues(db, fields)
  if (count === 0) return
  const records = new Set(values.map((value) => value.record))
  const { lines } = (await readSource(source, table.source, progress, null, records)).scanner
  const rejects = values.map(({ record, field, text, reason }): Reject => {
    return { line: lines.get(record) ?? 0, field, text, reason }
  })
  const what = count === 1 ? 'a value is' : `${count.toLocaleString('en')} values are`
  throw new TableFailure(`${what} not what the catalog declares; nothing was published`, rejects, count)
}

const progressEveryMs = 100

/** Times the steps of a job and shows how far DuckDB is in each. */
function stopwatch({ db, progress }: Job) {
  const seconds: Record<string, number> = {}
  const started = performance.now()
  return {
    seconds,
    total: () => (performance.now() - started) / 1000,
    time: async <T>(name: string, work: () => Promise<T>, own?: 'tells its own progress'): Promise<T> => {
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
