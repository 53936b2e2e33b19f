import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Condition } from '../../query/conditions.ts'
import type { Term } from '../../query/date-parts.ts'
import { periodText } from '../../query/operators.ts'
import type { RowFilter } from '../../query/query.ts'
import { formatWords } from '../../query/search-terms.ts'
import type { Words } from './en.ts'
import { writtenIn } from './number-formats.ts'
import { titleOf } from './titles.ts'

/** Descriptions of filters for people. */

/** Describes the conditions and the search of a filter, such as `State is SP`. */
export function describeFilter(filter: Pick<RowFilter, 'conditions' | 'words'>, words: Words): string[] {
  const conditions = filter.conditions.map((condition) => describeCondition(condition, words))
  return filter.words.length === 0 ? conditions : [...conditions, searchText(filter.words, words)]
}

export function searchText(searched: readonly string[], words: Words): string {
  return `${words.search}: ${formatWords(searched)}`
}

export function describeCondition({ field, operator, values }: Condition, words: Words): string {
  const name =
    field.part === undefined ? titleOf(field) : words.parts[field.part.name](titleOf(field.part.base))
  if (operator === 'isnull') return values[0] === 'true' ? words.isNull(name) : words.isNotNull(name)
  const { list } = writtenIn(words)
  const [first = '', last = first] = values
  const valueTexts = values.map((value) => valueText(field, value, words))
  if (operator === 'ne')
    return words.conditions.ne(
      name,
      first === last ? valueText(field, first, words) : (periodText(field, { first, last }) ?? first),
    )
  if (operator === 'within') return words.conditions.within(name, valueTexts.join(', '))
  return words.conditions[operator](
    name,
    list(valueTexts, operator === 'range' ? 'conjunction' : 'disjunction'),
  )
}

export function isNumber({ type }: Field): boolean {
  return typeRow(type).wire.kind === 'number'
}

/** Formats a value as in the rows of the page. */
export function valueText(field: Term, value: string, words: Words): string {
  if (field.part?.name === 'weekday') return words.weekdays[Number(value) - 1] ?? value
  if (field.part !== undefined) return value
  return isNumber(field) ? writtenIn(words).digits(value) : value
}
