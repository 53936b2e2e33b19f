import { parseArgs } from 'node:util'
import { tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'
import { StartError } from '../../core/errors.ts'
import { chosenTables } from '../base/choose.ts'
import { isWeb } from '../source/find.ts'
import { hasSources, writeSamples } from './write.ts'
import { runProgram } from '../base/program.ts'

/** `npm run sample -- [--scale N] [--if-none] [dataset/table ...]`: synthetic sources, the same on every machine. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { scale: { type: 'string', default: '1' }, 'if-none': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const scale = Number(values.scale)
  if (!/^\d+(\.\d+)?$/.test(values.scale) || scale <= 0) {
    throw new StartError(`SCALE is "${values.scale}", and must be a number above 0, such as 0.1, 1 or 1000`)
  }
  const settings = readSettings(process.env)
  const catalog = await loadCatalog(settings.catalog)
  const tables = chosenTables(catalog, positionals)
  if (values['if-none'] && (isWeb(settings.sources) || (await hasSources(settings.sources)))) return
  if (isWeb(settings.sources)) {
    throw new StartError(`SOURCES is ${settings.sources}, and samples need a folder: set SOURCES to one`)
  }
  for await (const { table, rows } of writeSamples(settings.sources, tables, scale)) {
    console.log(`${tableId(table)}: ${rows.toLocaleString('en')} synthetic rows in ${settings.sources}`)
  }
}

await runProgram(main)
