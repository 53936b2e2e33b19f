import { timeOf, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'

/** Retention of old snapshots, for pinned requests and for readers of files. */
export interface Retention {
  /** Number of newest snapshots that always stay. */
  readonly count: number
  /** Time that a replaced snapshot stays at least. */
  readonly graceMs: number
}

/** Returns snapshots of a table that may be removed; never the current one, nor the target of a rollback. */
export function removable(
  ids: readonly SnapshotId[],
  { snapshot: current, previous }: Pick<Manifest, 'snapshot' | 'previous'>,
  now: Date,
  { count, graceMs }: Retention,
): SnapshotId[] {
  const newestFirst = [...new Set([...ids, current])].toSorted().toReversed()
  // Newer ones were rolled back, and are ignored.
  const from = newestFirst.indexOf(current)
  return newestFirst.filter((id, index) => {
    const successor = newestFirst[index - 1]
    if (index < from + count || id === previous || successor === undefined) return false
    return timeOf(successor).getTime() + graceMs <= now.getTime()
  })
}
