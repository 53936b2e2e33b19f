import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Changes, Manifest } from '../../core/warehouse/manifest.ts'
import type { DamagedFile } from '../../core/warehouse/verify-files.ts'

/** A table as one ingest published it; never changes. */
export interface Snapshot {
  readonly table: Table
  readonly manifest: Manifest
  /** Absolute local folder with the files; a remote warehouse guarantees them there only while they are pinned. */
  readonly folder: string
  /**
   * Pins files on this machine until they are released.
   * @param files by name
   * @returns a function that releases them
   * @throws FileUnavailable
   */
  readonly pin: (files: readonly string[]) => Promise<() => void>
  /** HTTP date of the import. */
  readonly lastModified: string
  /** Approximate length of a row as JSON, in bytes. */
  readonly rowBytes: number
  /** Report of the ingest; null if it cannot be read. */
  readonly report: SnapshotReport | null
  /** Distinct values of each field that has few, by field; empty without a report. */
  readonly choices: ReadonlyMap<string, readonly string[]>
  /** Comparison whose rows these are: then filters apply to the earlier and the later state of a row. */
  readonly changes?: Pick<Changes, 'fields' | 'key'>
  /** Withdraws the snapshot because a file is damaged. */
  readonly withdraw: (error: DamagedFile) => void
  /** Reports that files may be damaged: all are read again. */
  readonly recheck: (reason: string) => void
  /** Returns whether a file has the size, times and inode with which it was verified. */
  readonly isUnchanged: (file: string) => boolean
}

/** Returns the approximate length of a row as JSON, in bytes. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}
