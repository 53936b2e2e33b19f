import { titleOf } from '../../documents/words/titles.ts'
import type { Requester } from '../../table/engine/requester.ts'
import type { RowEngine } from '../../table/representations/page.ts'
import { aggregate } from '../../table/representations/aggregate-page.ts'
import { totalIn } from '../../table/representations/total-in.ts'
import type { PageContext } from '../frame.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { describeFilter } from '../../documents/words/filter-text.ts'
import { sourceFacts, type ChartQuery, type ChartView } from './chart-query.ts'
import { labelOf } from './drawing.ts'
import type { Caption } from './svg/parts.ts'
import { mixedTotal } from '../../query/totals.ts'

/** Groups nothing if a measure would mix totals with their parts. */
export async function chartView(
  query: ChartQuery,
  engine: RowEngine,
  requester: Requester,
): Promise<ChartView> {
  const { table, snapshot, aggregation, fallback } = query
  const search = { snapshot, filter: aggregation.filter, requester }
  const totalAmongParts = await totalIn(mixedTotal(table, aggregation), search, engine)
  const answer = totalAmongParts === null ? await aggregate(snapshot, aggregation, engine, requester) : null
  // A default filter, such as one for states, may exclude all rows that the reader selects.
  const isEmpty = answer?.selected.length === 0
  if (isEmpty && fallback !== null) return chartView(fallback, engine, requester)
  return { ...query, mixedTotal: totalAmongParts, answer }
}

export function captionOf({ words }: PageContext, view: ChartQuery): Caption {
  const { dataset, table, query, snapshot } = view
  const conditions = describeFilter(query, words)
  const { list } = writtenIn(words)
  return {
    title: `${labelOf(words, view)}: ${dataset.name}, ${titleOf(table)}`,
    facts: [...(conditions.length === 0 ? [] : [list(conditions)]), sourceFacts(words, dataset, snapshot)],
  }
}
