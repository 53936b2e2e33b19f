import type { Catalog, Dataset, Party, Table } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { Addresses, FileAddresses } from '../http/addresses.ts'
import type { DocumentAddresses } from './addresses.ts'

export type Json = Readonly<Record<string, unknown>>

/** Catalog and addresses from which documents are written. */
export interface Writing {
  readonly catalog: Catalog
  /** PUBLIC_URL without a final slash. */
  readonly base: string
  /** Addresses in a family that https pages can link to. */
  readonly rows: Addresses
  readonly files: FileAddresses
  readonly documents: DocumentAddresses
  /** Absolute address of a page. */
  readonly page: (language: Language, dataset?: Dataset, table?: Table) => string
  /** Absolute addresses of all pages; `page` comes first. */
  readonly pagesOf: (language: Language, dataset?: Dataset, table?: Table) => readonly string[]
}

export function publisherOf({ catalog, page }: Writing): Party {
  return catalog.publisher ?? { name: catalog.title, url: page('en') }
}

export interface TableDescription {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest | null
  readonly report: SnapshotReport | null
  /** Fields that have nulls, or an unknown number of nulls, in any queryable snapshot. */
  readonly nullable: ReadonlySet<string>
}

export interface DatasetDescription {
  readonly dataset: Dataset
  readonly tables: readonly TableDescription[]
}
