import type { Field, Table } from '../../core/catalog/catalog.ts'
import type { AggregateQuery } from './aggregate-query.ts'
import { baseOf } from './date-parts.ts'
import type { RowFilter } from './query.ts'

/** Field, and its value in rows that are totals of others. */
export interface Total {
  readonly field: Field
  readonly value: string
}

export function canMix(functionName: string): boolean {
  return ['sum', 'avg', 'median', 'min', 'max'].includes(functionName)
}

/** First total that a measure may mix with its parts; null if the query separates them, or counts. */
export function mixedTotal(table: Table, { terms, measures, filter }: AggregateQuery): Total | null {
  if (measures.every(({ aggregate }) => !canMix(aggregate))) return null
  return unseparatedTotal(table, filter, new Set(terms.map((term) => baseOf(term).name)))
}

/**
 * Returns the first total that the filter mixes with its parts.
 * @param separatingNames names of fields that separate totals otherwise, such as groups
 */
export function unseparatedTotal(
  table: Table,
  { conditions }: Pick<RowFilter, 'conditions'>,
  separatingNames: ReadonlySet<string> = new Set(),
): Total | null {
  for (const [name, value] of table.totals) {
    const field = table.fields.find((item) => item.name === name)
    if (field === undefined || separatingNames.has(name)) continue
    const isSeparated = conditions.some((condition) => {
      if (condition.field !== field) return false
      const { operator, values } = condition
      const hasTotal = values.includes(value)
      if (operator === 'eq' || operator === 'iexact') return true
      if (operator === 'ne') return hasTotal
      return operator === 'in' && (!hasTotal || values.length === 1)
    })
    if (!isSeparated) return { field, value }
  }
  return null
}
