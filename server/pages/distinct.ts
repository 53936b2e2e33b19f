import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { writtenIn } from './numbers.ts'
import type { Words } from './words/en.ts'

type Profile = SnapshotReport['fields'][number]

/** Says how many different values a field has: exactly, or about where its table is large; empty if that is unknown. */
export function distinctText(
  words: Words,
  { choices, distinct = choices?.length, distinct_estimate: about }: Profile,
): string {
  const { count } = writtenIn(words)
  if (distinct !== undefined) return words.distinctExactly(distinct, count(distinct))
  return about === undefined ? '' : words.distinct(count(about))
}
