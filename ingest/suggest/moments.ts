import { monthsOf } from '../../core/catalog/date-format.ts'
import { dateOf } from '../../core/catalog/types/date.ts'

export interface MomentForm {
  readonly type: 'date' | 'datetime' | 'time'
  /** Formats that together cover all texts; empty for ISO 8601. */
  readonly formats: readonly string[]
}

/** Formats that read one text as two values, so that a person must choose. */
export interface AmbiguousMoments {
  readonly type: MomentForm['type']
  readonly example: string
  /** Candidates, of which one is meant. */
  readonly formats: readonly string[]
  /** Formats of texts that match no candidate. */
  readonly extraFormats: readonly string[]
  /** Texts that match every candidate; for `mixed`, none alone fits. */
  readonly scope: 'all' | 'some' | 'mixed'
}

const monthPattern = /^(\p{L}+)(\.?)$/u

const yearMin = 1500
/** Open-ended records may have the end date 9999-12-31. */
const yearMax = 9999
/** Eight digits with a later year are probably a code. */
const compactYearMax = 2200

interface Reading {
  readonly format: string
  /** Readings in different formats are compared by it. */
  readonly iso: string
}

/** The patterns below take quadratic time. */
const lengthMax = 60

/** Every format by which a text is a date or a time, with its value. */
export function momentsOf(text: string): readonly Reading[] {
  if (text.length > lengthMax) return []
  const time = /^(\d{1,2}):(\d{2})(?::(\d{2}))?( ?[AaPp]\.?[Mm]\.?)?$/.exec(text)
  if (time !== null) return timeReadings(time).map(({ format, iso }) => ({ format, iso }))
  const parts =
    /^(.*?\d)([ T])(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)( ?[AaPp]\.?[Mm]\.?)?( ?(?:Z|UTC|[+-]\d{2}(?::?\d{2})?))?$/.exec(
      text,
    )
  if (parts === null) return datesOf(text)
  const [, day = '', separator = '', clock = '', half = '', offset = ''] = parts
  const times = clockFormats(clock, half, offset)
  return (
    datesOf(day)
      // A month or year has no time of day.
      .filter(({ format }) => format.includes('d'))
      .flatMap((date) =>
        times.map((timeForm) => ({
          format: `${date.format}${separator}${timeForm.format}`,
          iso: `${date.iso} ${timeForm.iso}`,
        })),
      )
  )
}

function timeReadings([, hours = '', minutes = '', seconds, half = '']: RegExpExecArray): Reading[] {
  if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) return []
  return clockFormats([hours, minutes, ...(seconds === undefined ? [] : [seconds])].join(':'), half, '')
}

function clockFormats(clock: string, half: string, offset: string): Reading[] {
  const [hours = '', minutes = '', rest] = clock.split(':')
  const [seconds, fraction] = rest?.split('.') ?? []
  if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) return []
  if (half !== '' && (Number(hours) < 1 || Number(hours) > 12)) return []
  const tail = [
    seconds === undefined ? '' : ':ss',
    fraction === undefined ? '' : '.f',
    half === '' ? '' : `${half.startsWith(' ') ? ' ' : ''}am`,
    offset.endsWith('UTC') ? offset : offset === '' ? '' : `${offset.startsWith(' ') ? ' ' : ''}z`,
  ].join('')
  const iso = `${hours.padStart(2, '0')}:${minutes}:${rest ?? '00'}${half}${offset}`
  return [...(hours.length === 2 ? ['hh'] : []), 'h'].map((hour) => ({ format: `${hour}:mm${tail}`, iso }))
}

