import path from 'node:path'
import { tableId } from '../../core/catalog/catalog.ts'
import { CatalogError, loadCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'
import { chosenTables } from '../base/choose.ts'
import { openWarehouse } from '../base/program.ts'
import { Board } from '../base/progress.ts'
import { check, type CheckedTable } from './check.ts'
import { markdownOf, verdictOf, tableLines, type CheckReport } from './render.ts'

interface CheckFlags {
  readonly format: 'text' | 'markdown' | 'json'
  readonly acceptDrift?: boolean
}

/**
 * Prints a report on the catalog and the sources.
 * @returns exit code: 0 if an ingest would succeed, else 1
 */
export async function runCheck(
  names: readonly string[],
  { format, acceptDrift = false }: CheckFlags,
): Promise<number> {
  const settings = readSettings(process.env)
  const report = await reportOf(names, acceptDrift, (line) => {
    if (format === 'text') console.log(line)
  })
  if (format === 'json') console.log(JSON.stringify(report, null, 2))
  else if (format === 'markdown') process.stdout.write(markdownOf(report))
  else {
    for (const { file, line, column, message } of report.catalog_faults)
      console.log(`${file}:${line}:${column}: ${message}`)
    console.log(verdictOf(report))
  }
  const hasNothing = report.tables.every(({ result }) => result === 'missing')
  if (report.ok && hasNothing) console.error(`no table has a source in ${settings.sources}: set SOURCES`)
  return report.ok ? 0 : 1
}

async function reportOf(
  names: readonly string[],
  acceptsDrift: boolean,
  log: (line: string) => void,
): Promise<CheckReport> {
  const settings = readSettings(process.env)
  const catalog = await loadCatalog(settings.catalog).catch((error: unknown) => {
    if (error instanceof CatalogError) return error
    throw error
  })
  if (catalog instanceof CatalogError) return { ok: false, catalog_faults: catalog.faults, tables: [] }
  const board = new Board(process.stderr)
  const tables: CheckedTable[] = []
  await check(
    chosenTables(catalog, names),
    {
      ...settings,
      catalog,
      store: openWarehouse(settings),
      memoryBytes: settings.ingestMemory,
      scratchFolder: path.resolve(settings.localFolder, 'checks'),
      hasClickHouse: settings.clickHouseUrl !== '',
      acceptsDrift,
      now: () => new Date(),
      progress: (table) => board.progress(tableId(table)),
    },
    (checked) => {
      tables.push(checked)
      board.above(() => tableLines(checked).forEach(log))
    },
  )
  const isFailed = ({ result }: CheckedTable): boolean =>
    result === 'failed' || (result === 'missing' && names.length > 0)
  return { ok: !tables.some(isFailed), catalog_faults: [], tables }
}
