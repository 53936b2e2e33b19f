import type { Field } from '../../core/catalog/catalog.ts'
import type { Condition } from '../query/conditions.ts'
import type { Operator } from '../query/operators.ts'

/** How an engine says what a condition is made of; each value comes in as a parameter. */
export interface Dialect {
  /** The values of a field. */
  readonly column: (field: Field) => string
  /** The same without regard to case and accents, where the field has texts. */
  readonly folded: (field: Field) => string
  readonly value: (field: Field, value: string) => string
  /** What is looked for in folded texts. */
  readonly part: (part: string) => string
  readonly isNull: (column: string) => string
  /** Neither is null for both to differ. */
  readonly differs: (column: string, value: string) => string
  readonly contains: (text: string, part: string) => string
  readonly startsWith: (text: string, part: string) => string
  /** Of lists and places, which not every engine knows. */
  readonly parts: {
    readonly has: (column: string, item: string) => string
    readonly within: (column: string, box: readonly string[]) => string
  } | null
}

/** What an operator is in SQL, given the column and its values. */
const comparisons: Record<
  Extract<Operator, 'eq' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'range'>,
  (column: string, first: string, second: string, all: readonly string[]) => string
> = {
  eq: (column, value) => `${column} = ${value}`,
  gt: (column, value) => `${column} > ${value}`,
  gte: (column, value) => `${column} >= ${value}`,
  lt: (column, value) => `${column} < ${value}`,
  lte: (column, value) => `${column} <= ${value}`,
  in: (column, _first, _second, all) => `${column} in (${all.join(', ')})`,
  range: (column, min, max) => `${column} between ${min} and ${max}`,
}

/** What must hold, as SQL over the columns of an engine that knows the operator. */
export function conditionSql({ field, operator, values }: Condition, dialect: Dialect): string {
  const column = dialect.column(field)
  const [first = ''] = values
  switch (operator) {
    case 'isnull':
      return first === 'true' ? dialect.isNull(column) : `not ${dialect.isNull(column)}`
    case 'ne':
      return dialect.differs(column, dialect.value(field, first))
    case 'contains':
      return dialect.contains(dialect.folded(field), dialect.part(first))
    case 'startswith':
      return dialect.startsWith(dialect.folded(field), dialect.part(first))
    case 'has':
      return known(dialect.parts, operator).has(column, first)
    case 'within':
      return known(dialect.parts, operator).within(column, values)
    default: {
      const bound = values.map((value) => dialect.value(field, value))
      return comparisons[operator](column, bound[0] ?? 'null', bound[1] ?? 'null', bound)
    }
  }
}

/** That a word is in one of some fields. */
export function wordSql(fields: readonly Field[], word: string, dialect: Dialect): string {
  const part = dialect.part(word)
  return `(${fields.map((field) => dialect.contains(dialect.folded(field), part)).join(' or ')})`
}

function known(parts: Dialect['parts'], operator: Operator): NonNullable<Dialect['parts']> {
  if (parts === null) throw new TypeError(`the engine does not know ${operator}`)
  return parts
}
