import type { Digits, FieldType } from './field-types.ts'

/** What is published: catalog.yaml, checked and frozen. */
export interface Catalog {
  readonly title: string
  readonly description: string
  /** The sentence that asks readers to use the API sparingly (spec: Limits 1). */
  readonly notice: string
  readonly limits: { readonly rows: readonly Limit[]; readonly catalog: readonly Limit[] }
  readonly families: readonly Family[]
  /** By slug, in the order of declaration. */
  readonly datasets: ReadonlyMap<string, Dataset>
}

/** At most `requests` from one client in a window of `windowMs`. */
export interface Limit {
  readonly requests: number
  readonly windowMs: number
  /** The window as written in the catalog, such as `1m`. */
  readonly per: string
}

/** One way of addressing the whole catalog (spec: Versioning 1). */
export interface Family {
  readonly name: string
  /** Starts with a slash and ends without one. */
  readonly prefix: string
  readonly scheme: 'http' | 'https'
  readonly trailingSlash: boolean
}

/** How the addresses and times of one dataset are written in one family. */
export interface AddressForm {
  readonly detailSlash: boolean
  readonly dataSlash: boolean
  /** IANA zone in which `import_date` is written. */
  readonly timezone: string
}

export interface Party {
  readonly name: string
  readonly url: string
}

export interface Dataset {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly author: Party
  readonly source: Party
  readonly license: Party
  readonly codeUrl: string
  /** `YYYY-MM-DD`. */
  readonly collectedAt: string
  readonly links: readonly { readonly title: string; readonly url: string }[]
  /** Names of the families whose list shows this dataset; its detail answers in all of them. */
  readonly listedIn: ReadonlySet<string>
  /** By name of family. */
  readonly forms: ReadonlyMap<string, AddressForm>
  /** By name, in the order of declaration. */
  readonly tables: ReadonlyMap<string, Table>
}

export interface Table {
  readonly dataset: string
  readonly name: string
  /** In the order of declaration. */
  readonly fields: readonly Field[]
  /** The declared order; ingest makes it total by the position in the source. */
  readonly order: readonly OrderKey[]
  readonly filters: readonly string[]
  readonly search: readonly string[]
  readonly source: SourceForm
}

export interface Field extends Digits {
  readonly name: string
  readonly type: FieldType
}

export interface OrderKey {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/** How the source CSV is written. */
export interface SourceForm {
  readonly delimiter: string
  /** Header name in the source -> field name. */
  readonly rename: ReadonlyMap<string, string>
}

/** `dataset/table`, the name of a table on the command line, in logs and in reports. */
export function tableId(table: Pick<Table, 'dataset' | 'name'>): string {
  return `${table.dataset}/${table.name}`
}

export function allTables(catalog: Catalog): Table[] {
  return [...catalog.datasets.values()].flatMap((dataset) => [...dataset.tables.values()])
}
