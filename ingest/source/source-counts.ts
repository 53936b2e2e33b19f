export interface SourceCounts {
  /** Number of texts: one per file, except for a zip. */
  readonly members: number
  readonly records: number
  readonly rejectedRows: number
  readonly textBytes: number
  /** All lines: must equal the sum of the records and the lines below. */
  readonly total: number
  readonly skipped: number
  readonly header: number
  /** Further lines of records whose values have line breaks. */
  readonly breaks: number
  readonly rejected: number
  readonly blank: number
  readonly comments: number
  readonly repeatedHeaders: number
  readonly dropped: number
  readonly last: number
}

export const noSourceCounts: SourceCounts = {
  members: 0,
  records: 0,
  rejectedRows: 0,
  textBytes: 0,
  total: 0,
  skipped: 0,
  header: 0,
  breaks: 0,
  rejected: 0,
  blank: 0,
  comments: 0,
  repeatedHeaders: 0,
  dropped: 0,
  last: 0,
}

export function totalCounts(counts: readonly SourceCounts[]): SourceCounts {
  const sum: Record<keyof SourceCounts, number> = { ...noSourceCounts }
  for (const fileCounts of counts) for (const key of keys) sum[key] += fileCounts[key]
  return sum
}

const keys = Object.keys(noSourceCounts) as readonly (keyof SourceCounts)[]

/** Lines by use, which add up to `all`. */
export type LineCounts = Omit<
  SourceCounts,
  'members' | 'records' | 'rejectedRows' | 'textBytes' | 'total'
> & {
  // oxlint-disable-next-line id-denylist -- Key of report.json.
  readonly all: number
  readonly rows: number
}

/** @param badRows accepted records that are rejected later for an invalid value */
export function lineCountsOf(counts: SourceCounts, badRows: number): LineCounts {
  const { members: _, records, rejectedRows: _rows, textBytes: _bytes, total, ...lines } = counts
  // oxlint-disable-next-line id-denylist -- Key of report.json.
  return { all: total, ...lines, rows: records - badRows, rejected: lines.rejected + badRows }
}
