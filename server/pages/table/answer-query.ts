import type { ServerResponse } from 'node:http'
import type { Dataset, Field, Table } from '../../../core/catalog/catalog.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import { publicPath, sendRedirect } from '../../http/redirect.ts'
import { pathOf, type ResourceRequest } from '../../http/resource.ts'
import { writtenIn } from '../number-formats.ts'
import { isNumber } from './view.ts'
import { targetOf } from '../../query/conditions.ts'
import { isOperator, operatorRow } from '../../query/operators.ts'
import { parseRowQuery, type ParameterName, type RowQuery } from '../../query/query.ts'
import { parametersOf } from '../../query/parameters.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { problemOf } from '../../routes/problem-of.ts'
import { findDataset, findTable, unavailable } from '../../routes/find.ts'
import type { PageService } from '../service.ts'

/** Parsed query of a page, and the snapshot that answers it. */
interface AnswerableQuery {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: RowQuery
  /** Parameters that only this page has, such as the settings of a chart. */
  readonly own: ReadonlyMap<string, string>
}

interface Form {
  /** Row parameters that the page does not accept. */
  readonly without: readonly ParameterName[]
  /** Names of parameters that only this page has, such as the settings of a chart. */
  readonly own?: readonly string[]
  /** Default and maximum of rows per page: markup of more rows would delay other requests. */
  readonly pageSize?: { readonly default: number; readonly max: number }
}

/** Answers the query in an address, or redirects to the canonical address. */
export async function answerQuery(
  service: PageService,
  { params, target }: ResourceRequest,
  res: ServerResponse,
  { without, own = [], pageSize }: Form,
  answer: (queryView: AnswerableQuery) => Promise<void>,
): Promise<void> {
  const dataset = findDataset(service.catalog, params)
  const table = findTable(dataset, params)
  if (redirectToCanonical(service.publicUrl, target, res)) return
  const pairs = parametersOf(target)
  const { typed } = writtenIn(service.context.words)
  const rest = new URLSearchParams(
    pairs
      .filter(([name]) => !own.includes(name))
      .map(([name, text]) => {
        const field = numberField(table, name)
        return [name, field === null ? text : typed(text, field.type === 'integer')]
      }),
  )
  const query = parseRowQuery(table, `?${rest.toString()}`, without, pageSize?.default)
  if (pageSize !== undefined && query.pageSize > pageSize.max) {
    const message = `The parameter "page_size" must be a whole number from 1 to ${pageSize.max} on an HTML page.`
    throw unacceptableParameters([{ parameter: 'page_size', message }])
  }
  await withSnapshot(service, table, query.snapshot, (snapshot) =>
    answer({
      dataset,
      table,
      snapshot,
      query,
      own: new Map(pairs.filter(([name]) => own.includes(name))),
    }),
  )
}

/**
 * Returns the field that a parameter compares with a single number, which people may type in their own
 * format; null for other parameters.
 */
function numberField(table: Table, name: string): Field | null {
  const target = targetOf(table, name)
  if (target === null || !isNumber(target.field)) return null
  const operator = target.operator ?? 'eq'
  return isOperator(operator) && operatorRow(operator).operandKind === 'value' ? target.field : null
}

/** @throws Problem not-published or snapshot-gone, with a link to the current snapshot */
export async function withSnapshot(
  { snapshots, context: { addresses, language }, publicUrl, files }: PageService,
  table: Table,
  snapshotParameter: RowQuery['snapshot'],
  work: (snapshot: Snapshot) => Promise<void>,
): Promise<void> {
  const pinned = snapshotParameter === 'current' ? null : snapshotParameter
  await snapshots
    .use(table, pinned, async (snapshot) => {
      if (snapshot === null) {
        const newest = `${publicUrl.origin}${addresses.table(language, table)}`
        throw unavailable(table, pinned, snapshots, newest)
      }
      await work(snapshot)
    })
    .catch((error: unknown) => {
      throw problemOf(error, files.download(table))
    })
}

/**
 * Redirects to the canonical address if a form has sent empty parameters or repeated `fields`.
 * @returns whether it redirected
 */
function redirectToCanonical(publicUrl: URL, target: string, res: ServerResponse): boolean {
  const tidy = tidied(target)
  if (tidy === null) return false
  sendRedirect(res, 303, publicPath(publicUrl, pathOf(target)) + tidy)
  return true
}

/** Removes empty parameters and joins lists of fields; null if nothing changes. */
function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filled = pairs.filter(([, value]) => value !== '')
  const fields = filled.filter(([name]) => name === 'fields').map(([, value]) => value)
  if (filled.length === pairs.length && fields.length < 2) return null
  const tidy = new URLSearchParams(filled.filter(([name]) => name !== 'fields'))
  if (fields.length > 0) tidy.set('fields', fields.join(','))
  return tidy.size === 0 ? '' : `?${tidy.toString()}`
}
