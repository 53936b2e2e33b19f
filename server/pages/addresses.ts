import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { withQuery } from '../http/addresses.ts'
import type { QueryParameters } from '../query/string.ts'
import type { Language } from '../../core/catalog/languages.ts'

/** Addresses of pages, as paths below that of PUBLIC_URL. */
export interface PageAddresses {
  readonly home: (language: Language) => string
  readonly dataset: (language: Language, dataset: Pick<Dataset, 'slug'>) => string
  readonly table: (language: Language, table: Table, parameters?: QueryParameters, page?: number) => string
  readonly fields: (language: Language, table: Table) => string
  /** @param number from 1, in the order of the table */
  readonly row: (language: Language, table: Table, number: number, snapshot: SnapshotId) => string
  readonly style: string
}

export function pageAddresses(publicUrl: URL, styleName: string): PageAddresses {
  const base = publicUrl.pathname.replace(/\/$/, '')
  const tableOf = (language: Language, { dataset, name }: Table): string =>
    `${base}/${language}/dataset/${dataset}/${name}/`
  return {
    home: (language) => `${base}/${language}/`,
    dataset: (language, { slug }) => `${base}/${language}/dataset/${slug}/`,
    table: (language, table, parameters = new Map(), page = 1) =>
      withQuery(tableOf(language, table), parameters, page),
    fields: (language, table) => `${tableOf(language, table)}fields/`,
    row: (language, table, number, snapshot) =>
      `${tableOf(language, table)}row/${number}/?snapshot=${snapshot}`,
    style: `${base}/style/${styleName}.css`,
  }
}