/** Reads a text as a date in every format that fits: `03/04/2020` may begin with the day or the month. */
function datesOf(text: string): Reading[] {
  const compact = /^(\d{4})(\d{2})(\d{2})$/.exec(text)
  if (compact !== null) {
    const [, year = '', month = '', day = ''] = compact
    if (Number(year) > compactYearMax) return []
    return readings(['yyyymmdd'], year, month, day)
  }
  const parts =
    /^(\p{L}+\.?|\d+)([^\p{L}\d]+| de | DE )(\p{L}+\.?|\d+)(?:([^\p{L}\d]+| de | DE )(\p{L}+\.?|\d+))?$/u.exec(
      text,
    )
  if (parts === null) return []
  const [, first = '', separator = '', second = '', secondSeparator = '', third] = parts
  if (third === undefined) {
    if (/^\d{4}$/.test(first) && /^\d{2}$/.test(second))
      return readings([`yyyy${separator}mm`], first, second, '01')
    if (/^\d{4}$/.test(second) && /^\d{2}$/.test(first))
      return readings([`mm${separator}yyyy`], second, first, '01')
    return []
  }
  const isMonthFirst = monthPattern.test(first)
  if (isMonthFirst || monthPattern.test(second)) {
    const [month, day] = isMonthFirst ? [first, second] : [second, first]
    if (!/^\d{1,2}$/.test(day) || !/^\d{4}$/.test(third)) return []
    // Separators are equal, except in `May 3, 2020` and `3. May 2020`.
    const areUsual = secondSeparator === separator || [' , ', '.  '].includes(separator + secondSeparator)
    if (!areUsual) return []
    const dayFormats = [...(day.length === 2 ? ['dd'] : []), 'd']
    return monthsOf(month).flatMap(({ word, number }) => {
      const formats = dayFormats.map((dayFormat) => {
        const dayAndMonth = isMonthFirst ? [word, dayFormat] : [dayFormat, word]
        return `${dayAndMonth.join(separator)}${secondSeparator}yyyy`
      })
      return readings(formats, third, String(number), day)
    })
  }
  if (secondSeparator !== separator) return []
  if (/^\d{4}$/.test(first) && /^\d{1,2}$/.test(second) && /^\d{1,2}$/.test(third)) {
    const formats = widthsOf(second, third).map((width) =>
      width === 'two' ? ['yyyy', 'mm', 'dd'] : ['yyyy', 'm', 'd'],
    )
    return readings(
      formats.map((format) => format.join(separator)),
      first,
      second,
      third,
    )
  }
  if (!/^\d{4}$/.test(third) || !/^\d{1,2}$/.test(first) || !/^\d{1,2}$/.test(second)) return []
  const widths = widthsOf(first, second)
  const [dayFirst, monthFirst] = [
    ['dd', 'mm'],
    ['mm', 'dd'],
  ].map((order) =>
    widths.map((width) =>
      [...order.map((part) => (width === 'two' ? part : part.slice(1))), 'yyyy'].join(separator),
    ),
  )
  return [
    ...readings(dayFirst ?? [], third, second, first),
    ...readings(monthFirst ?? [], third, first, second),
  ]
}

function widthsOf(first: string, second: string): ('two' | 'one')[] {
  return /^\d{2}$/.test(first) && /^\d{2}$/.test(second) ? ['two', 'one'] : ['one']
}

