import { quotedText } from '../sql.ts'

/** How a source writes dates: `dd/mm/yyyy`, `yyyymmdd`, `d/m/yyyy hh:mm` and the like. */
export interface DateFormat {
  /** RE2 pattern that a whole text must match, with a group for each part. */
  readonly pattern: string
  /** Number of the group that holds a part, from 1. */
  readonly groups: ReadonlyMap<Part, number>
}

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

const parts = {
  yyyy: { part: 'year', digits: '[0-9]{4}' },
  mm: { part: 'month', digits: '[0-9]{2}' },
  m: { part: 'month', digits: '[0-9]{1,2}' },
  dd: { part: 'day', digits: '[0-9]{2}' },
  d: { part: 'day', digits: '[0-9]{1,2}' },
  hh: { part: 'hour', digits: '[0-9]{2}' },
  h: { part: 'hour', digits: '[0-9]{1,2}' },
  ss: { part: 'second', digits: '[0-9]{2}' },
} as const satisfies Record<string, { part: Part; digits: string }>

const needed: Readonly<Record<'date' | 'datetime', { all: readonly Part[]; partsMax: number }>> = {
  date: { all: ['year', 'month', 'day'], partsMax: 3 },
  datetime: { all: ['year', 'month', 'day', 'hour', 'minute'], partsMax: 6 },
}

/**
 * Reads a format made of yyyy, mm, dd, hh, mm, ss (or m, d, h for one digit or two) and what stands between them;
 * the second mm, or any after hh, are minutes.
 *
 * @returns null where it is no such format, or lacks a part that the type needs
 */
export function parseDateFormat(format: string, type: 'date' | 'datetime'): DateFormat | null {
  const groups = new Map<Part, number>()
  let pattern = ''
  // Of one digit or two, right before: then where it ends would be a guess.
  let isOpen = false
  for (const [word] of format.matchAll(/yyyy|mm?|dd?|hh?|ss|./gsu)) {
    if (!(word in parts)) {
      if (/[a-z0-9]/.test(word)) return null
      isOpen = false
      pattern += word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      continue
    }
    const { part, digits } = parts[word as keyof typeof parts]
    const isMinute = part === 'month' && (groups.has('month') || groups.has('hour'))
    const meant = isMinute ? 'minute' : part
    if (groups.has(meant) || isOpen) return null
    isOpen = digits.includes(',')
    groups.set(meant, groups.size + 1)
    pattern += `(${digits})`
  }
  const { all, partsMax } = needed[type]
  return all.every((part) => groups.has(part)) && groups.size <= partsMax ? { pattern, groups } : null
}

/** SQL: a text in this format as ISO 8601; null where it is not in this format. */
export function asIso({ pattern, groups }: DateFormat, text: string): string {
  const quoted = quotedText(pattern)
  const group = (part: Part, width: number): string =>
    `lpad(regexp_extract(${text}, ${quoted}, ${groups.get(part) ?? 0}), ${width}, '0')`
  const date = `${group('year', 4)} || '-' || ${group('month', 2)} || '-' || ${group('day', 2)}`
  const seconds = groups.has('second') ? group('second', 2) : `'00'`
  const time = groups.has('hour')
    ? ` || ' ' || ${group('hour', 2)} || ':' || ${group('minute', 2)} || ':' || ${seconds}`
    : ''
  return `case when regexp_full_match(${text}, ${quoted}) then ${date}${time} end`
}
