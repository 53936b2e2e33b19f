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
  const count = (status: Outcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length
  const words = (['published', 'unchanged', 'skipped', 'failed'] as const).map(
    (status) => `${count(status)} ${status}`,
  )
  console.log(words.join(', '))
  if (count('failed') > 0) return 1
  if (count('skipped') === 0) return 0
  if (named || count('skipped') === outcomes.length) {
    console.error(
      `there is no source to ingest in ${sources}: set SOURCES, or write samples with \`make sample\``,
    )
    return 1
  }
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(lastWords(error))
  process.exitCode = 1
}
