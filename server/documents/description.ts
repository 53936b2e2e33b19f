import type { Catalog, Dataset, Party, Table } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Addresses, FileAddresses } from '../http/addresses.ts'
import type { DocumentAddresses } from './addresses.ts'

export type Json = Readonly<Record<string, unknown>>

/** Settings and addresses for writing documents. */
export interface Writing {
  readonly catalog: Catalog
  /** PUBLIC_URL without a final slash. */
  readonly base: string
  /** Addresses of rows, in a family that https pages can link to. */
  readonly rows: Addresses
  readonly files: FileAddresses
  readonly documents: DocumentAddresses
  /** Absolute address of a page. */
  readonly page: (language: Language, dataset?: Dataset, table?: Table) => string
  /** Absolute addresses of all pages about the service, a dataset or a table, that of `page` first. */
  readonly pagesOf: (language: Language, dataset?: Dataset, table?: Table) => readonly string[]
}

/** Returns the default publisher: the service itself if the catalog names none. */
export function publisherOf({ catalog, page }: Writing): Party {
  return catalog.publisher ?? { name: catalog.title, url: page('en') }
}

/** A table as documents describe it. */
export interface TableDescription {
  readonly dataset: Dataset
  readonly table: Table
  /** Manifest of the current snapshot; null if nothing is published. */
  readonly manifest: Manifest | null
  /** Report of the ingest; null if unknown. */
  readonly report: SnapshotReport | null
  /** Fields that may be null: some snapshot that can be queried has nulls in them, or has no counts. */
  readonly nullable: ReadonlySet<string>
}

export interface DatasetDescription {
  readonly dataset: Dataset
  readonly tables: readonly TableDescription[]
}
