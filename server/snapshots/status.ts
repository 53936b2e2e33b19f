import { tableId } from '../../core/catalog/catalog.ts'
import { spanOf, type Frequency } from '../../core/catalog/names.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import type { ServedTable } from './served-table.ts'

/** State of a table. */
export interface TableStatus {
  /** Id, `dataset/table`. */
  readonly table: string
  /** Served snapshot; null if there is none. */
  readonly snapshot: SnapshotId | null
  /** Reason why the published snapshot, or a declared field, is not served; null if all is well. */
  readonly fault: string | null
  /** Time of the import; null if nothing is served. */
  readonly importedAt: Date | null
  /** Time of the last change of the source; null if nothing is served. */
  readonly sourceFrom: Date | null
  /** Declared interval of changes; null if there is none. */
  readonly refreshed: Frequency | null
}

/**
 * Returns which snapshot of a table is served, and why it is not the published one or lacks declared fields.
 * @param lacking declared fields that are not published yet
 */
export function statusOf(
  { table, current, fault: trouble }: ServedTable,
  lacking: readonly string[],
): TableStatus {
  const manifest = current?.manifest ?? null
  const names = lacking.map((name) => `"${name}"`).join(', ')
  const fault =
    trouble === null && lacking.length > 0
      ? `it is served without ${names}, declared after it was published: \`acervo ingest ${tableId(table)}\` publishes it again`
      : trouble
  return {
    table: tableId(table),
    snapshot: manifest?.snapshot ?? null,
    fault,
    importedAt: manifest === null ? null : new Date(manifest.import_date),
    // Older manifests do not record the last change of the source.
    sourceFrom: manifest === null ? null : new Date(manifest.changed_at ?? manifest.import_date),
    refreshed: table.refreshed,
  }
}

/** Tolerance for late jobs, as a factor: they never run to the minute. */
const lateness = 1.25

/** Returns whether the source of a table should have changed by now. */
export function isStale({ sourceFrom, refreshed }: TableStatus, now: number): boolean {
  const span = refreshed === null ? null : spanOf[refreshed]
  return span !== null && sourceFrom !== null && now - sourceFrom.getTime() > span * lateness
}

/** Returns why a published table cannot be queried; null if it can, or if none is published. */
export function missingReason({ current, fault, pointerVersion, reading }: ServedTable): string | null {
  if (current !== null) return null
  if (reading !== null) {
    const { bytes, of: totalBytes } = reading
    return `its files are being read again: ${Math.floor((100 * bytes) / Math.max(1, totalBytes))} % of ${Math.ceil(totalBytes / 1e6)} MB`
  }
  return pointerVersion === '' && fault === null ? 'it is being loaded' : fault
}
