import { type Table, tableId } from '../../core/catalog/catalog.ts'
import { earlierSnapshots } from '../../core/warehouse/history.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsFields, unmaskedFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { pointTo, publishedOf } from '../../core/warehouse/publish.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { filesInStore, verifyFiles } from '../../core/warehouse/verify-files.ts'
import { recordRollback } from '../../core/warehouse/state-files.ts'
import { withTableLock } from '../publish/lock.ts'
import { TableFailure } from '../base/rejects.ts'

interface RolledBack {
  readonly from: SnapshotId
  readonly to: SnapshotId
  readonly rows: number
}

/**
 * Points a table to the snapshot before, and holds its source back until it changes or the operator requests
 * it.
 * @throws TableFailure if no intact earlier snapshot matches the catalog; nothing is changed then
 */
export async function rollback(store: Store, table: Table, now: Date): Promise<RolledBack> {
  return withTableLock(store, table, async () => {
    const current = await publishedOf(store, table)
    if (current === null)
      throw new TableFailure(`${tableId(table)} is not published: there is nothing to roll back`)
    const { value: earlier } = await earlierSnapshots(store, table, current).next()
    if (earlier === undefined)
      throw new TableFailure(`${tableId(table)} has no snapshot before ${current.snapshot}`)
    // The server would refuse other fields, and no ingest would replace the snapshot.
    if (!holdsFields(earlier, table)) {
      throw new TableFailure(
        `the snapshot before, ${earlier.snapshot}, has other fields than the catalog now declares for ${tableId(table)}, ` +
          `so it could not be served; nothing was changed. Declare its fields in the catalog again (${fieldsOf(earlier)}) ` +
          'and roll back again, or provide a correct source and run `acervo ingest`',
      )
    }
    const unmaskedNames = unmaskedFields(earlier, table)
    if (unmaskedNames.length > 0) {
      throw new TableFailure(
        `the snapshot before, ${earlier.snapshot}, was published without the mask that the catalog declares for ${unmaskedNames.join(', ')}, ` +
          `or by an earlier version; nothing was changed. Provide a correct source and run \`acervo ingest ${tableId(table)}\``,
      )
    }
    await verifyFiles(filesInStore(store, layout.snapshot(table, earlier.snapshot)), earlier)
    // Record the rollback first, so that a concurrent job cannot publish the snapshot again.
    await recordRollback(store, table, current, now)
    await pointTo(store, table, earlier.snapshot)
    return { from: current.snapshot, to: earlier.snapshot, rows: earlier.rows }
  })
}

function fieldsOf({ fields }: Manifest): string {
  // The stored type of a decimal includes its digits, which the catalog must declare.
  return fields
    .map(({ name, type, stored }) => `${name} ${type === 'decimal' ? stored.toLowerCase() : type}`)
    .join(', ')
}
