import type { Field, Table } from '../../core/catalog/catalog.ts'
import { datePartNames } from '../../core/catalog/names.ts'
import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { dateOf } from '../../core/catalog/types/date.ts'

/**
 * Parts of dates: `date__month=2020-05` is a condition on the month of `date`. A part is a field whose values
 * derive from another one.
 */

interface DatePartRow {
  readonly type: FieldType
  /** Describes valid operands at the end of a sentence. */
  readonly expects: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly partOf: (day: string) => string
  readonly sql: (day: string) => string
  /** First and last day of a canonical part; null if there is none, or several spans. */
  readonly days: (part: string) => readonly [first: string, last: string] | null
}

const dayMs = 86_400_000

const timeOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const dayOfTime = (time: number): string => new Date(time).toISOString().slice(0, 10)

function weekdayOf(day: string): number {
  return ((new Date(timeOfDay(day)).getUTCDay() + 6) % 7) + 1
}

/** ISO 8601: a week belongs to the year of its Thursday. */
function weekOf(day: string): string {
  const thursday = timeOfDay(day) + (4 - weekdayOf(day)) * dayMs
  const year = dayOfTime(thursday).slice(0, 4)
  const week = 1 + Math.floor((thursday - timeOfDay(`${year}-01-01`)) / dayMs / 7)
  return `${year}-W${String(week).padStart(2, '0')}`
}

function daysOfWeek(week: string): [string, string] | null {
  const [year = '', number = ''] = week.split('-W')
  // The fourth of January is in the first week.
  const fourth = `${year}-01-04`
  const monday = timeOfDay(fourth) + (1 - weekdayOf(fourth) + 7 * (Number(number) - 1)) * dayMs
  const first = dayOfTime(monday)
  const last = dayOfTime(Math.min(monday + 6 * dayMs, timeOfDay('9999-12-31')))
  return weekOf(first) === week ? [first, last] : null
}

function daysOfMonths(year: string, first: number, last: number): [string, string] {
  const from = `${year}-${String(first).padStart(2, '0')}-01`
  const next = new Date(timeOfDay(`${year}-${String(last).padStart(2, '0')}-01`))
  return [from, dayOfTime(next.setUTCMonth(next.getUTCMonth() + 1) - dayMs)]
}

const yearPattern = '([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])'
const pattern = (text: string): { type: 'string'; pattern: string } => ({ type: 'string', pattern: text })

const rows = {
  year: {
    type: 'integer',
    expects: 'a year from 1 to 9999, such as 2020',
    schema: { type: 'integer', minimum: 1, maximum: 9999 },
    partOf: (day) => String(Number(day.slice(0, 4))),
    sql: (day) => `year(${day})`,
    days: (year) => (/^[1-9]\d{0,3}$/.test(year) ? daysOfMonths(year.padStart(4, '0'), 1, 12) : null),
  },
  quarter: {
    type: 'string',
    expects: 'a quarter such as 2020-Q2',
    schema: pattern(`^${yearPattern}-Q[1-4]$`),
    partOf: (day) => `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`,
    sql: (day) => `left(${day}::varchar, 4) || '-Q' || quarter(${day})`,
    days: (quarter) => {
      const [, year = '', number = ''] = new RegExp(`^${yearPattern}-Q([1-4])$`).exec(quarter) ?? []
      return number === '' ? null : daysOfMonths(year, 3 * Number(number) - 2, 3 * Number(number))
    },
  },
  month: {
    type: 'string',
    expects: 'a month such as 2020-05',
    schema: pattern(`^${yearPattern}-(0[1-9]|1[0-2])$`),
    partOf: (day) => day.slice(0, 7),
    sql: (day) => `left(${day}::varchar, 7)`,
    days: (month) => {
      const [, year = '', number = ''] = new RegExp(`^${yearPattern}-(0[1-9]|1[0-2])$`).exec(month) ?? []
      return number === '' ? null : daysOfMonths(year, Number(number), Number(number))
    },
  },
  week: {
    type: 'string',
    expects: 'a week of ISO 8601 such as 2020-W21',
    // Only some years have week 53, so the schema omits it.
    schema: pattern(`^${yearPattern}-W(0[1-9]|[1-4][0-9]|5[0-2])$`),
    partOf: weekOf,
    sql: (day) => `lpad(isoyear(${day})::varchar, 4, '0') || '-W' || lpad(week(${day})::varchar, 2, '0')`,
    days: (week) =>
      new RegExp(`^${yearPattern}-W(0[1-9]|[1-4]\\d|5[0-3])$`).test(week) ? daysOfWeek(week) : null,
  },
  day: {
    type: 'date',
    expects: 'a day such as 2020-05-01',
    schema: { type: 'string', format: 'date' },
    partOf: (day) => day,
    sql: (day) => day,
    days: (day) => (isDay(day) ? [day, day] : null),
  },
  weekday: {
    type: 'integer',
    expects: 'a day of the week, from 1 for Monday to 7 for Sunday',
    schema: { type: 'integer', minimum: 1, maximum: 7 },
    partOf: (day) => String(weekdayOf(day)),
    sql: (day) => `isodow(${day})`,
    days: () => null,
  },
} as const satisfies Record<(typeof datePartNames)[number], DatePartRow>

