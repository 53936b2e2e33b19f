import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Changes, Manifest } from '../../core/warehouse/manifest.ts'
import type { DamagedFile } from '../../core/warehouse/verify-files.ts'

/** Never changes. */
export interface Snapshot {
  readonly table: Table
  readonly manifest: Manifest
  /** Absolute; a remote warehouse guarantees files only while they are pinned. */
  readonly folder: string
  /**
   * Pins files on this machine.
   * @param files by name
   * @returns a function that releases them
   * @throws FileUnavailable
   */
  readonly pin: (files: readonly string[]) => Promise<() => void>
  readonly lastModified: string
  readonly rowBytes: number
  readonly report: SnapshotReport | null
  /** Values of fields with few values; empty without a report. */
  readonly choices: ReadonlyMap<string, readonly string[]>
  /** Present if the rows are changes: filters then apply to both states of each. */
  readonly changes?: Pick<Changes, 'fields' | 'key'>
  readonly withdraw: (error: DamagedFile) => void
  readonly recheck: (reason: string) => void
  /** Compares size, times and inode with those of the verification. */
  readonly isUnchanged: (file: string) => boolean
}

/** Approximate JSON bytes of a row. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}
