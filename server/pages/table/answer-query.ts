import { valueFromInput } from '../../documents/words/value-text.ts'
import type { Dataset, Field, Table } from '../../../core/catalog/catalog.ts'
import { publicPath } from '../../http/redirect.ts'
import type { NamedResponse } from '../../http/responder.ts'
import { pathOf, type Found, type ResourceRequest } from '../../http/resource.ts'
import { targetOf } from '../../query/conditions.ts'
import { isOperator, operatorRow } from '../../query/operators.ts'
import type { RowQuery } from '../../query/query.ts'
import { parametersOf } from '../../query/parameters.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { problemOf } from '../../routes/problem-of.ts'
import { findDataset, findTable, unavailable } from '../../routes/find.ts'
import type { PageService } from '../service.ts'

/** A parsed query, with the snapshot that answers it. */
export interface AnswerableQuery<Query> {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: Query
}

/**
 * Responds to a query, or redirects to the canonical address if a form has sent empty parameters or repeated
 * lists.
 * @param orCurrent true to answer from the current snapshot if the requested one is no longer kept
 * @throws Problem not-published or snapshot-gone, with a link to the current snapshot
 */
export async function answerQuery<Query extends Pick<RowQuery, 'snapshot'>>(
  service: PageService,
  { params, target }: ResourceRequest,
  parse: (table: Table, target: string) => Query,
  answer: (answerable: AnswerableQuery<Query>) => NamedResponse,
  orCurrent = false,
): Promise<Found> {
  const dataset = findDataset(service.catalog, params)
  const table = findTable(dataset, params)
  const tidyQuery = tidied(target)
  if (tidyQuery !== null)
    return { status: 303, location: publicPath(service.publicUrl, pathOf(target)) + tidyQuery }
  const convertedParameters = new URLSearchParams(
    parametersOf(target).map(([name, text]) => {
      const field = comparedField(table, name)
      return [name, field === null ? text : valueFromInput(service.context.words, field, text)]
    }),
  )
  const query = parse(table, `?${convertedParameters.toString()}`)
  const throwProblem = (error: unknown): never => {
    throw problemOf(error, service.files.download(table))
  }
  const snapshot = await snapshotOf(service, table, query.snapshot, orCurrent).catch(throwProblem)
  const response = answer({ dataset, table, snapshot, query })
  return {
    ...response,
    body: async (...bodyArguments) => {
      try {
        return await response.body(...bodyArguments)
      } catch (error) {
        return throwProblem(error)
      }
    },
  }
}

function comparedField(table: Table, name: string): Field | null {
  const target = targetOf(table, name)
  const operator = target?.operator ?? 'eq'
  const isOfValue = isOperator(operator) && operatorRow(operator).operandKind === 'value'
  return target !== null && isOfValue ? target.field : null
}

async function snapshotOf(
  { snapshots, context, publicUrl }: PageService,
  table: Table,
  requested: RowQuery['snapshot'],
  orCurrent: boolean,
): Promise<Snapshot> {
  const { addresses, language } = context
  const pinnedId = requested === 'current' ? null : requested
  const snapshot =
    (await snapshots.use(table, pinnedId, async (loaded) => loaded)) ??
    (orCurrent ? snapshots.current(table) : null)
  if (snapshot !== null) return snapshot
  const newestAddress = `${publicUrl.origin}${addresses.table(language, table)}`
  throw unavailable(table, pinnedId, snapshots, newestAddress)
}

/** Forms repeat these parameters for each item of a list. */
const joinedNames: ReadonlySet<string> = new Set(['fields', 'group'])

function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filledPairs = pairs.filter(([, value]) => value !== '')
  const tidy = new URLSearchParams()
  for (const [name, value] of filledPairs) {
    const isList = joinedNames.has(name) || name.endsWith('__in')
    const before = isList ? tidy.get(name) : null
    if (before === null) tidy.append(name, value)
    else if (before !== value) tidy.set(name, `${before},${value}`)
  }
  if (filledPairs.length === pairs.length && tidy.size === pairs.length) return null
  return tidy.size === 0 ? '' : `?${tidy.toString()}`
}
