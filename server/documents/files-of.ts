import { fileNames } from '../../core/warehouse/layout.ts'
import type { Manifest, StoredFile } from '../../core/warehouse/manifest.ts'
import type { TableView, Writing } from './view.ts'

export interface Published {
  readonly manifest: Manifest
  /** All rows as gzipped CSV. */
  readonly download: StoredFile
  readonly addressOf: (file: StoredFile) => string
}

/** The files of a table that readers have; null where nothing is published. */
export function publishedFiles({ files }: Writing, { table, manifest }: TableView): Published | null {
  const download = manifest?.files.find(({ file }) => file === fileNames.download(table))
  if (manifest === null || download === undefined) return null
  return { manifest, download, addressOf: ({ file }) => files.file(table, manifest.snapshot, file) }
}
