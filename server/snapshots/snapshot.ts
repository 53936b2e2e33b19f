import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { DamagedFile } from '../../core/warehouse/whole.ts'

/** A table as one ingest published it; never changes. */
export interface Snapshot {
  readonly table: Table
  readonly manifest: Manifest
  /** Absolute folder of this machine in which the parts lie; those of a warehouse elsewhere while they are held. */
  readonly folder: string
  /**
   * Keeps files where they can be read, until they are let go.
   *
   * @param files by their names
   * @returns lets them go
   * @throws NotHere
   */
  readonly hold: (files: readonly string[]) => Promise<() => void>
  /** HTTP date of the import. */
  readonly lastModified: string
  /** About how long a row is as JSON. */
  readonly rowBytes: number
  /** What its ingest saw of its fields; null where that cannot be read. */
  readonly report: SnapshotReport | null
  /** By field: all its values, where they are few. */
  readonly choices: ReadonlyMap<string, readonly string[]>
  /** Says that a file is proved to be damaged: the snapshot serves no more. */
  readonly takeOut: (error: DamagedFile) => void
  /** Says that something of its files may be wrong: all are read again. */
  readonly doubt: (why: string) => void
  /** Whether a file is, by its size, times and inode, the one that was read when the snapshot was taken. */
  readonly isUnchanged: (file: string) => boolean
}

/** Returns the average length of a row as JSON, in bytes, about. */
export function rowBytesOf({ rows, textBytes, fields }: Manifest): number {
  const keyBytes = fields.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0)
  return keyBytes + textBytes / Math.max(1, rows)
}
