import type { ServerResponse } from 'node:http'
import type { Dataset, Field, Table } from '../../../core/catalog/catalog.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import type { ResourceRequest } from '../../http/resource.ts'
import { writtenIn } from '../numbers.ts'
import { isNumber } from './view.ts'
import { targetOf } from '../../query/conditions.ts'
import { isOperator, operatorRow } from '../../query/operators.ts'
import { parseRowQuery, type ParameterName, type RowQuery } from '../../query/query.ts'
import { parametersOf } from '../../query/parameters.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { problemOf } from '../../routes/problem-of.ts'
import { findDataset, findTable, unavailable } from '../../routes/find.ts'
import type { PageService } from '../service.ts'

/** What a reader asks of a table, and the snapshot that is to answer. */
interface Asked {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: RowQuery
  /** Parameters of the page itself. */
  readonly own: ReadonlyMap<string, string>
}

interface Form {
  /** Parameters of rows that the page does not take. */
  readonly without: readonly ParameterName[]
  /** Parameters of its own that it takes. */
  readonly own?: readonly string[]
  /** Rows of a page where the reader does not say, and at most: markup of very many would hold up everybody else. */
  readonly pageSize?: { readonly default: number; readonly max: number }
}

/** Answers what an address asks of a table, or leads to the one way of writing it. */
export async function answerAsk(
  service: PageService,
  { params, target }: ResourceRequest,
  res: ServerResponse,
  { without, own = [], pageSize }: Form,
  answer: (asked: Asked) => Promise<void>,
): Promise<void> {
  const dataset = findDataset(service.catalog, params)
  const table = findTable(dataset, params)
  if (leadToTidy(target, res)) return
  const pairs = parametersOf(target)
  const { typed } = writtenIn(service.setting.words)
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
    const message = `The parameter "page_size" must be a whole number from 1 to ${pageSize.max} on a page for people.`
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

/** The field that a parameter compares with a single number, which people type as their language writes it; else null. */
function numberField(table: Table, name: string): Field | null {
  const target = targetOf(table, name)
  if (target === null || !isNumber(target.field)) return null
  const operator = target.operator ?? 'eq'
  return isOperator(operator) && operatorRow(operator).takes === 'value' ? target.field : null
}

/** @throws Problem not-published or snapshot-gone, with the way to the current one */
export async function withSnapshot(
  { snapshots, setting: { addresses, language }, publicUrl, files }: PageService,
  table: Table,
  asked: RowQuery['snapshot'],
  work: (snapshot: Snapshot) => Promise<void>,
): Promise<void> {
  const pinned = asked === 'current' ? null : asked
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
 * Leads to the one way in which addresses are written from what forms send, where that is another.
 *
 * @returns whether it did
 */
function leadToTidy(target: string, res: ServerResponse): boolean {
  const tidy = tidied(target)
  if (tidy === null) return false
  res.statusCode = 303
  // Relative, so it holds behind any proxy.
  res.setHeader('Location', `./${tidy}`)
  res.end()
  return true
}

/** Without what is empty, and with one list of fields; null where it is so already. */
function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filled = pairs.filter(([, value]) => value !== '')
  const fields = filled.filter(([name]) => name === 'fields').map(([, value]) => value)
  if (filled.length === pairs.length && fields.length < 2) return null
  const tidy = new URLSearchParams(filled.filter(([name]) => name !== 'fields'))
  if (fields.length > 0) tidy.set('fields', fields.join(','))
  return tidy.size === 0 ? '' : `?${tidy.toString()}`
}
