import type { Table } from '../../core/catalog/catalog.ts'
import type { FieldProfile } from '../convert/profile.ts'
import type { ReadSource } from '../source/read.ts'

/** What the last report says of the snapshot that is published. */
export interface Before {
  readonly rows: number
  readonly fields: readonly Pick<FieldProfile, 'name' | 'nulls'>[]
}

/** Below this share of the rows before, a source is more likely cut off than right. */
const rowsMin = 0.5

/**
 * A source without any row is more likely cut off than right, though nothing was there before. One whose rows were all
 * left out is no such source: that is counted against what the catalog allows.
 */
export function emptinessOf(
  { mayBeEmpty }: Table,
  { records, rejectedRows, files }: Pick<ReadSource, 'records' | 'rejectedRows' | 'files'>,
): string[] {
  if (mayBeEmpty || records + rejectedRows > 0) return []
  const [first] = files
  return [
    `there is no row in ${files.length === 1 && first ? first.name : `any of its ${files.length} files`}`,
  ]
}

/** What makes a source unlike the one before, in sentences; none where it may be published unasked. */
export function driftSince(before: Before | null, rows: number, fields: readonly FieldProfile[]): string[] {
  if (before === null) return []
  const drift: string[] = []
  if (rows < rowsMin * before.rows) {
    drift.push(`there are ${inWords(rows)} rows, and ${inWords(before.rows)} before`)
  }
  const emptied = fields.filter(({ name, nulls }) => {
    const earlier = before.fields.find((field) => field.name === name)
    return rows > 0 && nulls === rows && earlier !== undefined && earlier.nulls < before.rows
  })
  for (const { name } of emptied) {
    const filled = before.rows - (before.fields.find((field) => field.name === name)?.nulls ?? 0)
    drift.push(`all values of "${name}" are null, and ${inWords(filled)} were filled before`)
  }
  return drift
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}
