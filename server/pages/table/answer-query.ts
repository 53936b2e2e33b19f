import type { ServerResponse } from 'node:http'
import type { Dataset, Field, Table } from '../../../core/catalog/catalog.ts'
import { publicPath, sendRedirect } from '../../http/redirect.ts'
import { pathOf, type ResourceRequest } from '../../http/resource.ts'
import { writtenIn } from '../number-formats.ts'
import { isNumber } from './view.ts'
import { targetOf } from '../../query/conditions.ts'
import { isOperator, operatorRow } from '../../query/operators.ts'
import type { RowQuery } from '../../query/query.ts'
import { parametersOf } from '../../query/parameters.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { problemOf } from '../../routes/problem-of.ts'
import { findDataset, findTable, unavailable } from '../../routes/find.ts'
import type { PageService } from '../service.ts'

/** Parsed query of a page, and the snapshot that answers it. */
export interface AnswerableQuery<Query> {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: Query
}

/**
 * Answers the query in an address, or redirects to the canonical address.
 * @param orCurrent true to answer from the current snapshot if the requested one is no longer kept
 */
export async function answerQuery<Query extends Pick<RowQuery, 'snapshot'>>(
  service: PageService,
  { params, target }: ResourceRequest,
  res: ServerResponse,
  parse: (table: Table, target: string) => Query,
  answer: (found: AnswerableQuery<Query>) => Promise<void>,
  orCurrent = false,
): Promise<void> {
  const dataset = findDataset(service.catalog, params)
  const table = findTable(dataset, params)
  if (redirectToCanonical(service.publicUrl, target, res)) return
  const { typed } = writtenIn(service.context.words)
  const asTyped = new URLSearchParams(
    parametersOf(target).map(([name, text]) => {
      const field = numberField(table, name)
      return [name, field === null ? text : typed(text, field.type === 'integer')]
    }),
  )
  const query = parse(table, `?${asTyped.toString()}`)
  const work = (snapshot: Snapshot): Promise<void> => answer({ dataset, table, snapshot, query })
  await withSnapshot(service, table, query.snapshot, work, orCurrent)
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
  service: PageService,
  table: Table,
  snapshotParameter: RowQuery['snapshot'],
  work: (snapshot: Snapshot) => Promise<void>,
  orCurrent = false,
): Promise<void> {
  const { snapshots, context, publicUrl, files } = service
  const { addresses, language } = context
  const pinned = snapshotParameter === 'current' ? null : snapshotParameter
  await snapshots
    .use(table, pinned, async (snapshot) => {
      if (snapshot === null && orCurrent && pinned !== null) {
        await withSnapshot(service, table, null, work)
        return
      }
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

/** Parameters that forms send several times for one list. */
const joinedNames: ReadonlySet<string> = new Set(['fields', 'group'])

/** Removes empty parameters and joins lists; null if nothing changes. */
function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filled = pairs.filter(([, value]) => value !== '')
  const tidy = new URLSearchParams()
  for (const [name, value] of filled) {
    const before = joinedNames.has(name) ? tidy.get(name) : null
    if (before === null) tidy.append(name, value)
    else if (before !== value) tidy.set(name, `${before},${value}`)
  }
  if (filled.length === pairs.length && tidy.size === pairs.length) return null
  return tidy.size === 0 ? '' : `?${tidy.toString()}`
}