export type DatePart = keyof typeof rows

export const dateParts: readonly DatePart[] = datePartNames

export type Term = Field & { readonly part?: { readonly base: Field; readonly name: DatePart } }

function isDay(text: string): boolean {
  return dateOf(text) === text && !text.startsWith('0000')
}

function allPartsOf({ type, kind }: Pick<Field, 'type' | 'kind'>): readonly DatePart[] {
  const isDated = type === 'date' || type === 'datetime' || (kind === 'date' && typeRow(type).isText)
  return isDated ? dateParts : []
}

/** Omits parts that are named like another field. */
export function partsOf({ fields }: Pick<Table, 'fields'>, field: Field): readonly DatePart[] {
  return allPartsOf(field).filter((part) => fields.every(({ name }) => name !== `${field.name}__${part}`))
}

const termCache = new WeakMap<Field, ReadonlyMap<DatePart, Term>>()

/**
 * Finds the term of a part, such as `date__month`, always the same object; undefined if the field lacks it.
 */
export function partTerm(base: Field, name: string): Term | undefined {
  const part = allPartsOf(base).find((candidate) => candidate === name)
  if (part === undefined) return undefined
  const termsByPart =
    termCache.get(base) ??
    new Map(
      allPartsOf(base).map((partName): [DatePart, Term] => [
        partName,
        {
          ...base,
          name: `${base.name}__${partName}`,
          type: rows[partName].type,
          kind: null,
          part: { base, name: partName },
        },
      ]),
    )
  termCache.set(base, termsByPart)
  return termsByPart.get(part)
}

function rowOf({ part }: Term): DatePartRow | null {
  return part === undefined ? null : rows[part.name]
}

/** Field whose values a term has or derives from. */
export function baseOf(term: Term): Field {
  return term.part?.base ?? term
}

/** A term's value from the canonical text of its field; null for a part of no date. */
export function termValue(term: Term, value: string): string | null {
  const row = rowOf(term)
  if (row === null) return value
  const day = value.slice(0, baseOf(term).type === 'datetime' ? 10 : undefined)
  return isDay(day) ? row.partOf(day) : null
}

/** DuckDB SQL of a term, from the column of its field. */
export function termSql(term: Term, column: string): string {
  const row = rowOf(term)
  if (row === null) return column
  switch (baseOf(term).type) {
    case 'date':
      return row.sql(column)
    case 'datetime':
      return row.sql(`${column}::date`)
    default: {
      const isIso = `regexp_full_match(${column}, '[0-9]{4}-[0-9]{2}-[0-9]{2}') and ${column} >= '0001'`
      return row.sql(`try_cast(case when ${isIso} then ${column} end as date)`)
    }
  }
}

/** Canonical text of an operand; null if it is invalid. */
export function parsePart(term: Term, text: string): string | null {
  const row = rowOf(term)
  if (row === null) return null
  const value = row.type === 'integer' && /^\s*\d{1,4}\s*$/.test(text) ? String(Number(text)) : text.trim()
  if (term.part?.name === 'weekday') return /^[1-7]$/.test(value) ? value : null
  return row.days(value) === null ? null : value
}

/** Describes valid operands of a part at the end of a sentence; null for a field. */
export function expectedPart(term: Term): string | null {
  return rowOf(term)?.expects ?? null
}

/** JSON Schema of operands; null for a field. */
export function partSchemaOf(term: Term): DatePartRow['schema'] | null {
  return rowOf(term)?.schema ?? null
}

/** Days that operands of a part span; null if they are not consecutive. */
export function daysOfPart(term: Term, values: readonly string[]): readonly [string, string] | null {
  const [first = '', last = first] = [values[0], values.at(-1)]
  const [from, to] = [rowOf(term)?.days(first), rowOf(term)?.days(last)]
  return from === undefined || to === undefined || from === null || to === null ? null : [from[0], to[1]]
}

const daysOf: Readonly<Record<DatePart, number>> = {
  year: 365,
  quarter: 90,
  month: 28,
  week: 7,
  day: 1,
  weekday: 1,
}

/**
 * Maximum number of values of a part between two values of its field; infinite for a field.
 * @param min least value as text; null if it is unknown
 */
export function partsBetween(term: Term, min: string | null, max: string | null): number {
  if (term.part === undefined) return Infinity
  if (term.part.name === 'weekday') return 7
  const [first, last] = [min, max].map((text) => timeOfDay((text ?? '').slice(0, 'YYYY-MM-DD'.length)))
  const days = ((last ?? Number.NaN) - (first ?? Number.NaN)) / dayMs
  return Number.isNaN(days) ? Infinity : Math.floor(days / daysOf[term.part.name]) + 2
}
