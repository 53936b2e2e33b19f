import type { AddressForm, Dataset, Family, Table } from '../../core/catalog/catalog.ts'
import { fileNames } from '../../core/warehouse/layout.ts'

export interface Addresses {
  readonly list: string
  readonly dataset: (dataset: Dataset) => string
  /** What the table is: its fields, and what may be asked of them. */
  readonly table: (dataset: Dataset, table: Table) => string
  readonly data: (dataset: Dataset, table: Table) => string
  /** A whole selection as a stream. */
  readonly export: (dataset: Dataset, table: Table) => string
}

/**
 * The absolute addresses of one family (spec: Versioning 2 and 3). They are made from PUBLIC_URL and the
 * catalog alone, so no header of a request can change them.
 */
export function addressesOf(family: Family, publicUrl: URL): Addresses {
  const base = baseOf(family, publicUrl)
  const ofRows = (dataset: Dataset, path: string): string =>
    `${base}/dataset/${dataset.slug}/${path}${slash(formOf(dataset, family).dataSlash)}`
  return {
    list: `${base}/datasets${slash(family.trailingSlash)}`,
    dataset: (dataset) => `${base}/dataset/${dataset.slug}${slash(formOf(dataset, family).detailSlash)}`,
    table: (dataset, table) => ofRows(dataset, table.name),
    data: (dataset, table) => ofRows(dataset, `${table.name}/data`),
    export: (dataset, table) => ofRows(dataset, `${table.name}/export`),
  }
}

export interface FileAddresses {
  /** Of all files, without a final slash. */
  readonly base: string
  readonly dataset: (dataset: Dataset) => string
  readonly sums: (dataset: Dataset) => string
  readonly listing: (table: Table) => string
  /** Leads to the file of the current snapshot. */
  readonly download: (table: Table) => string
  /** Leads to the part of this index, from 0, in the current snapshot, as long as that has `count` parts. */
  readonly parquet: (table: Table, index: number, count: number) => string
  readonly file: (table: Table, snapshot: string, file: string) => string
}

/** The addresses of published files, which belong to no family; made from PUBLIC_URL and the catalog alone. */
export function fileAddresses(publicUrl: URL): FileAddresses {
  const base = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}/files`
  return {
    base,
    dataset: ({ slug }) => `${base}/${slug}/`,
    sums: ({ slug }) => `${base}/${slug}/SHA512SUMS`,
    listing: ({ dataset, name }) => `${base}/${dataset}/${name}/`,
    download: (table) => `${base}/${table.dataset}/${fileNames.download(table)}`,
    parquet: ({ dataset, name }, index, count) =>
      `${base}/${dataset}/${name}${partSuffix(index, count)}.parquet`,
    file: ({ dataset, name }, snapshot, file) => `${base}/${dataset}/${name}/${snapshot}/${file}`,
  }
}

/** End of the name of a part, as in `t-00000-of-00003.parquet`; empty for a single one. */
function partSuffix(index: number, count: number): string {
  const [position, total] = [index, count].map((number) => String(number).padStart(5, '0'))
  return count === 1 ? '' : `-${position}-of-${total}`
}

/**
 * Parses the name of a Parquet file that has a stable address.
 *
 * @param name without its ending, such as `t` or `t-00000-of-00003`
 */
export function parsePartName(name: string): { table: string; index: number; count: number } {
  const [, table, index, count] = /^(.+)-(\d{5})-of-(\d{5})$/.exec(name) ?? []
  return table === undefined
    ? { table: name, index: 0, count: 1 }
    : { table, index: Number(index), count: Number(count) }
}

/** How a dataset is written in a family. */
export function formOf(dataset: Dataset, family: Family): AddressForm {
  const form = dataset.forms.get(family.name)
  if (form === undefined) throw new Error(`${dataset.slug} has no form in the family ${family.name}`)
  return form
}

/** An address with query parameters in alphabetical order; `page` only where it is not the first. */
export function withQuery(address: string, parameters: ReadonlyMap<string, string>, page: number): string {
  const all = [...parameters].filter(([name]) => name !== 'page')
  if (page > 1) all.push(['page', String(page)])
  if (all.length === 0) return address
  return `${address}?${new URLSearchParams(all.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString()}`
}

/** Families that write http addresses into pages that come by https, where browsers do not follow them. */
export function mixedFamilies(families: readonly Family[], publicUrl: URL): Family[] {
  return families.filter(
    (family) => publicUrl.protocol === 'https:' && schemeOf(family, publicUrl) === 'http:',
  )
}

// On one's own machine there is no TLS, and every link must simply work.
function schemeOf({ scheme }: Family, publicUrl: URL): string {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(publicUrl.hostname)
  return isLoopback || scheme === 'public' ? publicUrl.protocol : `${scheme}:`
}

function baseOf(family: Family, publicUrl: URL): string {
  return `${schemeOf(family, publicUrl)}//${publicUrl.host}${publicUrl.pathname.replace(/\/$/, '')}${family.prefix}`
}

function slash(ends: boolean): string {
  return ends ? '/' : ''
}