function readings(formats: readonly string[], year: string, month: string, day: string): Reading[] {
  const iso = dateOf(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
  if (iso === null || Number(year) < yearMin || Number(year) > yearMax) return []
  return formats.map((format) => ({ format, iso }))
}

const typeOf = (format: string): MomentForm['type'] => {
  if (!/[yY]/.test(format)) return 'time'
  return format.includes('h') ? 'datetime' : 'date'
}

function isPlain(format: string): boolean {
  return /^yyyy-mm-dd([ T]hh:mm:ss(\.f)?)?$/.test(format) || format === 'hh:mm:ss' || format === 'h:mm:ss'
}

const formatsMax = 3

interface ReadText {
  readonly text: string
  /** Value in each format that the text may have, to compare formats. */
  readonly isoByFormat: ReadonlyMap<string, string>
}

/**
 * Finds the formats of dates or times: one for all, or a few, of which each text matches one.
 * @returns the formats, none for ISO 8601; a text for a person to decide if formats read it differently; null
 * if a text is no date or time, or too many formats would be needed
 */
export function momentForm(texts: readonly string[]): MomentForm | AmbiguousMoments | null {
  const readTexts = texts.map((text) => ({
    text,
    isoByFormat: new Map(momentsOf(text).map(({ format, iso }) => [format, iso])),
  }))
  if (texts.length === 0 || readTexts.some(({ isoByFormat }) => isoByFormat.size === 0)) return null
  const formats = [...new Set(readTexts.flatMap(({ isoByFormat }) => [...isoByFormat.keys()]))]
  const fitCount = (format: string): number => textsIn(format, readTexts).length
  // With equal counts, longer formats come first, since they are narrower: `dd` before `d`.
  const rankedFormats = formats.toSorted((a, b) => fitCount(b) - fitCount(a) || b.length - a.length)
  const commonFormats = rankedFormats.filter((format) => fitCount(format) === texts.length)
  const [first] = commonFormats
  if (first === undefined) return severalFormats(readTexts, rankedFormats)
  const type = typeOf(first)
  const sameTypeFormats = commonFormats.filter((format) => typeOf(format) === type)
  const ambiguousText = readTexts.find(
    ({ isoByFormat }) => new Set(sameTypeFormats.map((format) => isoByFormat.get(format))).size > 1,
  )
  if (ambiguousText === undefined) return { type, formats: commonFormats.some(isPlain) ? [] : [first] }
  return {
    type,
    example: ambiguousText.text,
    // Either day or month may be first, so both formats of equal length remain.
    formats: sameTypeFormats.filter((format) => format.length === first.length),
    extraFormats: [],
    scope: 'all',
  }
}

function textsIn(format: string, readTexts: readonly ReadText[]): readonly ReadText[] {
  return readTexts.filter(({ isoByFormat }) => isoByFormat.has(format))
}

/** Chooses few formats, so that each text has one; null if none suffice. */
function severalFormats(
  readTexts: readonly ReadText[],
  rankedFormats: readonly string[],
): MomentForm | AmbiguousMoments | null {
  const chosenFormats = coverTexts(readTexts, rankedFormats)
  const [type, ...furtherTypes] = [...new Set(chosenFormats?.map(typeOf))]
  if (chosenFormats === null || type === undefined || furtherTypes.length > 0) return null
  const ambiguity =
    findTextOfTwoFormats(readTexts, chosenFormats) ?? findRivalFormat(readTexts, chosenFormats, rankedFormats)
  if (ambiguity === null) return { type, formats: chosenFormats.every(isPlain) ? [] : chosenFormats }
  const extraFormats = chosenFormats.filter((format) => !ambiguity.formats.includes(format))
  return { type, ...ambiguity, extraFormats }
}

/** Repeatedly chooses the format of most texts that have none yet. */
function coverTexts(readTexts: readonly ReadText[], rankedFormats: readonly string[]): string[] | null {
  const chosenFormats: string[] = []
  let uncoveredTexts = readTexts
  while (uncoveredTexts.length > 0) {
    const counts = rankedFormats.map((format) => textsIn(format, uncoveredTexts).length)
    const next = rankedFormats[counts.indexOf(Math.max(...counts))]
    if (next === undefined || chosenFormats.length === formatsMax) return null
    chosenFormats.push(next)
    uncoveredTexts = uncoveredTexts.filter(({ isoByFormat }) => !isoByFormat.has(next))
  }
  return chosenFormats
}

type Ambiguity = Pick<AmbiguousMoments, 'example' | 'formats' | 'scope'>

function findTextOfTwoFormats(
  readTexts: readonly ReadText[],
  chosenFormats: readonly string[],
): Ambiguity | null {
  for (const { text, isoByFormat } of readTexts) {
    const formats = chosenFormats.filter((format) => isoByFormat.has(format))
    if (formats.length > 1) return { example: text, formats, scope: 'mixed' }
  }
  return null
}

/** Finds a format such as mm/dd that reads all texts of a chosen dd/mm too, but some as other dates. */
function findRivalFormat(
  readTexts: readonly ReadText[],
  chosenFormats: readonly string[],
  rankedFormats: readonly string[],
): Ambiguity | null {
  for (const format of chosenFormats) {
    const textsOfFormat = textsIn(format, readTexts)
    for (const rival of rankedFormats) {
      if (chosenFormats.includes(rival) || rival.length !== format.length || typeOf(rival) !== typeOf(format))
        continue
      if (textsIn(rival, textsOfFormat).length < textsOfFormat.length) continue
      const readTwice = textsOfFormat.find(
        ({ isoByFormat }) => isoByFormat.get(format) !== isoByFormat.get(rival),
      )
      if (readTwice !== undefined) return { example: readTwice.text, formats: [format, rival], scope: 'some' }
    }
  }
  return null
}
