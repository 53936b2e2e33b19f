import type { Table } from '../../core/catalog/catalog.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsFields, readManifest, requireFiles, type Manifest } from '../../core/warehouse/manifest.ts'
import { manifestOf } from '../../core/warehouse/on-disk.ts'
import { readWithdrawn, withdrawnOf, withdrawnText } from '../../core/warehouse/withdrawn.ts'
import { replaceDurably } from '../publish/durable.ts'
import { withTable } from '../publish/lock.ts'
import { pointTo } from '../publish/publish.ts'
import { TableFailure } from '../rejects.ts'

export interface RolledBack {
  readonly from: SnapshotId
  readonly to: SnapshotId
  readonly rows: number
}

/**
 * Points a table to the snapshot that was published before the current one, and holds the current one back: its source
 * is not published again until it changes or the operator says so.
 *
 * @throws TableFailure where there is no whole snapshot before that the catalog of now describes; nothing is changed then
 */
export async function rollback(warehouse: string, table: Table, now: Date): Promise<RolledBack> {
  return withTable(warehouse, table, async () => {
    const current = await readManifest(layout.pointer(warehouse, table))
    if (current === null)
      throw new TableFailure(`${tableId(table)} is not published: there is nothing to go back from`)
    const { previous } = current
    const earlier = previous === null ? null : await manifestOf(warehouse, table, previous)
    if (earlier === null) {
      throw new TableFailure(
        `${tableId(table)} has no snapshot before ${current.snapshot}${previous === null ? '' : `: ${previous} is not kept any more`}`,
      )
    }
    // The server would refuse it, and the ingest would hold back what could take its place.
    if (!holdsFields(earlier, table)) {
      throw new TableFailure(
        `the snapshot before, ${earlier.snapshot}, has other fields than the catalog declares for ${tableId(table)} now, ` +
          `so it could not be served; nothing was changed. Give the catalog the fields of then (${fieldsOf(earlier)}) ` +
          'and roll back again, or put a good source in place and run `make ingest`',
      )
    }
    await requireFiles(layout.snapshot(warehouse, table, earlier.snapshot), earlier)
    const withdrawn = await readWithdrawn(warehouse, table)
    // First, so that a job that begins in between cannot publish it again.
    const all = [
      ...withdrawn.filter(({ snapshot }) => snapshot !== current.snapshot),
      withdrawnOf(current, now),
    ]
    await replaceDurably(layout.withdrawn(warehouse, table), withdrawnText(all))
    await pointTo(warehouse, table, earlier)
    return { from: current.snapshot, to: earlier.snapshot, rows: earlier.rows }
  })
}

function fieldsOf({ fields }: Manifest): string {
  // Of a decimal its digits tell too.
  return fields
    .map(({ name, type, stored }) => `${name} ${type === 'decimal' ? stored.toLowerCase() : type}`)
    .join(', ')
}
