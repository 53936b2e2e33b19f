import type { AddressForm, Dataset, Family, Table } from '../../core/catalog/catalog.ts'
import { fileNames } from '../../core/warehouse/layout.ts'

export interface Addresses {
  readonly list: string
  readonly dataset: (dataset: Dataset) => string
  readonly table: (dataset: Dataset, table: Table) => string
  readonly data: (dataset: Dataset, table: Table) => string
  readonly export: (dataset: Dataset, table: Table) => string
  readonly aggregate: (dataset: Dataset, table: Table) => string
  readonly changes: (dataset: Dataset, table: Table) => string
  readonly history: (dataset: Dataset, table: Table) => string
}

/**
 * Derives absolute addresses from PUBLIC_URL and the catalog (spec: Versioning 2 and 3), so that no header
 * can change them.
 */
export function addressesOf(family: Family, publicUrl: URL): Addresses {
  const base = baseOf(family, publicUrl)
  const ofRows = (dataset: Dataset, path: string): string =>
    `${base}/dataset/${dataset.slug}/${path}${slash(addressForm(dataset, family).dataSlash)}`
  return {
    list: `${base}/datasets${slash(family.trailingSlash)}`,
    dataset: (dataset) => `${base}/dataset/${dataset.slug}${slash(addressForm(dataset, family).detailSlash)}`,
    table: (dataset, table) => ofRows(dataset, table.name),
    data: (dataset, table) => ofRows(dataset, `${table.name}/data`),
    export: (dataset, table) => ofRows(dataset, `${table.name}/export`),
    aggregate: (dataset, table) => ofRows(dataset, `${table.name}/aggregate`),
    changes: (dataset, table) => ofRows(dataset, `${table.name}/changes`),
    history: (dataset, table) => ofRows(dataset, `${table.name}/history`),
  }
}

export interface FileAddresses {
  readonly base: string
  readonly dataset: (dataset: Dataset) => string
  readonly sums: (dataset: Dataset) => string
  readonly listing: (table: Table) => string
  readonly download: (table: Table) => string
  /** Redirects to the part at this index, from 0, while the snapshot has `count` parts. */
  readonly parquet: (table: Table, index: number, count: number) => string
  readonly file: (table: Table, snapshot: string, file: string) => string
}

/** Published files belong to no family; their addresses derive from PUBLIC_URL and the catalog alone. */
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

function partSuffix(index: number, count: number): string {
  const [position, total] = [index, count].map((number) => String(number).padStart(5, '0'))
  return count === 1 ? '' : `-${position}-of-${total}`
}

/** @param name without extension, such as `t` or `t-00000-of-00003` */
export function parsePartName(name: string): { table: string; index: number; count: number } {
  const [, table, index, count] = /^(.+)-(\d{5})-of-(\d{5})$/.exec(name) ?? []
  return table === undefined
    ? { table: name, index: 0, count: 1 }
    : { table, index: Number(index), count: Number(count) }
}

export function addressForm(dataset: Dataset, family: Family): AddressForm {
  const form = dataset.forms.get(family.name)
  if (form === undefined) throw new Error(`${dataset.slug} has no address form in the family ${family.name}`)
  return form
}

/** Parameters in alphabetical order; `page` only beyond the first page. */
export function withQuery(address: string, parameters: ReadonlyMap<string, string>, page: number): string {
  const entries = [...parameters].filter(([name]) => name !== 'page')
  if (page > 1) entries.push(['page', String(page)])
  if (entries.length === 0) return address
  const query = new URLSearchParams(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString()
  // DuckDB takes a `*` in an address for a pattern of several files.
  return `${address}?${query.replaceAll('*', '%2A')}`
}

/** Families whose http addresses browsers do not follow from https pages. */
export function mixedFamilies(families: readonly Family[], publicUrl: URL): Family[] {
  return families.filter(
    (family) => publicUrl.protocol === 'https:' && schemeOf(family, publicUrl) === 'http:',
  )
}

// A loopback address usually has no TLS, so it keeps the scheme of PUBLIC_URL.
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
