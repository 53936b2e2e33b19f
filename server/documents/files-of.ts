import { fileNames } from '../../core/warehouse/layout.ts'
import type { Manifest, StoredFile } from '../../core/warehouse/manifest.ts'
import type { TableDescription, Writing } from './description.ts'

export interface Published {
  readonly manifest: Manifest
  readonly download: StoredFile
  /** Stable address, which redirects to the file of the current snapshot. */
  readonly addressOf: (file: StoredFile) => string
}

export function publishedFiles({ files }: Writing, { table, manifest }: TableDescription): Published | null {
  const download = manifest?.files.find(({ file }) => file === fileNames.download(table))
  if (manifest === null || download === undefined) return null
  const addressOf = ({ file }: StoredFile): string => {
    if (file === download.file) return files.download(table)
    const index = manifest.parts.findIndex((part) => part.file === file)
    return index < 0
      ? files.file(table, manifest.snapshot, file)
      : files.parquet(table, index, manifest.parts.length)
  }
  return { manifest, download, addressOf }
}
