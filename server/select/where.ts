import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Parameters } from '../../engine/plan.ts'
import { quotedJson } from '../../../core/json.ts'
import { foldedSql, quotedName } from '../../../core/sql.ts'
import type { Condition } from '../../query/conditions.ts'
import type { Operator } from '../../query/operators.ts'

type Compare = (column: string, first: string, second: string, all: readonly string[]) => string

/** What an operator is in SQL, given the column and its values, of its type. */
const comparisons: Record<Exclude<Operator, 'isnull' | 'within'>, Compare> = {
  eq: (column, value) => `${column} = ${value}`,
  ne: (column, value) => `${column} is distinct from ${value}`,
  gt: (column, value) => `${column} > ${value}`,
  gte: (column, value) => `${column} >= ${value}`,
  lt: (column, value) => `${column} < ${value}`,
  lte: (column, value) => `${column} <= ${value}`,
  in: (column, _first, _second, all) => `${column} in (${all.join(', ')})`,
  range: (column, min, max) => `${column} between ${min} and ${max}`,
  contains: (column, part) => `contains(${foldedSql(column)}, ${foldedSql(part)})`,
  // Only what begins a text follows a bracket or a comma so: a quote in a text has a backslash before it.
  has: (column, item) => `(starts_with(${column}, '[' || ${item}) or contains(${column}, ',' || ${item}))`,
  startswith: (column, part) => `starts_with(${foldedSql(column)}, ${foldedSql(part)})`,
}

/** What must hold, as SQL over the stored columns. */
export function conditionSql(condition: Condition, parameters: Parameters): string {
  return comparisonSql(condition, quotedName(condition.field.name), parameters)
}

/** The same, of a column of any name that holds the values of the field. */
export function comparisonSql(
  { field, operator, values }: Condition,
  column: string,
  parameters: Parameters,
): string {
  if (operator === 'isnull') return `${column} is ${values[0] === 'true' ? '' : 'not '}null`
  if (operator === 'within')
    return boxSql(
      column,
      values.map((degrees) => `${parameters.add(degrees)}::varchar::double`),
    )
  // Behind a text that ends in a comma it would be found where none is.
  if (operator === 'has' && values[0] === ',')
    return `list_contains(from_json(${column}, '["varchar"]'), ${parameters.add(',')}::varchar)`
  const given = operator === 'has' ? values.map(quotedJson) : values
  const bound = given.map((value) => valueSql(field, parameters.add(value)))
  const [first = 'null', second = 'null'] = bound
  return comparisons[operator](column, first, second, bound)
}

function boxSql(column: string, [west = '', south = '', east = '', north = '']: readonly string[]): string {
  const [latitude, longitude] = [1, 2].map((part) => `split_part(${column}, ',', ${part})::double`)
  const around = `case when ${west} <= ${east} then ${longitude} between ${west} and ${east}
    else ${longitude} >= ${west} or ${longitude} <= ${east} end`
  return `(${latitude} between ${south} and ${north} and ${around})`
}

/** That a word is in one of some fields. */
export function wordSql(fields: readonly string[], word: string, parameters: Parameters): string {
  const part = foldedSql(parameters.add(word))
  return `(${fields.map((field) => `contains(${foldedSql(quotedName(field))}, ${part})`).join(' or ')})`
}

function valueSql(field: Field, parameter: string): string {
  return `${parameter}::${typeRow(field.type).stored(field)}`
}
