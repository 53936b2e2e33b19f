import { timeOf, type SnapshotId } from './layout.ts'
import type { Manifest } from './manifest.ts'

/** Old snapshots are retained for requests that name them and clients that read them. */
export interface Retention {
  readonly count: number
  readonly graceMs: number
}

/** Returns removable snapshots; never the current one, nor its predecessor, to which a rollback returns. */
export function removableSnapshots(
  ids: readonly SnapshotId[],
  { snapshot: current, previous }: Pick<Manifest, 'snapshot' | 'previous'>,
  now: Date,
  { count, graceMs }: Retention,
): SnapshotId[] {
  const newestFirst = [...new Set([...ids, current])].toSorted().toReversed()
  // Newer snapshots were rolled back: they are neither counted nor removed.
  const currentIndex = newestFirst.indexOf(current)
  return newestFirst.filter((id, index) => {
    const successor = newestFirst[index - 1]
    if (index < currentIndex + count || id === previous || successor === undefined) return false
    const replacedAt = timeOf(successor).getTime()
    return replacedAt + graceMs <= now.getTime()
  })
}
