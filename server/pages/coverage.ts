import { isTime } from '../documents/words/value-text.ts'
import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import type { Words } from '../documents/words/en.ts'

/** Times as `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
interface Coverage {
  readonly from: string
  readonly to: string
}

export function coverageOf({ fields, order, time }: Table, report: SnapshotReport | null): Coverage | null {
  const isOfTime = time === null ? isTime : ({ name }: { name: string }): boolean => name === time
  const field = fields.find(
    (candidate) =>
      isOfTime(candidate) && (time !== null || order.some((key) => key.field === candidate.name)),
  )
  const statistics = report?.fields.find(({ name }) => name === field?.name)
  const [from = null, to = null] = [statistics?.min, statistics?.max].map((text) => timeOfText(text ?? ''))
  return from === null || to === null ? null : { from, to }
}

/** Reads a day, a year, or a month such as 202006; null for other texts. */
export function timeOfText(text: string): string | null {
  const time = text.slice(0, 'YYYY-MM-DD'.length).replace(/^(\d{4})(\d\d)$/, '$1-$2')
  return /^\d{4}(-\d\d){0,2}$/.test(time) && !Number.isNaN(Date.parse(time)) ? time : null
}

/** Null if the day is before the last time of the data, which must have been collected later. */
export function plausibleCollection(day: string, period: Coverage | null): string | null {
  return period === null || period.to <= day ? day : null
}

export function allCovered(parts: readonly (Coverage | null)[]): Coverage | null {
  const periods = parts.filter((part) => part !== null)
  const [from] = periods.map((part) => part.from).toSorted()
  const to = periods
    .map((part) => part.to)
    .toSorted()
    .at(-1)
  return from === undefined || to === undefined ? null : { from, to }
}

export function coverageText(words: Words, { from, to }: Coverage): string {
  return words.between(timeText(words, from), timeText(words, to))
}

export function timeText(words: Words, time: string): string {
  const { shortDay, month } = writtenIn(words)
  return time.length === 'YYYY'.length
    ? time
    : time.length === 'YYYY-MM'.length
      ? month(time)
      : shortDay(time)
}
