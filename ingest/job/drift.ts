import type { Table } from '../../core/catalog/catalog.ts'
import type { FieldProfile } from '../convert/profile/profile.ts'
import type { ReadSource } from '../source/read.ts'

export interface PreviousReport {
  readonly rows: number
  readonly fields: readonly Pick<FieldProfile, 'name' | 'nulls'>[]
}

/** A smaller share of rows is more likely truncated than right. */
const rowsMin = 0.5

/**
 * A source without rows is more likely truncated than correct. Rejected rows are rows: they count towards
 * `max_rejects`.
 */
export function emptySourceProblem(
  { mayBeEmpty }: Table,
  { counts, files }: Pick<ReadSource, 'counts' | 'files'>,
): string[] {
  if (mayBeEmpty || counts.records + counts.rejectedRows > 0) return []
  const [first] = files
  return [
    `there is no row in ${files.length === 1 && first ? first.name : `any of its ${files.length} files`}`,
  ]
}

/** Differences from the previous source, in sentences; none if it may be published without asking. */
export function driftSince(
  before: PreviousReport | null,
  rows: number,
  fields: readonly FieldProfile[],
): string[] {
  if (before === null) return []
  const drift: string[] = []
  if (rows < rowsMin * before.rows) {
    drift.push(
      `there ${rows === 1 ? 'is 1 row' : `are ${inWords(rows)} rows`} instead of ${inWords(before.rows)}`,
    )
  }
  const emptied = fields.filter(({ name, nulls }) => {
    const earlierField = before.fields.find((field) => field.name === name)
    return rows > 0 && nulls === rows && earlierField !== undefined && earlierField.nulls < before.rows
  })
  for (const { name } of emptied) {
    const valuesBefore = before.rows - (before.fields.find((field) => field.name === name)?.nulls ?? 0)
    drift.push(`all values of "${name}" are null, but ${inWords(valuesBefore)} rows had one before`)
  }
  return drift
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}
