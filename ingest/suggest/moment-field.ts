import { visibleJson } from '../../core/text.ts'
import { questionField, typedField, type FieldKeys, type SeenColumn, type SuggestedField } from './field.ts'
import { momentForm, momentsOf, type AmbiguousMoments, type MomentForm } from './moments.ts'
import { nullWords } from './words.ts'

/** Distinct eight-digit numbers that count as dates even if the column's name suggests none. */
const daysMin = 20
const timeName =
  /(^|_)(hora|horas|horario|hour|time|uhrzeit|heure|saida|chegada|departure|arrival|inicio|fim)(_|$)/
const monthName =
  /(^|_)(mes|meses|month|mois|monat|periodo?|period|competencia|referencia|ref|anomes|data|date|dt)(_|$)/
export const dayName =
  /(^|_)(data|date|dt|dia|day|inicio|fim|termino|vencimento|emissao|nascimento|start|end|since|until)(_|$)/

/** Eight-digit numbers are dates if all are valid, and there are many or the name says so. */
export function areDays(name: string, values: readonly string[]): boolean {
  const areAll = values.every((text) => /^\d{8}$/.test(text) && momentsOf(text).length > 0)
  return areAll && (dayName.test(name) || values.length >= daysMin)
}

/** Null unless the columns show one order of days and months. */
export function isDayFirstIn(columns: readonly SeenColumn[]): boolean | null {
  const orders = columns.flatMap(({ texts }) => {
    const form = momentForm([...texts.keys()].filter((text) => !nullWords.has(text)))
    return form === null || 'example' in form
      ? []
      : form.formats.flatMap((format) => isDayFirst(format) ?? [])
  })
  return new Set(orders).size === 1 ? (orders[0] ?? null) : null
}

/** Null for a format with another order, or with names of months. */
function isDayFirst(format: string): boolean | null {
  if (format.includes('mmm')) return null
  return /^d+.m/.test(format) ? true : /^m+.d/.test(format) ? false : null
}

/** Null unless all values are dates, times or both. */
export function momentField(
  column: Pick<SeenColumn, 'name' | 'isDayFirst'>,
  values: readonly string[],
): SuggestedField | null {
  const { name } = column
  const form = momentForm(values)
  if (form === null) return null
  if ('example' in form) return likeOtherColumns(form, column) ?? momentQuestion(form)
  const { type, formats } = form
  const ambiguousTimeFormat = type === 'time' ? formats.find((format) => !/ss|am/.test(format)) : undefined
  if (ambiguousTimeFormat !== undefined && !timeName.test(name)) return clockQuestion(values, formats)
  const zonedFormats = formats.filter((format) => /z$|UTC$/.test(format))
  const isZoned = zonedFormats.length > 0
  if (isZoned && zonedFormats.length < formats.length) return zoneQuestion(values, formats)
  const areMonths = type === 'date' && formats.length > 0 && !formats.some((format) => format.includes('d'))
  if (areMonths && !formats.every((format) => format.startsWith('yyyy')) && !monthName.test(name))
    return questionField(
      `say whether ${visibleJson(values[0] ?? '')} is a month: declare type: date, format: ${formats.join(' or ')}; otherwise it stays text`,
    )
  const meaning = areMonths
    ? ', which means the first day of a month; type: string keeps the text'
    : isZoned
      ? ', which become times in UTC; for those of another zone, declare timezone: America/Sao_Paulo'
      : ''
  return {
    ...typedField(momentKeys(form), `written ${writtenAs(form)}${meaning}`),
    isNotable: areMonths || isZoned,
  }
}

export function momentKeys({ type, formats }: MomentForm): FieldKeys {
  return { type, ...(formats.length > 0 && { format: formats.length === 1 ? formats[0] : formats }) }
}

export function writtenAs({ type, formats }: MomentForm): string {
  const plainFormats = { date: 'yyyy-mm-dd', datetime: 'yyyy-mm-dd hh:mm:ss', time: 'hh:mm:ss' }
  return formats.length === 0 ? plainFormats[type] : formats.join(' or ')
}

