import type { Field } from '../../core/catalog/catalog.ts'
import { expectedPart, parsePart, type Term } from './date-parts.ts'
import { fieldTypeNames, typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { dateOf } from '../../core/catalog/types/date.ts'
import { timeInZone } from '../../core/time-in-zone.ts'

interface OperatorRow {
  readonly operandKind: 'value' | 'list' | 'pair' | 'part' | 'truth' | 'item' | 'box'
  readonly types: readonly FieldType[]
  /** End of the sentence "rows whose value ...". */
  readonly meaning: string
}

const allTypes = fieldTypeNames
const orderedTypes = allTypes.filter((type) => typeRow(type).isOrdered)
const textual = allTypes.filter((type) => typeRow(type).isText)
const typesWithParts = (parts: 'texts' | 'degrees'): FieldType[] =>
  allTypes.filter((type) => typeRow(type).parts === parts)

/** Operators of conditions: `<field>__<operator>=...`. */
export const operators = {
  eq: { operandKind: 'value', types: allTypes, meaning: 'equals this value' },
  ne: { operandKind: 'value', types: allTypes, meaning: 'differs from this value, or is null' },
  gt: { operandKind: 'value', types: orderedTypes, meaning: 'is greater than this value' },
  gte: { operandKind: 'value', types: orderedTypes, meaning: 'is greater than or equal to this value' },
  lt: { operandKind: 'value', types: orderedTypes, meaning: 'is less than this value' },
  lte: { operandKind: 'value', types: orderedTypes, meaning: 'is less than or equal to this value' },
  in: { operandKind: 'list', types: allTypes, meaning: 'is one of these values' },
  range: { operandKind: 'pair', types: orderedTypes, meaning: 'is between these two values, or one of them' },
  iexact: {
    operandKind: 'part',
    types: textual,
    meaning: 'equals this text, ignoring case, accents and surrounding spaces',
  },
  contains: { operandKind: 'part', types: textual, meaning: 'contains this text, ignoring case and accents' },
  startswith: {
    operandKind: 'part',
    types: textual,
    meaning: 'starts with this text, ignoring case and accents',
  },
  has: { operandKind: 'item', types: typesWithParts('texts'), meaning: 'has this text in its list' },
  within: {
    operandKind: 'box',
    types: typesWithParts('degrees'),
    meaning: 'is within these degrees: west, south, east, north',
  },
  isnull: { operandKind: 'truth', types: allTypes, meaning: 'is null (true) or not null (false)' },
} as const satisfies Record<string, OperatorRow>

export type Operator = keyof typeof operators

const names = Object.keys(operators) as readonly Operator[]

export function isOperator(text: string): text is Operator {
  return Object.hasOwn(operators, text)
}

export function operatorRow(operator: Operator): OperatorRow {
  return operators[operator]
}

export function operatorsOf({ type, part }: Pick<Term, 'type' | 'part'>): readonly Operator[] {
  return names.filter((name) => {
    const { types, operandKind } = operatorRow(name)
    return types.includes(type) && (part === undefined || operandKind !== 'part')
  })
}

/** In characters; no table has longer values. */
export const valueLengthMax = 1000

/** Canonical text; null if it is no value of the type. */
export function readValue(field: Term, text: string): string | null {
  if (!isTextValue(text)) return null
  return field.part === undefined ? typeRow(field.type).parse(text, field) : parsePart(field, text)
}

export function isTextValue(text: string): boolean {
  return text.length <= valueLengthMax && !text.includes('\0')
}

export function expectedValue(field: Term): string {
  const expectedOfPart = expectedPart(field)
  if (expectedOfPart !== null) return expectedOfPart
  const { isText, expectsInQuery, expects } = typeRow(field.type)
  if (isText) return `a text of at most ${valueLengthMax} characters, none of them NUL`
  return expectsInQuery ?? expects(field)
}

/** Compares in DuckDB's order; negative if `a` comes before `b`. */
export function compareValues({ type }: Pick<Field, 'type'>, a: string, b: string): number {
  return typeRow(type).compare(a, b)
}

/** Adds NFC and NFD forms of each text, since sources use both. */
export function equalValues({ type }: Pick<Field, 'type'>, values: readonly string[]): readonly string[] {
  if (!typeRow(type).isText && typeRow(type).parts !== 'texts') return values
  if (values.every((value) => /^[\0-\x7f]*$/.test(value))) return values
  return [...new Set(values.flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD')]))]
}

/** `__iexact` ignores these at the ends of a text, in every engine. */
export const blanks = ' \t\r\n'

export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && blanks.includes(text.charAt(start))) start += 1
  while (end > start && blanks.includes(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/**
 * Range that an operand means; a year or month means all of its days. In a field of days, a time of day is a
 * point between two days: then `first` comes after `last`.
 */
interface Period {
  /** Least canonical value not before the operand. */
  readonly first: string
  /** Greatest canonical value not after the operand. */
  readonly last: string
}

type PeriodUnit = 'day' | 'microsecond'

export function periodUnit({ type, kind, part }: Pick<Term, 'type' | 'kind' | 'part'>): PeriodUnit | null {
  if (part !== undefined) return null
  if (type === 'datetime') return 'microsecond'
  return type === 'date' || (kind === 'date' && typeRow(type).isText) ? 'day' : null
}

export const [dayStart, dayEnd] = ['00:00:00', '23:59:59.999999']

/**
 * Parses `2020`, `2020-05`, `05/2020`, `2020-5-1`, `1/5/2020`, `2020-05-01T18:05`.
 * @returns null for other texts, or an offset that the field cannot take
 */
export function parsePeriod(field: Field, text: string): Period | null {
  const unit = periodUnit(field)
  const [, day = '', time, offset] =
    /^(\S+?)(?:[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text.trim()) ?? []
  const days = daysOf(day)
  if (days === null || unit === null) return null
  if (time === undefined) {
    return unit === 'day' ? days : { first: `${days.first} ${dayStart}`, last: `${days.last} ${dayEnd}` }
  }
  if (days.first !== days.last) return null
  const clock = timeOf(time)
  if (clock === null) return null
  if (unit === 'day') {
    if (offset !== undefined) return null
    if (clock === dayStart) return days
    // `first` comes after `last` here: the time is between two days.
    const nextDay = dayAfter(days.first)
    return nextDay === null ? null : { first: nextDay, last: days.last }
  }
  const local = `${days.first} ${clock}`
  const moment = offset === undefined ? local : inTimezone(field.reading.timezone, local, offset)
  return moment === null ? null : { first: moment, last: moment }
}

/** Shortest operand that means a period; null if there is none. */
export function periodText(field: Field, { first, last }: Period): string | null {
  if (first === last) return first
  for (const length of ['2020'.length, '2020-05'.length, '2020-05-01'.length]) {
    const text = first.slice(0, length)
    const period = parsePeriod(field, text)
    if (period?.first === first && period.last === last) return text
  }
  return null
}

export function daysIn({ first, last }: Period): string[] {
  const days: string[] = []
  for (let day: string | null = first; day !== null && day <= last; day = dayAfter(day)) days.push(day)
  return days
}

/** First and last day that a year, month or day means. */
function daysOf(text: string): Period | null {
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text) ?? []
  const [, slashDay, slashMonth, slashYear] = /^(?:(\d{1,2})\/)?(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  const [year, month, day] = [isoYear ?? slashYear, isoMonth ?? slashMonth, isoDay ?? slashDay]
  if (year === undefined || year === '0000') return null
  const firstMonth = (month ?? '1').padStart(2, '0')
  const lastMonth = (month ?? '12').padStart(2, '0')
  if (day === undefined) {
    const [first, last] = [
      dateOf(`${year}-${firstMonth}-01`),
      dateOf(`${year}-${lastMonth}-${lengthOfMonth(year, lastMonth)}`),
    ]
    return first === null || last === null ? null : { first, last }
  }
  const firstDate = dateOf(`${year}-${firstMonth}-${day.padStart(2, '0')}`)
  return firstDate === null ? null : { first: firstDate, last: firstDate }
}

function lengthOfMonth(year: string, month: string): number {
  return new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

function dayAfter(day: string): string | null {
  return day === '9999-12-31'
    ? null
    : new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}

function timeOf(text: string): string | null {
  const [, hours = '', minutes = '', seconds = '00', fraction = ''] =
    /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?$/.exec(text) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null
  return `${hours.padStart(2, '0')}:${minutes}:${seconds}${fraction.replace(/\.?(?<!0)0*$/, '')}`
}

function inTimezone(timezone: string | null, local: string, offset: string): string | null {
  if (timezone === null) return null
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  const offsetMs = Number(`${sign}1`) * (60 * Number(hours) + Number(minutes)) * 60_000
  const [seconds, fraction] = [local.slice(0, 19), local.slice(19)]
  const localTime = timeInZone(new Date(Date.parse(`${seconds.replace(' ', 'T')}Z`) - offsetMs), timezone)
  return `${localTime.slice(0, 19).replace('T', ' ')}${fraction}`
}
