import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Aggregation } from '../../query/aggregate-query.ts'
import type { Condition } from '../../query/conditions.ts'
import { equalValues } from '../../query/operators.ts'
import type { Groups } from './groups.ts'

/** Groups that satisfy all conditions, in the order of the query. */
export function selectGroups(
  groups: Groups,
  { terms, measures, conditions, ordering }: Omit<Aggregation, 'filter'>,
): Uint32Array {
  const keys = [...terms, ...measures.map(({ column }) => column)]
  const columnOf = (name: string): { field: Field; values: readonly (string | null)[] } => {
    const index = keys.findIndex((key) => key.name === name)
    const [field, values] = [keys[index], groups.columns[index]]
    if (field === undefined || values === undefined) throw new RangeError(`there is no column ${name}`)
    return { field, values }
  }
  const tests = conditions.map((condition) => ({
    values: columnOf(condition.field.name).values,
    holds: testOf(condition),
  }))
  const comparisons = ordering.map(({ field: name, direction }) => {
    const { field, values } = columnOf(name)
    return comparison(field, values, direction === 'desc')
  })
  const selected = Uint32Array.from({ length: groups.count }, (_, group) => group).filter((group) =>
    tests.every(({ values, holds }) => holds(values[group] ?? null)),
  )
  if (comparisons.length === 0) return selected
  return selected.toSorted((a, b) => {
    for (const compare of comparisons) {
      const order = compare(a, b)
      if (order !== 0) return order
    }
    // Group numbers follow the order of terms.
    return a - b
  })
}

function testOf({ field, operator, values }: Condition): (value: string | null) => boolean {
  const [first = '', last = first] = values
  const { compare } = typeRow(field.type)
  const equals = new Set(equalValues(field, [first]))
  const isWithin = (value: string): boolean => compare(value, first) >= 0 && compare(value, last) <= 0
  const isEqual = (value: string): boolean => equals.has(value) || compare(value, first) === 0
  const excludesPeriod = operator === 'ne' && values.length === 2
  return (value) => {
    if (value === null) return operator === 'ne' || operator === 'isnull'
    switch (operator) {
      case 'eq':
        return isEqual(value)
      case 'ne':
        return excludesPeriod ? !isWithin(value) : !isEqual(value)
      case 'gt':
        return compare(value, first) > 0
      case 'gte':
        return compare(value, first) >= 0
      case 'lt':
        return compare(value, first) < 0
      case 'lte':
        return compare(value, first) <= 0
      case 'range':
        return isWithin(value)
      default:
        return false
    }
  }
}

/** Compares groups by their values in a column, nulls last in both directions. */
function comparison(
  { type }: Field,
  values: readonly (string | null)[],
  isDescending: boolean,
): (a: number, b: number) => number {
  const { compare, wire } = typeRow(type)
  // Doubles decide most comparisons of numbers; digits decide between equal doubles.
  const numbers = wire.kind === 'number' ? Float64Array.from(values, Number) : null
  return (left, right) => {
    const [a = null, b = null] = [values[left], values[right]]
    if (a === b) return 0
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    const difference = numbers === null ? 0 : (numbers[left] ?? 0) - (numbers[right] ?? 0)
    const order = Number.isNaN(difference) || difference === 0 ? compare(a, b) : difference
    return isDescending ? -order : order
  }
}
