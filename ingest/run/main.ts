import { tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { ClickHouse } from '../../core/clickhouse/link.ts'
import { messageOf } from '../../core/errors.ts'
import { readSettings } from '../../core/settings/read.ts'
import { ParsedCatalog } from '../../core/warehouse/parsed-catalog.ts'
import { chosenTables } from '../base/choose.ts'
import { undeclaredText } from '../base/undeclared.ts'
import { sampledTables } from '../sample/copy.ts'
import { ingest } from './ingest.ts'
import { ingestMetrics, writeMetrics } from './metrics.ts'
import { withWarehouseLock } from '../publish/lock.ts'
import { announce } from '../publish/announce.ts'
import { publishViews } from '../publish/views.ts'
import { Board, silentProgress } from '../base/progress.ts'
import { outcomeLines, type Outcome } from '../job/report.ts'
import { openWarehouse } from '../base/program.ts'

interface IngestFlags {
  readonly unpublished?: boolean
  readonly acceptDrift?: boolean
  /** False to publish no list of changes, which would show rows that were erased. */
  readonly changes?: boolean
  readonly quiet?: boolean
}

/**
 * Ingests tables and prints outcomes.
 * @returns exit code: 0 if all are published or unchanged, else 1
 */
export async function runIngest(
  names: readonly string[],
  { unpublished = false, acceptDrift = false, changes = true, quiet = false }: IngestFlags,
): Promise<number> {
  const settings = readSettings(process.env)
  const store = openWarehouse(settings)
  const parsedCatalog = new ParsedCatalog(store)
  const catalog = await loadCatalog(settings.catalog, parsedCatalog)
  const tables = chosenTables(catalog, names)
  const began = new Date()
  const board = new Board(process.stderr)
  // Prints the fields only for people: a log needs one line.
  const withFields = process.stdout.isTTY && !unpublished
  const outcomes: Outcome[] = []
  const clickHouse = await ClickHouse.open(settings.clickHouseUrl, settings.clickHouseCluster)
  for await (const outcome of ingest(tables, {
    ...settings,
    clickHouse,
    catalog,
    store,
    memoryBytes: settings.ingestMemory,
    now: () => new Date(),
    progress: (table) => (quiet ? silentProgress : board.progress(tableId(table))),
    onlyUnpublished: unpublished,
    acceptsDrift: acceptDrift,
    withoutChanges: !changes,
    retention: { count: settings.snapshotsKept, graceMs: settings.snapshotGraceMs },
  })) {
    outcomes.push(outcome)
    board.above(() => {
      const lines = outcomeLines(outcome, withFields && !quiet)
      // Lines after the first one are warnings and other notes, which `--quiet` prints too.
      if (quiet && (outcome.status !== 'published' || lines.length === 1) && outcome.status !== 'failed')
        return
      for (const line of lines) console.log(line)
    })
  }
  await clickHouse?.close()
  const log = quiet ? () => undefined : (line: string) => console.log(line)
  const hasSamples = (await sampledTables(tables)).length > 0
  const code = conclude(outcomes, settings.sources, { isNamed: names.length > 0, hasSamples }, log)
  const results = [
    await afterwards('tables that the catalog does not declare were not looked for', async () => {
      const text = names.length > 0 ? null : await undeclaredText(store, catalog)
      if (text !== null) log(text)
    }),
    await afterwards('the parsed catalog was not stored, so the next start takes longer', () =>
      withWarehouseLock(store, () => parsedCatalog.keep()),
    ),
    await afterwards('warehouse.duckdb was not updated', async () => {
      for (const { published, error } of await publishViews(store, catalog)) {
        console.error(`${tableId(published.table)} has no view in warehouse.duckdb: ${messageOf(error)}`)
      }
    }),
    await afterwards(`METRICS_FILE (${settings.metricsFile}) was not written`, async () => {
      if (settings.metricsFile === '') return
      const run = { outcomes, began, endedAt: new Date() }
      await writeMetrics(settings.metricsFile, await ingestMetrics(store, catalog, run))
    }),
    await afterwards('the snapshots were not announced', () =>
      announce(
        catalog,
        outcomes.flatMap((outcome) => (outcome.status === 'published' ? outcome.manifest : [])),
        settings,
      ),
    ),
  ]
  return results.every((isDone) => isDone) ? code : 1
}

/** Returns false if the work fails, so that the other tasks still run. */
async function afterwards(otherwise: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    console.error(`the tables are as reported above, but ${otherwise}: ${messageOf(error)}`)
    return false
  }
}

/** Prints the end of a run. Returns the exit code: 1 after a failure, or if there was nothing to ingest. */
function conclude(
  outcomes: readonly Outcome[],
  sources: string,
  { isNamed, hasSamples }: { readonly isNamed: boolean; readonly hasSamples: boolean },
  log: (line: string) => void,
): number {
  const tablesWith = (status: Outcome['status']): string[] =>
    outcomes.filter((outcome) => outcome.status === status).map((outcome) => tableId(outcome.table))
  const [keptTables, skipped, failed, held] = [
    tablesWith('kept'),
    tablesWith('skipped'),
    tablesWith('failed'),
    tablesWith('held'),
  ]
  if (keptTables.length > 0)
    log(
      `already published and not checked: ${keptTables.length}; \`acervo ingest\` checks their sources for changes`,
    )
  if (skipped.length > 0) log(`no source in ${sources} for ${skipped.join(', ')}`)
  const news = (['published', 'unchanged', 'failed'] as const).map(
    (status) => `${tablesWith(status).length} ${status}`,
  )
  if (held.length > 0) news.push(`${held.length} held back`)
  log(news.join(', '))
  if (failed.length > 0) return 1
  const isNothingToIngest = skipped.length > 0 && (isNamed || skipped.length === outcomes.length)
  if (isNothingToIngest)
    console.error(
      `there is nothing to ingest: put sources into ${sources}${hasSamples ? ', set SOURCES, or copy samples with `acervo sample`' : ', or set SOURCES'}`,
    )
  return isNothingToIngest ? 1 : 0
}
