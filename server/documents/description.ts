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
  /** Absolute addresses, that of `page` first. */
  readonly pagesOf: (language: Language, dataset?: Dataset, table?: Table) => readonly string[]
}

export function publisherOf({ catalog, page }: Writing): Party {
  return catalog.publisher ?? { name: catalog.title, url: page('en') }
}

export interface TableDescription {
  readonly dataset: Dataset
  readonly table: Table
  /** Null if nothing is published. */
  readonly manifest: Manifest | null
  /** Null if unknown. */
  readonly report: SnapshotReport | null
  /** Fields with nulls, or without counts of nulls, in any snapshot that can be queried. */
  readonly nullable: ReadonlySet<string>
}

export interface DatasetDescription {
  readonly dataset: Dataset
  readonly tables: readonly TableDescription[]
}
