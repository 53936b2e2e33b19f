import { tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'
import { StartError } from '../../core/errors.ts'
import { chosenTables } from '../base/choose.ts'
import { isWeb } from '../source/find.ts'
import { hasSources, writeSamples } from './write.ts'

/** Options of `acervo sample`. */
interface SampleFlags {
  /** Factor of the number of rows, such as `0.1` or `1000`. */
  readonly scale: string
  /** Writes nothing if there are sources. */
  readonly ifNone?: boolean
}

/** Writes synthetic sources of tables, all by default: the same on every machine. */
export async function runSample(names: readonly string[], options: SampleFlags): Promise<void> {
  const scale = Number(options.scale)
  if (!/^\d+(\.\d+)?$/.test(options.scale) || scale <= 0) {
    throw new StartError(
      `the scale is "${options.scale}", and must be a number above 0, such as 0.1, 1 or 1000`,
    )
  }
  const settings = readSettings(process.env)
  const catalog = await loadCatalog(settings.catalog)
  const tables = chosenTables(catalog, names)
  if (options.ifNone === true && (isWeb(settings.sources) || (await hasSources(settings.sources)))) return
  if (isWeb(settings.sources)) {
    throw new StartError(`SOURCES is ${settings.sources}, and samples need a folder: set SOURCES to one`)
  }
  for await (const { table, rows } of writeSamples(settings.sources, tables, scale)) {
    console.log(`${tableId(table)}: ${rows.toLocaleString('en')} synthetic rows in ${settings.sources}`)
  }
}
