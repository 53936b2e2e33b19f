import { OutOfMemory } from '../../core/duckdb/errors.ts'
import { messageOf, remedyOf } from '../../core/errors.ts'
import { shorten, visibleJson } from '../../core/text.ts'

/** A value or row of a source that violates the catalog. */
export interface Reject {
  /** Present if a source has several files. */
  readonly file?: string
  readonly line: number
  /** Null if the row itself is at fault. */
  readonly field: string | null
  /** Null if it is to be hidden. */
  readonly text: string | null
  readonly reason: string
}

export const detailedRejectsMax = 1000

/** A table is not published, and the old snapshot continues to serve. */
export class TableFailure extends Error {
  readonly rejects: readonly Reject[]
  /** Includes rejects without details. */
  readonly rejectCount: number
  /** Null if the message says it. */
  readonly remedy: string | null

  constructor(
    message: string,
    rejects: readonly Reject[] = [],
    { count = rejects.length, remedy = null }: { count?: number; remedy?: string | null } = {},
  ) {
    super(message)
    this.name = 'TableFailure'
    this.rejects = rejects
    this.rejectCount = count
    this.remedy = remedy
  }
}

/** Returns any error as a fault of its table alone. */
export function asFailure(error: unknown, memoryBytes: number): TableFailure {
  if (error instanceof TableFailure) return error
  const message =
    error instanceof OutOfMemory
      ? `the ingest needs more than its ${Math.round(memoryBytes / 1e6)} MB of memory: raise INGEST_MEMORY`
      : messageOf(error)
  return Object.assign(new TableFailure(message, [], { remedy: remedyOf(error) }), { cause: error })
}

const textShownMax = 80

/** Formats a reject: `line 3, field "deaths": "12.75" is not a whole number ...`. */
export function rejectLine({ file, line, field, text, reason }: Reject): string {
  const place = file === undefined ? `line ${line}` : `${file}, line ${line}`
  const location = field === null ? place : `${place}, field "${field}"`
  // Texts of complete rows are only in the report.
  if (field !== null && text === null) return `${location}: the value ${reason}`
  return text === null || field === null
    ? `${location}: ${reason}`
    : `${location}: ${visibleJson(shorten(text, textShownMax))} ${reason}`
}
