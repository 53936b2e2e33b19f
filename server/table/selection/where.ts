import type { Term } from '../../query/date-parts.ts'
import type { Condition } from '../../query/conditions.ts'
import { type Operator, equalValues } from '../../query/operators.ts'
import { searchTerm } from '../../query/search-terms.ts'

/** Parts of conditions in the SQL of an engine; values become parameters. */
export interface SqlDialect {
  /** Column, or the SQL of a part of its dates. */
  readonly columnSql: (field: Term) => string
  /** Folded column of a text field. */
  readonly foldedSql: (field: Term) => string
  readonly valueSql: (field: Term, value: string) => string
  /** SQL of a text that is compared with `foldedSql`, folded like it. */
  readonly foldedOperand: (text: string) => string
  readonly isNull: (column: string) => string
  /** Inequality, which holds for null too. */
  readonly differs: (column: string, value: string) => string
  /** Equality of folded texts, ignoring blanks at their ends. */
  readonly equalsTrimmed: (text: string, operand: string) => string
  readonly contains: (text: string, operand: string) => string
  readonly startsWith: (text: string, operand: string) => string
  /** Occurrence at the start of a word. */
  readonly startsWord: (text: string, operand: string) => string
  /** Conditions on items of lists and on locations; null if the engine has none. */
  readonly parts: {
    readonly has: (column: string, item: string) => string
    readonly within: (column: string, box: readonly string[]) => string
  } | null
}

const comparisons: Record<
  Extract<Operator, 'gt' | 'gte' | 'lt' | 'lte' | 'range'>,
  (column: string, first: string, second: string) => string
> = {
  gt: (column, value) => `${column} > ${value}`,
  gte: (column, value) => `${column} >= ${value}`,
  lt: (column, value) => `${column} < ${value}`,
  lte: (column, value) => `${column} <= ${value}`,
  range: (column, min, max) => `${column} between ${min} and ${max}`,
}

function equals(column: string, values: readonly string[]): string {
  return values.length === 1 ? `${column} = ${values[0] ?? 'null'}` : `${column} in (${values.join(', ')})`
}

export function conditionSql({ field, operator, values }: Condition, dialect: SqlDialect): string {
  const column = dialect.columnSql(field)
  const [first = ''] = values
  const bound = (operands: readonly string[]): string[] =>
    operands.map((value) => dialect.valueSql(field, value))
  switch (operator) {
    case 'isnull':
      return first === 'true' ? dialect.isNull(column) : `not ${dialect.isNull(column)}`
    case 'eq':
    case 'in':
      return equals(column, bound(equalValues(field, values)))
    case 'ne': {
      const excludesPeriod = values.length === 2
      if (excludesPeriod) return outside(dialect, column, bound(values))
      const terms = bound(equalValues(field, values)).map((value) => dialect.differs(column, value))
      return `(${terms.join(' and ')})`
    }
    case 'iexact':
      return dialect.equalsTrimmed(dialect.foldedSql(field), dialect.foldedOperand(first))
    case 'contains':
      return dialect.contains(dialect.foldedSql(field), dialect.foldedOperand(first))
    case 'startswith':
      return dialect.startsWith(dialect.foldedSql(field), dialect.foldedOperand(first))
    case 'has': {
      const { has } = requiredParts(dialect.parts, operator)
      return `(${equalValues(field, values)
        .map((item) => has(column, item))
        .join(' or ')})`
    }
    case 'within':
      return requiredParts(dialect.parts, operator).within(column, values)
    default: {
      const [min = 'null', max = 'null'] = bound(values)
      return comparisons[operator](column, min, max)
    }
  }
}

function outside(
  dialect: SqlDialect,
  column: string,
  [first = 'null', last = 'null']: readonly string[],
): string {
  return `(${dialect.isNull(column)} or ${column} not between ${first} and ${last})`
}

/** SQL: one of some folded texts contains a search term. */
export function wordSql(texts: readonly string[], word: string, dialect: SqlDialect): string {
  const { text, isStart } = searchTerm(word)
  const operand = dialect.foldedOperand(text)
  const holds = isStart ? dialect.startsWord : dialect.contains
  return `(${texts.map((foldedText) => holds(foldedText, operand)).join(' or ')})`
}

function requiredParts(parts: SqlDialect['parts'], operator: Operator): NonNullable<SqlDialect['parts']> {
  if (parts === null) throw new TypeError(`the engine does not know ${operator}`)
  return parts
}
