import { fileNames } from '../../core/warehouse/layout.ts'
import type { Manifest, StoredFile } from '../../core/warehouse/manifest.ts'
import type { TableView, Writing } from './view.ts'

export interface Published {
  readonly manifest: Manifest
  /** All rows as gzipped CSV. */
  readonly download: StoredFile
  /**
   * The address of a file: one that stays and leads to the current file, where a single file has the table. Of several
   * parts it is that of the snapshot, since the next snapshot may have fewer or more of them.
   */
  readonly addressOf: (file: StoredFile) => string
}

/** The files of a table that readers have; null where nothing is published. */
export function publishedFiles({ files }: Writing, { table, manifest }: TableView): Published | null {
  const download = manifest?.files.find(({ file }) => file === fileNames.download(table))
  if (manifest === null || download === undefined) return null
  const addressOf = ({ file }: StoredFile): string => {
    if (file === download.file) return files.download(table)
    const isSingle = manifest.parts.length === 1 && file === manifest.parts[0]?.file
    return isSingle ? files.parquet(table) : files.file(table, manifest.snapshot, file)
  }
  return { manifest, download, addressOf }
}
