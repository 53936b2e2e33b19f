import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import { withQuery } from '../http/addresses.ts'
import type { QueryParameters } from '../query/parameters.ts'
import type { Language } from '../../core/catalog/names.ts'

type DatasetName = Pick<Dataset, 'slug'>
type TableName = Pick<Table, 'dataset' | 'name'>

/** Addresses of documents for machines; they belong to no family. */
export interface DocumentAddresses {
  /** DCAT-AP; without an extension, the representation is negotiated. */
  readonly catalog: (ending?: 'jsonld' | 'ttl', page?: number) => string
  readonly ofDataset: (dataset: DatasetName, file: string) => string
  readonly ofTable: (table: TableName, file: string) => string
  /** Without a language, feeds are in English. */
  readonly feed: (language?: Language) => string
  readonly datasetFeed: (dataset: DatasetName, language?: Language) => string
  /** @param parameters query of a feed; none for all changes */
  readonly tableFeed: (table: TableName, language?: Language, parameters?: QueryParameters) => string
  readonly ofService: (path: string) => string
}

function languageQuery(language: Language = 'en'): string {
  return language === 'en' ? '' : `?lang=${language}`
}

export function documentAddresses(publicUrl: URL): DocumentAddresses {
  const base = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}`
  return {
    catalog: (ending, page = 1) =>
      `${base}/catalog${ending === undefined ? '' : `.${ending}`}${page > 1 ? `?page=${page}` : ''}`,
    ofDataset: ({ slug }, file) => `${base}/metadata/${slug}/${file}`,
    ofTable: ({ dataset, name }, file) => `${base}/metadata/${dataset}/${name}/${file}`,
    feed: (language) => `${base}/feeds/atom.xml${languageQuery(language)}`,
    datasetFeed: ({ slug }, language) => `${base}/feeds/${slug}/atom.xml${languageQuery(language)}`,
    tableFeed: ({ dataset, name }, language = 'en', parameters = new Map()) =>
      withQuery(
        `${base}/feeds/${dataset}/${name}/atom.xml`,
        new Map([...parameters, ...(language === 'en' ? [] : [['lang', language] as const])]),
        1,
      ),
    ofService: (path) => `${base}/${path}`,
  }
}
