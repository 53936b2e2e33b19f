import type { Words } from './en.ts'

interface NumberFormats {
  readonly count: (number: number) => string
  readonly bytes: (number: number) => string
  /** @param date `YYYY-MM-DD` or the moment of a snapshot */
  readonly day: (date: string) => string
  /** Text like `11 jul. 2020`. */
  readonly shortDay: (date: string) => string
  /** @param month `YYYY-MM` */
  readonly month: (month: string) => string
  /** UTC, to the minute. */
  readonly moment: (date: string) => string
  /** UTC, to the second. */
  readonly exactMoment: (date: string) => string
  /** All digits, without thousands separators. */
  readonly digits: (text: string) => string
  /** Converts a number typed with the separators of the language into the form of the API. */
  readonly typed: (text: string, isWhole: boolean) => string
  /** All digits, with thousands separators. */
  readonly grouped: (text: string) => string
  /** Text like `1.23M`, where space is scarce. */
  readonly compact: (number: number) => string
  readonly list: (texts: readonly string[], kind?: 'conjunction' | 'disjunction') => string
  readonly percent: (share: number) => string
  /** Time window of a rate limit, such as `1m`, in words. */
  readonly span: (per: string) => string
  readonly inOrder: (texts: readonly string[]) => string[]
}

const formatsByLocale = new Map<string, NumberFormats>()

export function writtenIn({ locale }: Words): NumberFormats {
  const formats = formatsByLocale.get(locale)
  if (formats !== undefined) return formats
  const formatsOf = writtenBy(locale)
  formatsByLocale.set(locale, formatsOf)
  return formatsOf
}

const units = { s: 'second', m: 'minute', h: 'hour', d: 'day' } as const

function writtenBy(locale: string): NumberFormats {
  const integers = new Intl.NumberFormat(locale)
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const months = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' })
  const moments = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  const exactMoments = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: 'UTC',
  })
  const collator = new Intl.Collator(locale, { numeric: true })
  const lists = {
    conjunction: new Intl.ListFormat(locale, { type: 'conjunction' }),
    disjunction: new Intl.ListFormat(locale, { type: 'disjunction' }),
  }
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 })
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
  const [decimal = '.'] = new Intl.NumberFormat(locale)
    .formatToParts(0.5)
    .flatMap(({ type, value }) => (type === 'decimal' ? [value] : []))
  // No thousands separators: years and codes are numbers too.
  const digits = (text: string): string => text.replace('.', decimal)
  const group = decimal === ',' ? '.' : ','
  const hasGroups = new RegExp(String.raw`^[-+]?\d{1,3}(?:[${group}]\d{3})+(?:[${decimal}]\d+)?$`)
  return {
    count: (number) => integers.format(number),
    bytes: (number) => {
      const steps = ['B', 'kB', 'MB', 'GB', 'TB']
      const step = Math.min(steps.length - 1, Math.floor(Math.log10(Math.max(1, number)) / 3))
      const amount = number / 1000 ** step
      const amounts = amount < 10 && step > 0 ? tenths : whole
      return `${amounts.format(amount)} ${steps[step] ?? ''}`
    },
    day: (date) => days.format(new Date(date)),
    shortDay: (date) => days.format(new Date(date)).replaceAll(' de ', ' '),
    month: (month) => months.format(new Date(`${month}-01`)).replaceAll(' de ', ' '),
    moment: (date) => `${moments.format(new Date(date))} UTC`,
    exactMoment: (date) => `${exactMoments.format(new Date(date))} UTC`,
    digits,
    typed: (text, isWhole) => {
      const trimmedText = text.trim()
      // Links write fractions like the API: 1.234. In an integer, the point separates thousands.
      const isOfApi = !isWhole && /^[-+]?\d+\.\d+$/.test(trimmedText)
      return isOfApi
        ? trimmedText
        : (hasGroups.test(trimmedText) ? trimmedText.replaceAll(group, '') : trimmedText).replace(
            decimal,
            '.',
          )
    },
    grouped: (text) => {
      const [, sign = '', int = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? []
      return int === '' ? digits(text) : `${sign}${integers.format(BigInt(int))}${digits(fraction)}`
    },
    compact: (number) => short.format(number),
    list: (texts, kind = 'conjunction') => lists[kind].format(texts),
    percent: (share) => shares.format(share),
    span: (per) => {
      const unit = units[per.at(-1) as keyof typeof units]
      const number = Number(per.slice(0, -1))
      const parts = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).formatToParts(
        number,
      )
      return (number === 1 ? parts.filter(({ type }) => type === 'unit') : parts)
        .map(({ value }) => value)
        .join('')
    },
    inOrder: (texts) => texts.toSorted((a, b) => collator.compare(a, b)),
  }
}
