import { timeOf, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'

/** Retention of old snapshots, which requests may name and clients may still be reading. */
export interface Retention {
  readonly count: number
  /** Minimum time for which a replaced snapshot is retained. */
  readonly graceMs: number
}

/**
 * Returns snapshots of a table that may be removed; never the current one, nor its predecessor, to which a
 * rollback would return.
 */
export function removable(
  ids: readonly SnapshotId[],
  { snapshot: current, previous }: Pick<Manifest, 'snapshot' | 'previous'>,
  now: Date,
  { count, graceMs }: Retention,
): SnapshotId[] {
  const newestFirst = [...new Set([...ids, current])].toSorted().toReversed()
  // Newer snapshots were rolled back: they are neither counted nor removed.
  const from = newestFirst.indexOf(current)
  return newestFirst.filter((id, index) => {
    const successor = newestFirst[index - 1]
    if (index < from + count || id === previous || successor === undefined) return false
    return timeOf(successor).getTime() + graceMs <= now.getTime()
  })
}
