import type { Field } from '../../core/catalog/catalog.ts'
import { fieldTypeNames, typeRow, type FieldType } from '../../core/catalog/field-types.ts'

interface OperatorRow {
  /** What stands after the `=`. */
  readonly takes: 'value' | 'list' | 'pair' | 'part' | 'truth' | 'item' | 'box'
  readonly types: readonly FieldType[]
  /** The end of "rows whose value ...". */
  readonly meaning: string
}

const all = fieldTypeNames
const ordered = all.filter((type) => typeRow(type).isOrdered)
const textual = all.filter((type) => typeRow(type).isText)
const madeOf = (parts: 'texts' | 'degrees'): FieldType[] =>
  all.filter((type) => typeRow(type).parts === parts)

/** What a condition can say of a field: `<field>__<operator>=...`. */
export const operators = {
  eq: { takes: 'value', types: all, meaning: 'is this one' },
  ne: { takes: 'value', types: all, meaning: 'is not this one, or is null' },
  gt: { takes: 'value', types: ordered, meaning: 'is greater' },
  gte: { takes: 'value', types: ordered, meaning: 'is greater or the same' },
  lt: { takes: 'value', types: ordered, meaning: 'is less' },
  lte: { takes: 'value', types: ordered, meaning: 'is less or the same' },
  in: { takes: 'list', types: all, meaning: 'is one of these' },
  range: { takes: 'pair', types: ordered, meaning: 'is between these two, or one of them' },
  iexact: {
    takes: 'part',
    types: textual,
    meaning: 'is this text in any case and accents, without regard to blanks at its ends',
  },
  contains: { takes: 'part', types: textual, meaning: 'holds this text, whatever its case and accents' },
  startswith: {
    takes: 'part',
    types: textual,
    meaning: 'starts with this text, whatever its case and accents',
  },
  has: { takes: 'item', types: madeOf('texts'), meaning: 'has this text among its texts' },
  within: {
    takes: 'box',
    types: madeOf('degrees'),
    meaning: 'lies between these degrees: west, south, east, north',
  },
  isnull: { takes: 'truth', types: all, meaning: 'is null (true) or not null (false)' },
} as const satisfies Record<string, OperatorRow>

export type Operator = keyof typeof operators

const names = Object.keys(operators) as readonly Operator[]

export function isOperator(text: string): text is Operator {
  return Object.hasOwn(operators, text)
}

export function operatorRow(operator: Operator): OperatorRow {
  return operators[operator]
}

/** The operators that a field knows by its type. */
export function operatorsOf({ type }: Pick<Field, 'type'>): readonly Operator[] {
  return names.filter((name) => operatorRow(name).types.includes(type))
}
