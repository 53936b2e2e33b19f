import { tableId, type Field, type Table } from '../../core/catalog/catalog.ts'
import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { didYouMean, shorten } from '../../core/text.ts'
import { baseOf, daysOfPart, partTerm, partsOf, type Term } from './date-parts.ts'
import { Invalid } from './errors.ts'
import { formatList, parseList, quotedList, correctedList } from './list.ts'
import {
  isOperator,
  operatorRow,
  operatorsOf,
  type Operator,
  dayEnd,
  dayStart,
  daysIn,
  parsePeriod,
  periodText,
  periodUnit,
  expectedValue,
  isTextValue,
  readValue,
  valueLengthMax,
} from './operators.ts'
import { readTruth } from '../../core/catalog/types/bool.ts'

export interface Condition {
  readonly field: Term
  readonly operator: Operator
  /**
   * Canonical operands. `in` has sorted, unique values, `isnull` true or false, and `ne` one value, or the
   * ends of an excluded range.
   */
  readonly values: readonly string[]
  /** Text of an `in` with commas and no quotes, which may be one value. */
  readonly unquoted?: string
}

const emptyTextLiteral = '""'

export const listLengthMax = 500

export interface Target {
  readonly field: Term
  /** Operator as written, perhaps unknown; null if the parameter is the field alone. */
  readonly operator: string | null
}

/** Parses `field`, `field__operator`, `field__part` or `field__part__operator`; null if it names no field. */
export function targetOf(table: Table, parameter: string): Target | null {
  const fieldNamed = (name: string): Field | undefined => table.fields.find((field) => field.name === name)
  const exactField = fieldNamed(parameter)
  if (exactField !== undefined) return { field: exactField, operator: null }
  const lastSeparator = parameter.lastIndexOf('__')
  if (lastSeparator === -1) return null
  const [beforeSeparator, afterSeparator] = [
    parameter.slice(0, lastSeparator),
    parameter.slice(lastSeparator + 2),
  ]
  const field = fieldNamed(beforeSeparator)
  if (field !== undefined) {
    const part = partTerm(field, afterSeparator)
    return part === undefined ? { field, operator: afterSeparator } : { field: part, operator: null }
  }
  const earlierSeparator = beforeSeparator.lastIndexOf('__')
  const base = earlierSeparator === -1 ? undefined : fieldNamed(beforeSeparator.slice(0, earlierSeparator))
  const part = base === undefined ? undefined : partTerm(base, beforeSeparator.slice(earlierSeparator + 2))
  return part === undefined ? null : { field: part, operator: afterSeparator }
}

export function isAllowed({ field, operator }: Target): boolean {
  return operator === null || operatorsOf(field).some((name) => name === operator)
}

export function parseCondition(
  table: Table,
  { field, operator: writtenOperator }: Target,
  text: string,
): Condition | Invalid {
  const operator = writtenOperator ?? 'eq'
  const operators = operatorsOf(field)
  if (!isOperator(operator) || !operators.includes(operator)) {
    const problem = isOperator(operator)
      ? `has no operator "${operator}", since its type is ${field.type}`
      : `has no operator "${shorten(operator)}"`
    const parts = field.part === undefined ? partsOf(table, field) : []
    const partsHint = parts.length === 0 ? '' : `; its parts: ${parts.join(', ')}`
    return new Invalid(
      `The field "${field.name}" ${problem}${didYouMean(operator, [...operators, ...parts])}; its operators: ${operators.join(', ')}${partsHint}.`,
    )
  }
  const { name } = baseOf(field)
  if (!table.filters.includes(name)) {
    const filterNames = table.filters.join(', ') || 'none'
    return new Invalid(
      `The field "${name}" of ${tableId(table)} is not a filter; filters: ${filterNames}.`,
      'not-a-filter',
    )
  }
  // Brasil.IO writes null this way.
  if (writtenOperator === null && text === 'None') return { field, operator: 'isnull', values: ['true'] }
  return parseValues(field, operator, text)
}

