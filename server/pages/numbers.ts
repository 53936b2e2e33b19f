import type { Words } from './words/words.ts'

/** Numbers, sizes and days as a language writes them. */
export interface Written {
  readonly count: (number: number) => string
  readonly bytes: (number: number) => string
  /** A day, `YYYY-MM-DD` or the moment of a snapshot. */
  readonly day: (date: string) => string
  /** A value of a number field: its digits all stay. */
  readonly digits: (text: string) => string
}

const made = new Map<string, Written>()

export function writtenIn({ locale }: Words): Written {
  const known = made.get(locale)
  if (known !== undefined) return known
  const whole = new Intl.NumberFormat(locale)
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const [decimal = '.'] = new Intl.NumberFormat(locale)
    .formatToParts(0.5)
    .flatMap(({ type, value }) => (type === 'decimal' ? [value] : []))
  const written: Written = {
    count: (number) => whole.format(number),
    bytes: (number) => {
      const steps = ['B', 'kB', 'MB', 'GB', 'TB']
      const step = Math.min(steps.length - 1, Math.floor(Math.log10(Math.max(1, number)) / 3))
      const shown = number / 1000 ** step
      return `${new Intl.NumberFormat(locale, { maximumFractionDigits: shown < 10 && step > 0 ? 1 : 0 }).format(shown)} ${steps[step] ?? ''}`
    },
    day: (date) => days.format(new Date(date)),
    // No groups: a year and a code are numbers too.
    digits: (text) => text.replace('.', decimal),
  }
  made.set(locale, written)
  return written
}
