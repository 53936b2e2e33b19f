import { counted } from '../../core/text.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { StartError } from '../../core/errors.ts'
import { readSettings } from '../../core/settings/read.ts'
import { chosenTables } from '../base/choose.ts'
import { publishViews } from '../publish/views.ts'
import { TableFailure } from '../base/rejects.ts'
import { rollback } from './rollback.ts'
import { openWarehouse } from '../base/program.ts'

export async function runRollback(name: string): Promise<void> {
  const settings = readSettings(process.env)
  const store = openWarehouse(settings)
  const catalog = await loadCatalog(settings.catalog)
  const [table, ...furtherTables] = chosenTables(catalog, [name])
  if (table === undefined || furtherTables.length > 0) {
    throw new StartError('name one table to roll back, such as `acervo rollback covid19/caso`')
  }
  try {
    const { from, to, rows } = await rollback(store, table, new Date())
    await publishViews(store, catalog)
    console.log(
      `${tableId(table)}: rolled back to ${to} (${counted(rows, 'row')}) from ${from}, which is held back until its source changes`,
    )
  } catch (error) {
    if (error instanceof TableFailure) throw new StartError(error.message, { cause: error })
    throw error
  }
}
