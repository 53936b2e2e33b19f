import { valueText } from '../../documents/words/value-text.ts'
import { titleOf } from '../../documents/words/titles.ts'
import { parameterFor } from '../../query/conditions.ts'
import { isParameterName } from '../../query/query.ts'
import type { Total } from '../../query/totals.ts'
import type { ChartQuery } from './chart-query.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { queryLink, withoutField, type QueryView } from '../table/view.ts'

function totalsLink(
  view: QueryView,
  { field, value }: Total,
  operator: 'eq' | 'ne',
  chosenParameters: readonly (readonly [string, string])[],
): string {
  const condition = parameterFor({ field, operator, values: [value] }, isParameterName)
  return queryLink(new Map([...withoutField(view, field), condition, ...chosenParameters]))
}

/**
 * Says that a sum leaves out totals, which their source may count differently; null if it leaves out none.
 */
export function totalsNote({ words }: PageContext, view: ChartQuery): Html | null {
  const exclusion = view.query.conditions.find(
    ({ field, operator, values }) => operator === 'ne' && view.table.totals.get(field.name) === values[0],
  )
  const field = view.table.fields.find(({ name }) => name === exclusion?.field.name)
  const value = exclusion?.values[0]
  if (field === undefined || value === undefined) return null
  const valueInWords = valueText(words, field, value)
  const address = totalsLink(view, { field, value }, 'eq', view.chartPairs)
  return html`<p class="facts">
    ${words.totalsLeftOut(titleOf(field), valueInWords)}
    ${
      // With further conditions, the selection may contain no totals.
      view.query.conditions.length === 1 && html`<a href="${address}">${words.onlyTotals(valueInWords)}</a>`
    }
  </p>`
}

/** Explains why there is no sum, with links to a total or its parts. */
export function totalsChoice(
  { words }: PageContext,
  view: QueryView,
  total: Total,
  chosenParameters: readonly (readonly [string, string])[],
): { readonly text: string; readonly links: readonly (readonly [name: string, address: string])[] } {
  const { field, value } = total
  const valueInWords = valueText(words, field, value)
  return {
    text: words.totalsBeside(titleOf(field), valueInWords),
    links: [
      [words.onlyTotals(valueInWords), totalsLink(view, total, 'eq', chosenParameters)],
      [words.withoutTotals(valueInWords), totalsLink(view, total, 'ne', chosenParameters)],
    ],
  }
}
