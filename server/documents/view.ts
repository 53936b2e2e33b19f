import type { Catalog, Dataset, Party, Table } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Addresses, FileAddresses } from '../http/addresses.ts'
import type { DocumentAddresses } from './addresses.ts'

export type Json = Readonly<Record<string, unknown>>

/** What documents are written with. */
export interface Writing {
  readonly catalog: Catalog
  /** PUBLIC_URL without a final slash. */
  readonly base: string
  /** Of rows, in the family whose addresses can be followed from wherever the document is read. */
  readonly rows: Addresses
  readonly files: FileAddresses
  readonly documents: DocumentAddresses
  /** Of pages for people, absolute. */
  readonly page: (language: Language, dataset?: Dataset, table?: Table) => string
  /** All of them that are about the service, a dataset or a table, the one of `page` first. */
  readonly pagesOf: (language: Language, dataset?: Dataset, table?: Table) => readonly string[]
}

/** Who publishes all that says nothing else: where nobody is named, the service itself. */
export function publisherOf({ catalog, page }: Writing): Party {
  return catalog.publisher ?? { name: catalog.title, url: page('en') }
}

/** A table as documents see it. */
export interface TableView {
  readonly dataset: Dataset
  readonly table: Table
  /** Of the current snapshot; null where nothing is published. */
  readonly manifest: Manifest | null
  /** What its ingest saw; null where that is not known. */
  readonly report: SnapshotReport | null
  /** The fields that may have nulls: that have some in a snapshot that can be asked for, or of which that is not known. */
  readonly nullable: ReadonlySet<string>
}

export interface DatasetView {
  readonly dataset: Dataset
  readonly tables: readonly TableView[]
}
