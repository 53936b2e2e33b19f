import type { Table } from '../../core/catalog/catalog.ts'
import { isSnapshotId, type SnapshotId } from '../../core/warehouse/layout.ts'
import { Problem, unacceptableParameters } from '../http/problems.ts'
import { parseQuery, type Query } from '../http/query.ts'

/** What a reader asks of a table's rows: the query string as a value. */
export interface RowAsk {
  /** From 1; `last` is whatever page comes last. */
  readonly page: number | 'last'
  readonly pageSize: number
  /** Pins the answer to one snapshot; null takes the current one, whichever that is. */
  readonly snapshot: SnapshotId | 'current' | null
  readonly format: string | undefined
  /** The parameters as given, which the links to other pages keep. */
  readonly given: Query
}

/** The ancestor's default and maximum; outside it a size is refused, not silently changed. */
export const pageSizeDefault = 1000
export const pageSizeMax = 10_000

const parameters = ['page', 'page_size', 'snapshot', 'format']

/**
 * @param target path and query as they came
 * @throws Problem invalid-parameter for anything that is not understood, invalid-page for the page
 */
export function parseRowAsk(table: Table, target: string): RowAsk {
  // Web forms of the ancestor's clients send every field empty; that asks for nothing.
  const given = parseQuery(target, parameters, [
    ...table.fields.map((field) => field.name),
    'search',
    'ordering',
    'order-by',
  ])
  const pageSize = parsePageSize(given.get('page_size'))
  const snapshot = parseSnapshot(given.get('snapshot'))
  return { page: parsePage(given.get('page')), pageSize, snapshot, format: given.get('format'), given }
}

/** @throws Problem invalid-page where the text is no page number */
export function parsePage(text: string | undefined): number | 'last' {
  if (text === undefined) return 1
  if (text === 'last') return 'last'
  const page = /^\s*\+?0*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : 0
  if (page < 1) throw invalidPage()
  return page
}

/** The detail is the ancestor's, which clients compare. */
export function invalidPage(): Problem {
  return new Problem('invalid-page', 'Invalid page.')
}

function parsePageSize(text: string | undefined): number {
  if (text === undefined) return pageSizeDefault
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= pageSizeMax) return size
  const message = `The parameter "page_size" must be a whole number from 1 to ${pageSizeMax}.`
  throw unacceptableParameters([{ parameter: 'page_size', message }])
}

function parseSnapshot(text: string | undefined): RowAsk['snapshot'] {
  if (text === undefined) return null
  if (text === 'current' || isSnapshotId(text)) return text
  const message = 'The parameter "snapshot" must be "current" or the id of a snapshot, as in Acervo-Snapshot.'
  throw unacceptableParameters([{ parameter: 'snapshot', message }])
}
