import { quotedText } from '../sql.ts'
import { escapedPattern } from '../text.ts'
import type { MomentType } from './types/field-type.ts'

interface DateFormat {
  readonly pattern: string
  /** Groups in the pattern, from 1. */
  readonly groups: ReadonlyMap<Part, { readonly number: number; readonly word: Word }>
}

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half' | 'offset'

const months: readonly (readonly [short: readonly string[], long: readonly string[]])[] = [
  'jan ene janv / janeiro enero janvier januar january',
  'fev feb févr fevr / fevereiro febrero février fevrier februar february',
  'mar mars mär mrz / março marco marzo mars märz march',
  'abr apr avr / abril avril april',
  'mai may / maio mayo mai may',
  'jun juin / junho junio juin juni june',
  'jul juil / julho julio juillet juli july',
  'ago aug août aout / agosto août aout august',
  'set sep sept / setembro septiembre setiembre septembre september',
  'out oct okt / outubro octubre octobre oktober october',
  'nov / novembro noviembre novembre november',
  'dez dic déc dec / dezembro diciembre décembre decembre dezember december',
].map((names) => {
  const [short = '', long = ''] = names.split(' / ')
  return [short.split(' '), long.split(' ')]
})

/** Months (from 1) that a name may mean, each with its word in formats. */
export function monthsOf(
  name: string,
): readonly { readonly word: 'mmm' | 'mmmm'; readonly number: number }[] {
  const [bareName, isShort] = [name.toLowerCase().replace(/\.$/, ''), name.endsWith('.')]
  return months.flatMap(([short, long], index) => [
    ...(short.includes(bareName) ? [{ word: 'mmm' as const, number: index + 1 }] : []),
    ...(long.includes(bareName) && !isShort ? [{ word: 'mmmm' as const, number: index + 1 }] : []),
  ])
}

const shortNames = months.map(([short]) => short)
const longNames = months.map(([, long]) => long)

const oneOf = (names: readonly (readonly string[])[]): string => `(?i:${names.flat().join('|')})`

const words = {
  yyyy: { part: 'year', pattern: '[0-9]{4}' },
  yy: { part: 'year', pattern: '[0-9]{2}' },
  mmmm: { part: 'month', pattern: oneOf(longNames) },
  // An abbreviated name may end with a point.
  mmm: { part: 'month', pattern: `${oneOf(shortNames)}\\.?` },
  mm: { part: 'month', pattern: '[0-9]{2}' },
  m: { part: 'month', pattern: '[0-9]{1,2}' },
  dd: { part: 'day', pattern: '[0-9]{2}' },
  d: { part: 'day', pattern: '[0-9]{1,2}' },
  hh: { part: 'hour', pattern: '[0-9]{2}' },
  h: { part: 'hour', pattern: '[0-9]{1,2}' },
  ss: { part: 'second', pattern: '[0-9]{2}' },
  f: { part: 'fraction', pattern: '[0-9]{1,9}' },
  am: { part: 'half', pattern: '(?i:[ap]\\.?m\\.?)' },
  z: { part: 'offset', pattern: '(?i:z)|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?' },
} as const satisfies Record<string, { part: Part; pattern: string }>

type Word = keyof typeof words

/** Other lower-case letters are allowed only as parts of a date. */
const separatorWords = new Set([' de ', ' of '])

const wordPattern = / de | of |yyyy|yy|mmmm|mmm|mm?|dd?|hh?|ss|f|am|z|./gsu

const partsByType: Readonly<
  Record<MomentType, { requiredParts: readonly Part[]; optionalParts: readonly Part[] }>
> = {
  // A month without a day means its first day.
  date: { requiredParts: ['year', 'month'], optionalParts: ['day'] },
  datetime: {
    requiredParts: ['year', 'month', 'day', 'hour', 'minute'],
    optionalParts: ['second', 'fraction', 'half', 'offset'],
  },
  time: { requiredParts: ['hour', 'minute'], optionalParts: ['second', 'half'] },
}

/**
 * Parses a format of yyyy or yy, mm, dd, hh, mm, ss (m, d, h for one digit or two) and literals. Further
 * parts: mmm and mmmm (names of months), f (fraction of a second), am and z (offset). The second mm, and any
 * mm after hh, means minutes.
 * @returns null if the format is invalid, or lacks a part that the type needs
 */
export function parseDateFormat(format: string, type: MomentType): DateFormat | null {
  const groups = new Map<Part, { number: number; word: Word }>()
  let pattern = ''
  // True after a part that may have one or two digits: only a literal shows where it ends.
  let hasOpenEnd = false
  for (const [word] of format.matchAll(wordPattern)) {
    if (!isWord(word)) {
      if (/[a-z0-9]/.test(word) && !separatorWords.has(word)) return null
      hasOpenEnd = false
      pattern += escapedPattern(word)
      continue
    }
    const { part, pattern: partPattern } = words[word]
    const isMinute =
      (word === 'mm' || word === 'm') && (type === 'time' || groups.has('month') || groups.has('hour'))
    const actualPart = isMinute ? 'minute' : part
    const isDigits = partPattern.startsWith('[0-9]')
    if (groups.has(actualPart) || (hasOpenEnd && isDigits)) return null
    hasOpenEnd = partPattern.startsWith('[0-9]{1,')
    groups.set(actualPart, { number: groups.size + 1, word })
    pattern += `(${partPattern})`
  }
  const { requiredParts, optionalParts } = partsByType[type]
  const hasRequiredParts = requiredParts.every((part) => groups.has(part))
  const hasOnlyAllowedParts = [...groups.keys()].every(
    (part) => requiredParts.includes(part) || optionalParts.includes(part),
  )
  return hasRequiredParts && hasOnlyAllowedParts && (groups.has('second') || !groups.has('fraction'))
    ? { pattern, groups }
    : null
}

