import { tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'
import { StartError } from '../../core/errors.ts'
import { chosenTables } from '../base/choose.ts'
import { isWeb } from '../source/find.ts'
import { copySamples, hasSources, sampledTables, sampleIds } from './copy.ts'

interface SampleFlags {
  readonly ifNone?: boolean
}

/** Copies the samples of tables into SOURCES; by default those of all tables that have one. */
export async function runSample(names: readonly string[], { ifNone = false }: SampleFlags): Promise<void> {
  const { catalog: file, sources } = readSettings(process.env)
  const requestedTables = chosenTables(await loadCatalog(file), names)
  if (ifNone && (isWeb(sources) || (await hasSources(sources)))) return
  if (isWeb(sources))
    throw new StartError(`SOURCES is ${sources}, and samples need a folder: set SOURCES to one`)
  const tables = await sampledTables(requestedTables)
  const tablesWithoutSample = requestedTables.filter((table) => !tables.includes(table)).map(tableId)
  if (!ifNone && tablesWithoutSample.length > 0 && (names.length > 0 || tables.length === 0))
    throw new StartError(
      `no sample for ${tablesWithoutSample.join(', ')}; samples: ${(await sampleIds()).join(', ')}`,
    )
  await copySamples(sources, tables)
  for (const table of tables) console.log(`${tableId(table)}: copied its sample to ${sources}`)
}
