import { timeOf, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'

/** How long old snapshots are kept, for pinned walks and for whoever reads the files. */
export interface Retention {
  /** The newest that stay in any case. */
  readonly count: number
  /** How long any stays after a newer one took its place. */
  readonly graceMs: number
}

/** Those of a table's snapshots that may be removed; never the current one, nor the one that a rollback leads to. */
export function removable(
  ids: readonly SnapshotId[],
  { snapshot: current, previous }: Pick<Manifest, 'snapshot' | 'previous'>,
  now: Date,
  { count, graceMs }: Retention,
): SnapshotId[] {
  const newestFirst = [...new Set([...ids, current])].toSorted().toReversed()
  // What is newer was rolled back, and takes no place of what was published.
  const from = newestFirst.indexOf(current)
  return newestFirst.filter((id, index) => {
    const successor = newestFirst[index - 1]
    if (index < from + count || id === previous || successor === undefined) return false
    return timeOf(successor).getTime() + graceMs <= now.getTime()
  })
}
