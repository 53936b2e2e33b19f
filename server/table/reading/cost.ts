import { rowGroupRows } from '../../../core/warehouse/layout.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { partOf } from './parts.ts'

/** A row group is decoded whole, for one row of it as for all. */
export function valuesOfGroups(groups: number, fields: number): number {
  return groups * rowGroupRows * fields
}

/** In how many row groups some rows lie. */
export function groupsOf({ manifest: { parts } }: Snapshot, positions: Uint32Array): number {
  const groups = new Set<number>()
  for (const position of positions) {
    const part = partOf(parts, position)
    const row = position - (parts[part]?.firstRow ?? 0)
    // A part has far fewer groups than this.
    groups.add(part * rowGroupRows + Math.floor(row / rowGroupRows))
  }
  return groups.size
}

/** How many row groups there are. */
export function groupsIn({ manifest: { parts } }: Snapshot): number {
  return parts.reduce((sum, { rows }) => sum + Math.ceil(rows / rowGroupRows), 0)
}
