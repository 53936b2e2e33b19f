import type { Manifest } from '../../core/warehouse/manifest.ts'

/**
 * Rows of a block, the unit that is read from Parquet. It divides the row group of 16,384, so that a block lies in
 * one. The cost of a page in a cold block grows with it, that of a walk shrinks (docs/performance.md).
 */
export const blockRowsMax = 2048
/** Tables with long rows get smaller blocks, since a block is held in memory whole. */
const blockBytesMax = 2_000_000

/** A power of two, so that every block of a table lies in one row group. */
export function blockRowsOf(rowBytes: number): number {
  let size = blockRowsMax
  while (size > 1 && size * rowBytes > blockBytesMax) size /= 2
  return size
}

/** About how long a row is as JSON, in bytes. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}
