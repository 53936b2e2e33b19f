import type { Manifest } from '../../../core/warehouse/manifest.ts'

/** Returns the index of the part that has a row, by bisection. */
export function partOf(parts: Manifest['parts'], row: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.firstRow ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