export function parseValues(field: Term, operator: Operator, text: string): Condition | Invalid {
  const name = parameterOf(field, operator)
  switch (operatorRow(operator).operandKind) {
    case 'value': {
      if (periodUnit(field) !== null) return periodCondition(field, operator, text)
      // Nearly all sources use NFC, and texts are compared by code point. Equality tries all forms
      // (`equalValues`).
      const isEqual = operator === 'eq' || operator === 'ne'
      const value =
        text === emptyTextLiteral && isText(field)
          ? ''
          : readValue(field, isEqual ? text : text.normalize('NFC'))
      if (value === null)
        return new Invalid(`The parameter "${name}" must be ${expectedValue(field)}.`, operandType(field))
      return { field, operator, values: [value] }
    }
    case 'truth': {
      const value = readTruth(text)
      if (value === null) return new Invalid(`The parameter "${name}" must be true or false.`)
      return { field, operator, values: [value] }
    }
    case 'part': {
      if (!isTextValue(text) || foldsToNothing(text)) {
        return new Invalid(
          `The parameter "${name}" must be a text of at most ${valueLengthMax} characters, at least one of them not an accent.`,
        )
      }
      return { field, operator, values: [text] }
    }
    case 'item': {
      if (isTextValue(text)) return { field, operator, values: [text === emptyTextLiteral ? '' : text] }
      return new Invalid(
        `The parameter "${name}" must be a text of at most ${valueLengthMax} characters, none of them NUL.`,
      )
    }
    case 'box': {
      const values = parseBox(text)
      if (values !== null) return { field, operator, values }
      return new Invalid(
        `The parameter "${name}" must be four degrees separated by commas: west, south, east, north, such as -47,-24,-46,-23.`,
      )
    }
    case 'pair':
    case 'list':
      return parseSeveral(field, operator, text)
  }
}

/** West, south, east, north; west is greater than east across the antimeridian. */
function parseBox(text: string): string[] | null {
  const texts = text.split(',').map((part) => part.trim())
  if (texts.length !== 4 || !texts.every((part) => /^[+-]?\d{1,3}(\.\d{0,20})?$/.test(part))) return null
  const numbers = texts.map(Number)
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  const isRight =
    Math.max(Math.abs(west), Math.abs(east)) <= 180 && -90 <= south && south <= north && north <= 90
  return isRight ? numbers.map((number) => String(number === 0 ? 0 : number)) : null
}

function parseSeveral(field: Term, operator: Operator, text: string): Condition | Invalid {
  const name = parameterOf(field, operator)
  const suggestion = correctedList(text)
  if (suggestion !== null) {
    return new Invalid(
      `The parameter "${name}" must be values separated by commas, such as ${shorten(suggestion)}; put a value with brackets, semicolons, bars or line breaks in quotes.`,
    )
  }
  const texts = parseList(text)
  if (texts === null) {
    return new Invalid(
      `The parameter "${name}" must be values separated by commas; put a value that contains a comma in quotes, and write an empty one as "".`,
    )
  }
  const valuesOfTexts = texts.map((value) => valuesOf(field, operator, value))
  if (valuesOfTexts.some((value) => value === null)) {
    // Items of a list are single times, and a day has too many.
    const hasPeriod = operator === 'in' && texts.some((value) => parsePeriod(field, value) !== null)
    return new Invalid(
      hasPeriod
        ? `Each value of the parameter "${name}" must be a date with a time, such as 2020-06-12T18:05:00: use "${field.name}__range" for days, months and years.`
        : `Each value of the parameter "${name}" must be ${expectedOperand(field)}.`,
      operandType(field),
    )
  }
  if (operatorRow(operator).operandKind === 'pair') {
    if (texts.length !== 2)
      return new Invalid(
        `The parameter "${name}" must be two values separated by a comma, the lowest and the highest.`,
      )
    // A bound such as a month means its first or last day.
    const [lowest, highest] = valuesOfTexts
    return { field, operator, values: [lowest?.[0] ?? '', highest?.at(-1) ?? ''] }
  }
  const values = [...new Set(valuesOfTexts.flatMap((value) => value ?? []))].toSorted()
  if (texts.length > listLengthMax)
    return new Invalid(`The parameter "${name}" holds more than ${listLengthMax} values.`)
  if (values.length > listLengthMax)
    return new Invalid(
      `The parameter "${name}" means more than ${listLengthMax} days: use "${field.name}__range" for a period.`,
    )
  const list = { field, operator, values }
  const couldBeOneText = texts.length > 1 && !text.includes('"') && isText(field)
  return couldBeOneText ? { ...list, unquoted: text.trim() } : list
}

function valuesOf(field: Term, operator: Operator, text: string): readonly string[] | null {
  const unit = periodUnit(field)
  if (unit === null) {
    const value = readValue(field, text)
    return value === null ? null : [value]
  }
  const period = parsePeriod(field, text)
  if (period === null) return null
  if (operator === 'range' || period.first === period.last) return [period.first, period.last]
  // A list has single values: a month can mean all its days, but not all its times.
  return period.first < period.last && unit === 'day' ? daysIn(period) : null
}