/** Asks about times of which only some name their zone: the others would be read as UTC. */
function zoneQuestion(values: readonly string[], formats: readonly string[]): SuggestedField {
  const example = values.find((text) => !/(?:Z|UTC|[+-]\d{2}(?::?\d{2})?)$/.test(text)) ?? ''
  return questionField(
    `say which zone ${visibleJson(example)} is in, since other times have one: if UTC, declare type: datetime, format: [${formats.join(', ')}]; otherwise correct them in the file`,
  )
}

/** Proposes text for values such as `3:45`, and asks whether they are hours or minutes. */
function clockQuestion(values: readonly string[], formats: readonly string[]): SuggestedField {
  const example = values.find((text) => /^\d+:\d+$/.test(text)) ?? ''
  const formatText = formats.length === 1 ? formats[0] : `[${formats.join(', ')}]`
  return questionField(
    `say what ${visibleJson(example)} means: for hours and minutes, declare type: time, format: ${formatText ?? ''}; minutes and seconds stay texts`,
  )
}

function likeOtherColumns(
  { type, example, formats, extraFormats, scope }: AmbiguousMoments,
  { isDayFirst: isDayFirstElsewhere = null }: Pick<SeenColumn, 'isDayFirst'>,
): SuggestedField | null {
  const fitting = formats.filter((format) => isDayFirst(format) === isDayFirstElsewhere)
  if (isDayFirstElsewhere === null || fitting.length !== 1 || scope === 'mixed') return null
  const form = { type, formats: [...fitting, ...extraFormats] }
  const first = isDayFirstElsewhere ? 'day' : 'month'
  return {
    ...typedField(
      momentKeys(form),
      `written ${writtenAs(form)}; ${visibleJson(example)} is read with the ${first} first, as in the other columns`,
    ),
    isNotable: true,
  }
}

function momentQuestion({ type, example, formats, extraFormats, scope }: AmbiguousMoments): SuggestedField {
  if (scope === 'mixed')
    return questionField(
      `${visibleJson(example)} may be ${formats.join(' or ')}, and other values are only one or the other: write all values alike in the file, or leave the field a text`,
    )
  const ways = formats.map((format) =>
    extraFormats.length === 0 ? format : `[${[format, ...extraFormats].join(', ')}]`,
  )
  return questionField(
    `say how ${visibleJson(example)} is written: declare type: ${type}, format: ${ways.join(' or ')}; ${scope} values could be either`,
  )
}

/** Asks for the century of dates such as 16-07-68; null for other texts. */
export function centuryQuestion(texts: readonly string[]): string | null {
  const matches = texts.map((text) => /^(\d{1,2})([-/.])(\d{1,2})\2(\d{2})$/.exec(text))
  const [first] = matches
  if (first == null || !matches.every((part) => part !== null && part[2] === first[2])) return null
  const orders = [
    ['dd', 'mm', 'yy'],
    ['mm', 'dd', 'yy'],
    ['yy', 'mm', 'dd'],
  ].filter((order) =>
    matches.every((match) => {
      const numbers = [match?.[1], match?.[3], match?.[4]].map(Number)
      const [month = 0, day = 0] = ['mm', 'dd'].map((part) => numbers[order.indexOf(part)])
      return month >= 1 && month <= 12 && day >= 1 && day <= 31
    }),
  )
  if (orders.length === 0) return null
  const hasOneDigit = matches.some((match) => match?.[1]?.length === 1 || match?.[3]?.length === 1)
  const formats = orders.map((order) =>
    order.map((part) => (hasOneDigit && part !== 'yy' ? part.slice(1) : part)).join(first[2]),
  )
  return `say which date ${visibleJson(texts[0] ?? '')} is: declare type: date, format: ${formats.join(' or ')}, two_digit_years_from: 1930, or another earliest year that yy can mean`
}
