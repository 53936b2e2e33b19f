import type { Dataset, Table } from '../../core/catalog/catalog.ts'

type DatasetName = Pick<Dataset, 'slug'>
type TableName = Pick<Table, 'dataset' | 'name'>

/** Absolute addresses of documents for machines, which belong to no family. */
export interface DocumentAddresses {
  /** DCAT-AP, as JSON-LD and as Turtle; without an extension, the representation is negotiated. */
  readonly catalog: (ending?: 'jsonld' | 'ttl', page?: number) => string
  /** A document about a dataset, by its file name. */
  readonly ofDataset: (dataset: DatasetName, file: string) => string
  /** A document about a table, by its file name. */
  readonly ofTable: (table: TableName, file: string) => string
  readonly feed: () => string
  readonly datasetFeed: (dataset: DatasetName) => string
  readonly tableFeed: (table: TableName) => string
  /** A document about the service, such as `robots.txt`. */
  readonly ofService: (path: string) => string
}

export function documentAddresses(publicUrl: URL): DocumentAddresses {
  const base = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}`
  return {
    catalog: (ending, page = 1) =>
      `${base}/catalog${ending === undefined ? '' : `.${ending}`}${page > 1 ? `?page=${page}` : ''}`,
    ofDataset: ({ slug }, file) => `${base}/metadata/${slug}/${file}`,
    ofTable: ({ dataset, name }, file) => `${base}/metadata/${dataset}/${name}/${file}`,
    feed: () => `${base}/feeds/atom.xml`,
    datasetFeed: ({ slug }) => `${base}/feeds/${slug}/atom.xml`,
    tableFeed: ({ dataset, name }) => `${base}/feeds/${dataset}/${name}/atom.xml`,
    ofService: (path) => `${base}/${path}`,
  }
}
