import { parseArgs } from 'node:util'
import { tableId } from '../core/catalog/catalog.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import { readSettings } from '../core/settings.ts'
import { lastWords } from '../core/errors.ts'
import { chosenTables } from './choose.ts'
import { ingest } from './ingest.ts'
import { progressOn } from './progress.ts'
import { outcomeLines, type Outcome } from './report.ts'

/** `npm run ingest -- [--unpublished] [dataset/table ...]`: exit 0 = all published or unchanged, 1 = not. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { unpublished: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const settings = readSettings(process.env)
  const catalog = await loadCatalog(settings.catalog)
  const tables = chosenTables(catalog, positionals)
  const { sources, warehouse, ingestMemory: memory } = settings
  const outcomes: Outcome[] = []
  for await (const outcome of ingest(tables, {
    catalog,
    sources,
    warehouse,
    memory,
    now: () => new Date(),
    progress: (table) => progressOn(process.stderr, tableId(table)),
    onlyUnpublished: values.unpublished,
  })) {
    outcomes.push(outcome)
    for (const line of outcomeLines(outcome)) console.log(line)
  }
  return conclude(outcomes, sources, positionals.length > 0)
}

function conclude(outcomes: readonly Outcome[], sources: string, named: boolean): number {
  const having = (status: Outcome['status']): string[] =>
    outcomes.filter((outcome) => outcome.status === status).map((outcome) => tableId(outcome.table))
  const [kept, skipped, failed] = [having('kept'), having('skipped'), having('failed')]
  if (kept.length > 0)
    console.log(`${kept.length} published before; \`make ingest\` looks whether their sources changed`)
  if (skipped.length > 0) console.log(`no source in ${sources} for ${skipped.join(', ')}`)
  const news = (['published', 'unchanged', 'failed'] as const).map(
    (status) => `${having(status).length} ${status}`,
  )
  console.log(news.join(', '))
  if (failed.length > 0) return 1
  const nothing = skipped.length > 0 && (named || skipped.length === outcomes.length)
  if (nothing)
    console.error(
      `there is nothing to ingest: put sources into ${sources}, set SOURCES, or write samples with \`make sample\``,
    )
  return nothing ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(lastWords(error))
  process.exitCode = 1
}
