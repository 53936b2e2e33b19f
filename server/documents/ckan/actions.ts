import type { DatasetDescription, Writing } from '../description.ts'
import { packageOf, type Package } from './package.ts'
import { InvalidSearch, parseSearch, parseSort } from './query.ts'

/** Texts from a query string, any values from JSON. */
export type ActionParameters = Readonly<Record<string, unknown>>

export class ActionError extends Error {
  readonly status: number
  readonly type: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    type: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.type = type
    this.details = details
  }
}

export interface Ckan {
  readonly writing: Writing
  readonly packages: readonly Package[]
}

export function ckanOf(writing: Writing, views: readonly DatasetDescription[]): Ckan {
  const packages = views
    .filter(({ dataset }) => dataset.listedIn.size > 0)
    .map((view) => packageOf(writing, view))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { writing, packages }
}

/** Descriptions of the results, for `help_show` and the OpenAPI document. */
export const summaries = {
  package_list: 'The names of all datasets.',
  package_show: 'A dataset by its name or id.',
  package_search: 'Datasets that match a query in a subset of the Solr syntax.',
  status_show: 'Description of the service.',
  site_read: 'State of the service.',
  help_show: 'Description of an action by its name.',
} as const

function isAction(name: string): name is keyof typeof summaries {
  return Object.hasOwn(summaries, name)
}

/** Actions that harvesters and clients of CKAN use. Ignores unknown parameters, as CKAN does. */
export const actions: Readonly<Record<string, (ckan: Ckan, parameters: ActionParameters) => unknown>> = {
  package_list: ({ packages }, parameters) => {
    const offset = integerIn(parameters, 'offset', 0)
    return packages
      .slice(offset, offset + integerIn(parameters, 'limit', packages.length))
      .map(({ name }) => name)
  },
  package_show: ({ packages }, parameters) => {
    const id = textIn(parameters, 'id') ?? textIn(parameters, 'name_or_id')
    if (id === undefined) throw invalid('name_or_id', 'Missing value')
    const match = packages.find((item) => item.name === id || item.id === id)
    if (match === undefined) throw new ActionError(404, 'Not Found Error', 'Not found')
    return match
  },
  package_search: ({ packages }, parameters) => {
    try {
      return searchPackages(packages, parameters)
    } catch (error) {
      if (!(error instanceof InvalidSearch)) throw error
      throw new ActionError(400, 'Search Query Error', `Search Query is invalid: ${error.message}`)
    }
  },
  status_show: ({ writing: { catalog, base } }) => ({
    ckan_version: '2.10.0',
    site_title: catalog.title,
    site_description: catalog.description,
    site_url: base,
    error_emails_to: null,
    locale_default: [...catalog.inLanguage.keys()][0] ?? 'en',
    extensions: [],
  }),
  site_read: () => true,
  help_show: (_ckan, parameters) => {
    const name = textIn(parameters, 'name')
    if (name === undefined) throw invalid('name', 'Missing value')
    if (!isAction(name)) throw new ActionError(404, 'Not Found Error', 'Not found')
    return summaries[name]
  },
}

const [rowsDefault, rowsMax] = [10, 1000]
const sortDefault = 'score desc, metadata_modified desc'

function searchPackages(packages: readonly Package[], parameters: ActionParameters): unknown {
  const matches = parseSearch([
    textIn(parameters, 'q') ?? '*:*',
    ...textsIn(parameters, 'fq'),
    ...textsIn(parameters, 'fq_list'),
  ])
  const sort = textIn(parameters, 'sort') ?? sortDefault
  const matchingPackages = packages.filter(matches).toSorted(parseSort(sort))
  const [start, rows] = [
    integerIn(parameters, 'start', 0),
    Math.min(rowsMax, integerIn(parameters, 'rows', rowsDefault)),
  ]
  return {
    count: matchingPackages.length,
    sort,
    results: matchingPackages.slice(start, start + rows),
    facets: {},
    search_facets: {},
  }
}

function invalid(name: string, message: string): ActionError {
  return new ActionError(409, 'Validation Error', `${name}: ${message}`, { [name]: [message] })
}

function integerIn(parameters: ActionParameters, name: string, fallback: number): number {
  const value = parameters[name]
  if (value === undefined || value === null || value === '') return fallback
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (!/^\d{1,9}$/.test(text)) throw invalid(name, 'Must be a natural number')
  return Number(text)
}

function textIn(parameters: ActionParameters, name: string): string | undefined {
  if (Array.isArray(parameters[name])) throw invalid(name, 'Must be one text')
  const [text] = textsIn(parameters, name)
  return text === '' ? undefined : text
}

function textsIn(parameters: ActionParameters, name: string): string[] {
  const value = parameters[name]
  if (value === undefined || value === null) return []
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  return texts.map((text) => {
    if (typeof text !== 'string') throw invalid(name, 'Must be a text')
    return text
  })
}
