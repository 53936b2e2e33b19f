import type { Manifest } from '../../core/warehouse/manifest.ts'

/** Returns the average length of a row as JSON, in bytes, about. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}
