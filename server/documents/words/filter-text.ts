import type { Condition } from '../../query/conditions.ts'
import { periodText } from '../../query/operators.ts'
import type { RowFilter } from '../../query/query.ts'
import { formatWords } from '../../query/search-terms.ts'
import type { Words } from './en.ts'
import { writtenIn } from './number-formats.ts'
import { titleOf } from './titles.ts'
import { isNumber, valueText } from './value-text.ts'

/** Text like `State is SP`. */
export function describeFilter(filter: Pick<RowFilter, 'conditions' | 'words'>, words: Words): string[] {
  const conditions = filter.conditions.map((condition) => describeCondition(condition, words))
  return filter.words.length === 0 ? conditions : [...conditions, searchText(filter.words, words)]
}

export function searchText(searchWords: readonly string[], words: Words): string {
  return `${words.search}: ${formatWords(searchWords)}`
}

export function describeCondition({ field, operator, values }: Condition, words: Words): string {
  const name =
    field.part === undefined ? titleOf(field) : words.parts[field.part.name](titleOf(field.part.base))
  if (operator === 'isnull') return values[0] === 'true' ? words.isNull(name) : words.isNotNull(name)
  const { list } = writtenIn(words)
  const inOrder =
    operator === 'in' && isNumber(field) ? values.toSorted((a, b) => Number(a) - Number(b)) : values
  const valueTexts = inOrder.map((value) => valueText(words, field, value))
  if (operator === 'ne') {
    // One value, or the ends of an excluded period.
    const [first = '', last = first] = values
    const excludedText =
      first === last ? valueText(words, field, first) : (periodText(field, { first, last }) ?? first)
    return words.conditions.ne(name, excludedText)
  }
  if (operator === 'in' && values.length === 1) return words.conditions.eq(name, valueTexts.join(''))
  if (operator === 'within') return words.conditions.within(name, valueTexts.join(', '))
  return words.conditions[operator](
    name,
    list(valueTexts, operator === 'range' ? 'conjunction' : 'disjunction'),
  )
}
