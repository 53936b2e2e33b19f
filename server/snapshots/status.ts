import { tableId } from '../../core/catalog/catalog.ts'
import { spanOf, type Frequency } from '../../core/catalog/names.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import type { ServedTable } from './served-table.ts'

/** How a table stands. */
export interface TableStatus {
  /** `dataset/table`. */
  readonly table: string
  /** What is served; null where nothing is. */
  readonly snapshot: SnapshotId | null
  /** Why that is not what is published or declared. */
  readonly fault: string | null
  /** When its rows were imported; null where nothing is served. */
  readonly importedAt: Date | null
  /** Since when its source is the one that it is; null where nothing is served. */
  readonly sourceFrom: Date | null
  /** How often it is to be another; null where nobody waits for it. */
  readonly refreshed: Frequency | null
}

/**
 * Returns which snapshot of a table is served, and why it is not what is published or declared.
 *
 * @param lacking fields that are declared and not published yet
 */
export function statusOf(
  { table, current, fault: trouble }: ServedTable,
  lacking: readonly string[],
): TableStatus {
  const manifest = current?.manifest ?? null
  const names = lacking.map((name) => `"${name}"`).join(', ')
  const fault =
    trouble === null && lacking.length > 0
      ? `it is served without ${names}, declared after it was published: \`make ingest TABLES=${tableId(table)}\` publishes it anew`
      : trouble
  return {
    table: tableId(table),
    snapshot: manifest?.snapshot ?? null,
    fault,
    importedAt: manifest === null ? null : new Date(manifest.import_date),
    // An older manifest does not say when its source last was another.
    sourceFrom: manifest === null ? null : new Date(manifest.changed_at ?? manifest.import_date),
    refreshed: table.refreshed,
  }
}

/** A job is never there to the minute. */
const lateness = 1.25

/** Whether its source should have been another by now. */
export function isStale({ sourceFrom, refreshed }: TableStatus, now: number): boolean {
  const span = refreshed === null ? null : spanOf[refreshed]
  return span !== null && sourceFrom !== null && now - sourceFrom.getTime() > span * lateness
}

/** Why a table cannot be asked for though it is published; null where it can, or where nothing is. */
export function whyMissing({ current, fault, seen, reading }: ServedTable): string | null {
  if (current !== null) return null
  if (reading !== null) {
    const { bytes, of } = reading
    return `its files are being read again: ${Math.floor((100 * bytes) / Math.max(1, of))} % of ${Math.ceil(of / 1e6)} MB`
  }
  return seen === '' && fault === null ? 'it is being loaded' : fault
}
