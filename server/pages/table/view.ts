import type { Dataset, Field, Table } from '../../../core/catalog/catalog.ts'
import { type FileAddresses, withQuery } from '../../http/addresses.ts'
import { parameterFor } from '../../query/conditions.ts'
import { isParameterName, type RowQuery } from '../../query/query.ts'
import { readValue } from '../../query/operators.ts'
import { formatFields, parametersOf, type QueryParameters } from '../../query/parameters.ts'
import { fixedFields, type Hint } from '../../table/selection/selections.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { cellsFormat } from '../../formats/cells.ts'
import type { ResourceRequest } from '../../http/resource.ts'
import {
  type PageLinks,
  pageBody,
  pageOf,
  type Page,
  type PageBody,
} from '../../table/representations/page.ts'
import { rowAddresses, type PageService } from '../service.ts'
import { requesterOf } from '../../routes/find.ts'

export interface QueryView {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: RowQuery
}

export interface TableView extends QueryView {
  readonly range: {
    readonly count: number
    readonly page: number
    readonly lastPage: number
    readonly first: number
  }
  readonly downloadFields: readonly Field[]
  /** Fields of the query, or the default columns. */
  readonly fields: readonly Field[]
  /** Unrounded values, in the order of the fields. */
  readonly rows: readonly (readonly (string | null)[])[]
  readonly positions: Uint32Array
  readonly hints: readonly Hint[]
  readonly files: FileAddresses
  readonly exportAddress: (parameters: QueryParameters) => string
  readonly dataAddress: (parameters: QueryParameters, page: number) => string
}

/**
 * Changes parameters; null removes one. The result has no page number, so that links start at the first page.
 */
export function withParameters(
  { query }: Pick<QueryView, 'query'>,
  changes: Readonly<Record<string, string | null>>,
): QueryParameters {
  const parameters = new Map(query.parameters)
  for (const [name, text] of Object.entries(changes)) {
    if (text === null) parameters.delete(name)
    else parameters.set(name, text)
  }
  return parameters
}

/** Leaves out `page_size` and `format`, which select no rows. */
export function rowParameters(view: Pick<QueryView, 'query'>): QueryParameters {
  return withParameters(view, { page_size: null, format: null })
}

export function queryLink(parameters: QueryParameters, page = 1): string {
  const entries = new URLSearchParams([...parameters])
  if (page > 1) entries.set('page', String(page))
  return `?${entries.toString()}`
}

export function withoutField(view: QueryView, { name }: Field): QueryParameters {
  const fieldConditions = view.query.conditions.filter(({ field }) => field.name === name)
  const parameters = new Map(view.query.parameters)
  for (const condition of fieldConditions)
    parameters.delete(parameterOf(view, condition.field.name, condition.operator))
  return parameters
}

export function equalTo(field: Field, text: string): [name: string, text: string] | null {
  const value = readValue(field, text)
  return value === null ? null : parameterFor({ field, operator: 'eq', values: [value] }, isParameterName)
}

export function parameterOf({ query }: Pick<QueryView, 'query'>, field: string, operator: string): string {
  const fullName = `${field}__${operator}`
  return query.parameters.has(fullName) ? fullName : field
}

/** HTML pages have links of their own. */
const noLinks: PageLinks = { to: () => '', alternates: () => [], downloadUrl: '' }

export function rowsPage(snapshot: Snapshot, query: RowQuery): Page {
  return pageOf(snapshot, query, cellsFormat, noLinks)
}

interface Viewed {
  readonly view: TableView
  readonly serverTiming: string
}

export async function viewOf(
  queryView: QueryView,
  page: Page,
  service: PageService,
  request: ResourceRequest,
  signal: () => AbortSignal,
): Promise<Viewed> {
  const { engine, pageBytesMax } = service
  const body = await pageBody(page, engine, requesterOf(request, signal, pageBytesMax))
  return { view: viewFrom(queryView, body, service), serverTiming: body.serverTiming }
}

/** Keeps a choice of all fields, which would otherwise become the default columns. */
export function withNamedFields(table: Table, target: string, query: RowQuery): RowQuery {
  const isChosen = parametersOf(target).some(([name, text]) => name === 'fields' && text !== '')
  if (table.defaultColumns === null || !isChosen || query.parameters.has('fields')) return query
  return { ...query, parameters: withParameters({ query }, { fields: formatFields(table.fields) }) }
}

/** Changes nothing if the query names fields. */
export function withDefaultColumns(view: TableView): TableView {
  const { table, query, fields, rows } = view
  if (table.defaultColumns === null || query.parameters.has('fields')) return view
  // Fields fixed by filters come last, since narrow screens keep the first column in view.
  const fixedNames = fixedFields(query)
  const names = table.defaultColumns.toSorted((a, b) => Number(fixedNames.has(a)) - Number(fixedNames.has(b)))
  const indexes = names.map((name) => fields.findIndex((field) => field.name === name))
  return {
    ...view,
    fields: indexes.flatMap((place) => fields[place] ?? []),
    rows: rows.map((row) => indexes.map((place) => row[place] ?? null)),
  }
}

function viewFrom(
  { dataset, table, snapshot, query }: QueryView,
  { pieces, range, positions, hints }: PageBody,
  service: PageService,
): TableView {
  const selectedFields = table.fields.filter((field) => query.fields.includes(field))
  // Each row has its values in alphabetical order of the fields.
  const places = selectedFields.map((field) => query.fields.indexOf(field))
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const texts = JSON.parse(Buffer.concat(bytes).toString()) as (string | null)[][]
  return {
    dataset,
    table,
    snapshot,
    query,
    range,
    positions,
    hints,
    files: service.files,
    downloadFields: selectedFields,
    fields: selectedFields,
    rows: texts.map((row) => places.map((place) => row[place] ?? null)),
    ...rowLinks(service, dataset, table),
  }
}

export function rowLinks(
  service: PageService,
  dataset: Dataset,
  table: Table,
): Pick<TableView, 'exportAddress' | 'dataAddress'> {
  const addresses = rowAddresses(service)
  const [exported, data] = [addresses.export(dataset, table), addresses.data(dataset, table)]
  return {
    exportAddress: (parameters) => withQuery(exported, parameters, 1),
    dataAddress: (parameters, page) => withQuery(data, parameters, page),
  }
}
