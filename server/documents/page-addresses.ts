import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import { withQuery } from '../http/addresses.ts'
import type { QueryParameters } from '../query/parameters.ts'

/** Pages of a table besides its rows. */
export const aspects = ['chart', 'changes', 'fields', 'api', 'sql'] as const
export type Aspect = (typeof aspects)[number]

type DatasetName = Pick<Dataset, 'slug'>
type TableName = Pick<Table, 'dataset' | 'name'>

export interface PageAddresses {
  readonly home: (language: Language) => string
  readonly aboutPage: (language: Language) => string
  readonly limits: (language: Language) => string
  readonly dataset: (language: Language, dataset: DatasetName) => string
  readonly files: (language: Language, dataset: DatasetName) => string
  readonly citation: (language: Language, dataset: DatasetName) => string
  readonly table: (
    language: Language,
    table: TableName,
    parameters?: QueryParameters,
    page?: number,
  ) => string
  readonly aspect: (
    language: Language,
    table: TableName,
    aspect: Aspect,
    parameters?: QueryParameters,
  ) => string
  readonly chartFile: (language: Language, table: TableName, parameters: QueryParameters) => string
  readonly workbook: (language: Language, table: TableName, parameters: QueryParameters) => string
  /** Pages that other sites show in frames. */
  readonly embed: (
    language: Language,
    table: TableName,
    kind: 'chart' | null,
    parameters: QueryParameters,
  ) => string
  readonly oEmbed: string
  readonly reference: (language: Language, table?: TableName) => string
  readonly dictionary: (language: Language, table: TableName) => string
  /** @param number from 1, among the rows of the query and in its order */
  readonly row: (language: Language, table: TableName, number: number, parameters: QueryParameters) => string
  readonly asset: (asset: { readonly file: string }) => string
  readonly search: string
}

export function pageAddresses(publicUrl: URL): PageAddresses {
  const base = publicUrl.pathname.replace(/\/$/, '')
  const datasetOf = (language: Language, { slug }: DatasetName): string =>
    `${base}/${language}/dataset/${slug}/`
  const tableOf = (language: Language, { dataset, name }: TableName): string =>
    `${datasetOf(language, { slug: dataset })}${name}/`
  return {
    home: (language) => `${base}/${language}/`,
    aboutPage: (language) => `${base}/${language}/about/`,
    limits: (language) => `${base}/${language}/limits/`,
    dataset: datasetOf,
    files: (language, { slug }) => `${base}/${language}/files/${slug}/`,
    citation: (language, dataset) => `${datasetOf(language, dataset)}cite.bib`,
    table: (language, table, parameters = new Map(), page = 1) =>
      withQuery(tableOf(language, table), parameters, page),
    aspect: (language, table, aspect, parameters = new Map()) =>
      withQuery(`${tableOf(language, table)}${aspect}/`, parameters, 1),
    chartFile: (language, table, parameters) =>
      withQuery(`${tableOf(language, table)}chart.svg`, parameters, 1),
    workbook: (language, table, parameters) =>
      withQuery(`${tableOf(language, table)}rows.xlsx`, parameters, 1),
    embed: (language, { dataset, name }, kind, parameters) =>
      withQuery(
        `${base}/${language}/embed/${dataset}/${name}/${kind === null ? '' : `${kind}/`}`,
        parameters,
        1,
      ),
    oEmbed: `${base}/oembed`,
    reference: (language, table) =>
      table === undefined ? `${base}/${language}/reference/` : `${tableOf(language, table)}reference/`,
    dictionary: (language, table) => `${tableOf(language, table)}fields.csv`,
    row: (language, table, number, parameters) =>
      withQuery(`${tableOf(language, table)}row/${number}/`, parameters, 1),
    asset: ({ file }) => `${base}/assets/${file}`,
    search: `${base}/opensearch.xml`,
  }
}
