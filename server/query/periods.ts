import type { Field } from '../../core/catalog/catalog.ts'
import { dateOf } from '../../core/catalog/types/date.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { timeInZone } from '../../core/time-in-zone.ts'

/**
 * What an operand names among the values of a field of dates or moments: a shorter date names all of its days. A time of
 * day names no day, but a place between two: `first` then comes after `last`.
 */
interface Period {
  /** Least value that is not before the operand, as `readValue` writes it. */
  readonly first: string
  /** Greatest value that is not after it. */
  readonly last: string
}

type PeriodUnit = 'day' | 'microsecond'

/** The unit of a field whose values are dates or moments; null for all other fields. */
export function periodUnit({ type, kind }: Pick<Field, 'type' | 'kind'>): PeriodUnit | null {
  if (type === 'datetime') return 'microsecond'
  return type === 'date' || (kind === 'date' && typeRow(type).isText) ? 'day' : null
}

/** Of a day, in the way a moment is written. */
const [dayStart, dayEnd] = ['00:00:00', '23:59:59.999999']

/**
 * Reads a year, a month, a day or a moment: `2020`, `2020-05`, `05/2020`, `2020-5-1`, `1/5/2020`, `2020-05-01T18:05`.
 *
 * @returns null where the text is none of these, or has an offset that the field cannot take
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
  // A time of day belongs to one day.
  if (days.first !== days.last) return null
  const clock = timeOf(time)
  if (clock === null) return null
  if (unit === 'day') {
    if (offset !== undefined) return null
    if (clock === dayStart) return days
    const next = dayAfter(days.first)
    return next === null ? null : { first: next, last: days.last }
  }
  const local = `${days.first} ${clock}`
  const moment = offset === undefined ? local : broughtTo(field.reading.timezone, local, offset)
  return moment === null ? null : { first: moment, last: moment }
}

/** The shortest text that names a period; null where several texts are needed. */
export function periodText(field: Field, { first, last }: Period): string | null {
  if (first === last) return first
  for (const length of ['2020'.length, '2020-05'.length, '2020-05-01'.length]) {
    const text = first.slice(0, length)
    const period = parsePeriod(field, text)
    if (period?.first === first && period.last === last) return text
  }
  return null
}

/** All days of a period of days. */
export function daysIn({ first, last }: Period): string[] {
  const days: string[] = []
  for (let day: string | null = first; day !== null && day <= last; day = dayAfter(day)) days.push(day)
  return days
}

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
  const one = dateOf(`${year}-${firstMonth}-${day.padStart(2, '0')}`)
  return one === null ? null : { first: one, last: one }
}

function lengthOfMonth(year: string, month: string): number {
  return new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

function dayAfter(day: string): string | null {
  return day === '9999-12-31'
    ? null
    : new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}

/** A time of day as moments have it, without zeros at the end of its fraction. */
function timeOf(text: string): string | null {
  const [, hours = '', minutes = '', seconds = '00', fraction = ''] =
    /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?$/.exec(text) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null
  return `${hours.padStart(2, '0')}:${minutes}:${seconds}${fraction.replace(/\.?(?<!0)0*$/, '')}`
}

/** A moment with an offset as the clocks of a zone show it; null where there is no zone. */
function broughtTo(timezone: string | null, local: string, offset: string): string | null {
  if (timezone === null) return null
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  const behind = Number(`${sign}1`) * (60 * Number(hours) + Number(minutes)) * 60_000
  const [seconds, fraction] = [local.slice(0, 19), local.slice(19)]
  const there = timeInZone(new Date(Date.parse(`${seconds.replace(' ', 'T')}Z`) - behind), timezone)
  return `${there.slice(0, 19).replace('T', ' ')}${fraction}`
}