/** A year or month means all of its days. */
function periodCondition(field: Field, operator: Operator, text: string): Condition | Invalid {
  const period = parsePeriod(field, text)
  const name = parameterOf(field, operator)
  if (period === null)
    return new Invalid(`The parameter "${name}" must be ${expectedOperand(field)}.`, operandType(field))
  const { first, last } = period
  if (operator === 'gte' || operator === 'lt') return { field, operator, values: [first] }
  if (operator === 'gt' || operator === 'lte') return { field, operator, values: [last] }
  // A time within a day is between two dates, and equals none.
  if (first > last)
    return new Invalid(`The parameter "${name}" must be a date without a time of day: the field has dates.`)
  if (first === last) return { field, operator, values: [first] }
  return operator === 'ne'
    ? { field, operator, values: [first, last] }
    : { field, operator: 'range', values: [first, last] }
}

function operandType(field: Term): FieldType | undefined {
  if (periodUnit(field) === 'day') return 'date'
  return isText(field) || field.part !== undefined ? undefined : field.type
}

function expectedOperand(field: Term): string {
  const unit = periodUnit(field)
  const expectedText = expectedValue(unit === 'day' ? { ...field, type: 'date' } : field)
  return unit === 'microsecond' && field.reading.timezone === null
    ? `${expectedText}; without Z or offset`
    : expectedText
}

/**
 * Cache keys contain unquoted lists: a list that may be a single value may be refused, unlike the same list
 * in quotes.
 */
export function unquotedIn({ conditions }: { readonly conditions: readonly Condition[] }): string[] {
  return conditions.flatMap(({ unquoted }) => unquoted ?? [])
}

/** Conditions on fields that follow from those on their parts, for indexes and statistics. */
export function impliedBy({ field, operator, values }: Condition): Condition[] {
  const days = daysOfPart(field, values)
  const base = baseOf(field)
  if (days === null || (operator === 'in' && values.length > 1)) return []
  const [first, last] = base.type === 'datetime' ? [`${days[0]} ${dayStart}`, `${days[1]} ${dayEnd}`] : days
  switch (operator) {
    case 'eq':
    case 'in':
    case 'range':
      return [
        first === last
          ? { field: base, operator: 'eq', values: [first] }
          : { field: base, operator: 'range', values: [first, last] },
      ]
    case 'gte':
      return [{ field: base, operator, values: [first] }]
    case 'gt':
    case 'lte':
      return [{ field: base, operator, values: [last] }]
    case 'lt':
      return [{ field: base, operator, values: [first] }]
    default:
      return []
  }
}

export function haveSameParameter(a: Condition, b: Condition): boolean {
  return a.field === b.field && a.operator === b.operator
}

/** Writes a condition as a parameter, which is canonical: equal conditions have equal parameters. */
export function parameterFor(
  { field, operator, values, unquoted }: Condition,
  isReserved: (name: string) => boolean,
): [name: string, text: string] {
  const [first = '', last = first] = values
  const { operandKind } = operatorRow(operator)
  const canOmitOperator = operator === 'eq' && !isReserved(field.name)
  // Write the value `""` as a list, since `=""` would mean the empty text.
  if (operator === 'eq' && first === emptyTextLiteral) return [`${field.name}__in`, formatList(values)]
  if (first === '' && (operandKind === 'value' || operandKind === 'item'))
    return [canOmitOperator ? field.name : parameterOf(field, operator), emptyTextLiteral]
  // `ne` has the bounds of a period, which are written as the period.
  const value = operator === 'ne' ? (periodText(field, { first, last }) ?? first) : first
  // Fields named like a parameter and the text `None` need `<field>__eq`: `<field>=None` means null.
  const isFieldAlone = canOmitOperator && value !== 'None'
  const name = isFieldAlone ? field.name : parameterOf(field, operator)
  // Texts that the request gave without quotes may be one text with commas; quote all others.
  if (operator === 'in' && unquoted === undefined && values.length > 1 && isText(field))
    return [name, quotedList(values)]
  const hasSeveralOperands = ['list', 'pair', 'box'].includes(operandKind)
  return [name, hasSeveralOperands ? formatList(values) : value]
}

/** False for parts such as months, although their type is string. */
function isText({ type, part }: Term): boolean {
  return typeRow(type).isText && part === undefined
}

function parameterOf(field: Field, operator: Operator): string {
  return `${field.name}__${operator}`
}

/** True if folding leaves an empty text, which every text contains. */
export function foldsToNothing(text: string): boolean {
  return /^\p{M}*$/u.test(text.normalize('NFD'))
}
