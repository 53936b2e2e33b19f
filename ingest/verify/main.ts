import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { readRollbacks } from '../../core/warehouse/state-files.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { chosenTables } from '../base/choose.ts'
import { undeclaredText } from '../base/undeclared.ts'
import { converterVersion, partRowsDefault } from '../convert/conversion.ts'
import { definitionOf } from '../publish/label.ts'
import { faultOfSummed, verify } from './verify.ts'
import { openWarehouse } from '../base/program.ts'
import { paint } from '../base/paint.ts'

/**
 * Rereads the published files and names damaged ones.
 * @returns exit code: 0 if there are files and all are intact, else 1
 */
export async function runVerify(names: readonly string[]): Promise<number> {
  const settings = readSettings(process.env)
  const store = openWarehouse(settings)
  const catalog = await loadCatalog(settings.catalog)
  let [bytes, snapshots, faults] = [0, 0, 0]
  for await (const check of verify(store, chosenTables(catalog, names))) {
    bytes += check.bytes
    if (check.bytes > 0) snapshots += 1
    if (check.fault === null) continue
    faults += 1
    console.log(`${tableId(check.table)}: ${paint('bad', 'DAMAGED')}, ${check.subject}: ${check.fault}`)
  }
  const faultOfViews = await faultOfSummed(store, layout.views)
  if (faultOfViews !== null) {
    faults += 1
    console.log(`${layout.views}: ${paint('bad', 'DAMAGED')}, ${faultOfViews}`)
  }
  const outdated = await outdatedTables(store, chosenTables(catalog, names))
  if (outdated.length > 0) {
    console.log(
      `the next \`acervo ingest\` writes these again, since their entry in the catalog, or the conversion of this version, differs: ${outdated.join(', ')}`,
    )
  }
  const undeclared = names.length > 0 ? null : await undeclaredText(store, catalog)
  if (undeclared !== null) console.log(undeclared)
  console.log(`${snapshots} snapshots read (${(bytes / 1e6).toFixed(1)} MB in total), ${faults} damaged`)
  if (faults > 0) {
    console.error(
      '`acervo ingest` publishes a table again if its current snapshot is damaged; if an older one is damaged, ' +
        'remove its folder',
    )
  }
  if (snapshots === 0 && faults === 0) {
    console.error(`nothing is published in ${store.address}: check WAREHOUSE, or run \`acervo ingest\` first`)
    return 1
  }
  return faults === 0 ? 0 : 1
}

async function outdatedTables(store: Store, tables: readonly Table[]): Promise<string[]> {
  const outdated: string[] = []
  for (const table of tables) {
    // `verify` has already reported a damaged manifest.
    const current = await publishedOf(store, table).catch(() => null)
    const definition = definitionOf(table, partRowsDefault, converterVersion)
    if (current === null || current.definition === definition) continue
    // An ingest holds back a source that was rolled back.
    const rollbacks = await readRollbacks(store, table).catch(() => [])
    if (rollbacks.every((rollback) => rollback.definition !== definition)) outdated.push(tableId(table))
  }
  return outdated
}
