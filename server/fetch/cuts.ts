import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** Names a block of a snapshot: a part, and which of its blocks, both from 0. */
export interface BlockName {
  readonly part: number
  readonly block: number
}

/** Rows of one block that belong to a page. */
export interface Cut extends BlockName {
  /** Index in the block of the first, from 0. */
  readonly first: number
  readonly rows: number
}

/** Some rows that follow each other. */
export interface Slice {
  /** Position of the first, from 0. */
  readonly first: number
  readonly rows: number
}

/** What says where the blocks of a snapshot lie. */
type Blocked = Pick<Snapshot, 'manifest' | 'blockRows'>

/** The cuts that make up a slice of all rows, in order. The manifest says where they lie, so depth costs nothing. */
export function cutsOf(snapshot: Blocked, slice: Slice): Cut[] {
  const { parts } = snapshot.manifest
  const { blockRows } = snapshot
  const cuts: Cut[] = []
  const end = slice.first + slice.rows
  let position = slice.first
  for (let index = partOf(parts, position); position < end; index += 1) {
    const part = parts[index]
    if (part === undefined) throw new RangeError(`the snapshot has no row ${position}`)
    const partEnd = Math.min(end, part.firstRow + part.rows)
    while (position < partEnd) {
      const row = position - part.firstRow
      const block = Math.floor(row / blockRows)
      const first = row - block * blockRows
      const rows = Math.min(blockRows - first, partEnd - position)
      cuts.push({ part: index, block, first, rows })
      position += rows
    }
  }
  return cuts
}

/** The block after another, or null after the last. */
export function blockAfter({ manifest, blockRows }: Blocked, { part, block }: BlockName): BlockName | null {
  const { parts } = manifest
  const rows = parts[part]?.rows ?? 0
  if ((block + 1) * blockRows < rows) return { part, block: block + 1 }
  return part + 1 < parts.length ? { part: part + 1, block: 0 } : null
}

/** All rows of a block, or fewer at the end of its part. */
export function wholeOf(snapshot: Blocked, { part, block }: BlockName): Cut {
  const { blockRows, manifest } = snapshot
  const left = (manifest.parts[part]?.rows ?? 0) - block * blockRows
  return { part, block, first: 0, rows: Math.min(blockRows, left) }
}

/** The first row of each part ascends, so the part of a row is found by halving. */
export function partOf(parts: Manifest['parts'], row: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.firstRow ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
