import type { Field, Table } from '../../core/catalog/catalog.ts'
import type { AggregateQuery } from './aggregate-query.ts'
import { baseOf } from './date-parts.ts'

/** A field, and its value in rows that are totals of other rows. */
export interface Total {
  readonly field: Field
  readonly value: string
}

/**
 * Returns the first declared total that a sum would count together with its parts; null if the query or the
 * groups separate them, or if nothing is added up.
 */
export function mixedTotal(table: Table, { terms, measures, filter }: AggregateQuery): Total | null {
  if (measures.every(({ of }) => of !== 'sum')) return null
  const drawn = new Set(terms.map((term) => baseOf(term).name))
  for (const [name, value] of table.totals) {
    const field = table.fields.find((one) => one.name === name)
    if (field === undefined || drawn.has(name)) continue
    const isChosen = filter.conditions.some((condition) => {
      if (condition.field !== field) return false
      const { operator, values } = condition
      const hasTotal = values.includes(value)
      if (operator === 'eq' || operator === 'iexact') return true
      if (operator === 'ne') return hasTotal
      return operator === 'in' && (!hasTotal || values.length === 1)
    })
    if (!isChosen) return { field, value }
  }
  return null
}
