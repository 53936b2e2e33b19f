import { tableId } from '../../core/catalog/catalog.ts'
import { spanOf, type Frequency } from '../../core/catalog/names.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { unmaskedFields } from '../../core/warehouse/manifest.ts'
import type { ServedTable } from './served-table.ts'

export interface TableStatus {
  readonly table: string
  readonly snapshot: SnapshotId | null
  /** Reason why a snapshot, a declared field or a declared mask is not served; null if all is well. */
  readonly fault: string | null
  readonly importedAt: Date | null
  /** Last change of the source; null if nothing is served. */
  readonly sourceFrom: Date | null
  readonly refreshed: Frequency | null
}

/**
 * Names the served snapshot, and why it is not the published one or lacks fields.
 * @param lacking declared fields that are not published yet
 */
export function statusOf(
  { table, current, fault: tableFault }: ServedTable,
  lacking: readonly string[],
): TableStatus {
  const manifest = current?.manifest ?? null
  const unmaskedNames = manifest === null ? [] : unmaskedFields(manifest, table)
  const remedy = `\`acervo ingest ${tableId(table)}\` publishes it again`
  const faults = [
    ...(unmaskedNames.length > 0
      ? [`it is served without the declared mask of ${listed(unmaskedNames)}: ${remedy}`]
      : []),
    ...(lacking.length > 0
      ? [`it is served without ${listed(lacking)}, declared after it was published: ${remedy}`]
      : []),
  ]
  const fault = tableFault ?? faults[0] ?? null
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

/** Jobs never run to the minute. */
const lateness = 1.25

export function isStale({ sourceFrom, refreshed }: TableStatus, now: number): boolean {
  const span = refreshed === null ? null : spanOf[refreshed]
  return span !== null && sourceFrom !== null && now - sourceFrom.getTime() > span * lateness
}

/** Why a published table cannot be queried; null if it can, or if none is published. */
export function missingReason({ current, fault, pointerVersion, reading }: ServedTable): string | null {
  if (current !== null) return null
  if (reading !== null) {
    const { bytes, of: totalBytes } = reading
    return `its files are being read again: ${Math.floor((100 * bytes) / Math.max(1, totalBytes))} % of ${Math.ceil(totalBytes / 1e6)} MB`
  }
  return pointerVersion === '' && fault === null ? 'it is being loaded' : fault
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