function isWord(text: string): text is Word {
  return Object.hasOwn(words, text)
}

interface MomentOptions {
  readonly timezone: string
  readonly twoDigitYearsFrom: number
}

/**
 * SQL: converts a text in this format into ISO 8601, a time of day into hh:mm:ss; null for other texts.
 * `24:00` of a day is `00:00` of the next.
 */
export function asIso(
  { pattern, groups }: DateFormat,
  text: string,
  { timezone, twoDigitYearsFrom }: MomentOptions,
): string {
  const patternSql = quotedText(pattern)
  const groupSql = (part: Part): string =>
    `regexp_extract(${text}, ${patternSql}, ${groups.get(part)?.number ?? 0})`
  const paddedSql = (part: Part, width: number): string => `lpad(${groupSql(part)}, ${width}, '0')`
  const day = groups.has('day') ? paddedSql('day', 2) : `'01'`
  const year = yearOf(groupSql('year'), groups.get('year')?.word, twoDigitYearsFrom)
  const month = monthOf(groupSql('month'), groups.get('month')?.word)
  const dateSql = `${year} || '-' || ${month} || '-' || ${day}`
  const seconds = groups.has('second') ? paddedSql('second', 2) : `'00'`
  const fraction = groups.has('fraction') ? ` || rtrim('.' || rtrim(${groupSql('fraction')}, '0'), '.')` : ''
  const hasAmPm = groups.has('half')
  const hour = hasAmPm ? hourOf(groupSql('hour'), groupSql('half')) : paddedSql('hour', 2)
  const timeSql = `${hour} || ':' || ${paddedSql('minute', 2)} || ':' || ${seconds}${fraction}`
  const [hasDate, hasTime] = [groups.has('year'), groups.has('hour')]
  const sqls = [...(hasDate ? [dateSql] : []), ...(hasTime ? [timeSql] : [])]
  const local = nextDayFor24(sqls.join(` || ' ' || `), hasDate && hasTime && !hasAmPm)
  const isoSql = groups.has('offset') ? inZone(local, groupSql('offset'), timezone) : local
  return `case when regexp_full_match(${text}, ${patternSql}) then ${isoSql} end`
}

function yearOf(text: string, word: Word | undefined, twoDigitYearsFrom: number): string {
  const [century, firstYear] = [Math.floor(twoDigitYearsFrom / 100), twoDigitYearsFrom % 100]
  const first = quotedText(String(firstYear).padStart(2, '0'))
  return word === 'yy' ? `if(${text} < ${first}, '${century + 1}', '${century}') || ${text}` : text
}

function nextDayFor24(local: string, isDayAndTime: boolean): string {
  if (!isDayAndTime) return local
  const next = `(try_cast(left(${local}, 10) as date) + 1)::varchar || ' 00:00:00'`
  return `case when ends_with(${local}, ' 24:00:00') then ${next} else ${local} end`
}

function monthOf(text: string, word: Word | undefined): string {
  if (word !== 'mmm' && word !== 'mmmm') return `lpad(${text}, 2, '0')`
  const names = word === 'mmm' ? shortNames : longNames
  const cases = names.map(
    (monthNames, index) =>
      `when lower(rtrim(${text}, '.')) in (${monthNames.map(quotedText).join(', ')}) then '${String(index + 1).padStart(2, '0')}'`,
  )
  return `case ${cases.join(' ')} end`
}

function hourOf(hour: string, half: string): string {
  const number = `${hour}::integer`
  return `case when ${number} between 1 and 12 then
    lpad((${number} % 12 + if(lower(${half})[1] = 'p', 12, 0))::varchar, 2, '0') end`
}

function inZone(local: string, offset: string, timezone: string): string {
  const digits = `replace(${offset}, ':', '')`
  const minutes = `case when lower(${offset}) = 'z' then 0 else
    (${digits}[1] || '1')::integer * (${digits}[2:3]::integer * 60 + coalesce(nullif(${digits}[4:5], ''), '0')::integer) end`
  // A timestamp holds at most six fractional digits; a cast would round longer fractions.
  const isHeld = `length(split_part(${local}, '.', 2)) <= 6`
  const utc = `try_cast(case when ${isHeld} then ${local} end as timestamp) - to_minutes(${minutes})`
  const localTime = timezone === 'UTC' ? utc : `timezone(${quotedText(timezone)}, timezone('UTC', ${utc}))`
  return `(${localTime})::varchar`
}
