import { shorten } from '../../core/text.ts'

/** A value or row of a source that is not what the catalog declares. */
export interface Reject {
  /** Named where a source has several files. */
  readonly file?: string
  /** Line of the file on which the row starts, from 1. */
  readonly line: number
  /** Null where the fault is in the row itself. */
  readonly field: string | null
  /** The text as the source has it, of the value or the row; null where it is to be hidden. */
  readonly text: string | null
  readonly reason: string
}

/** Rejects that are kept whole; beyond them only the count goes on. */
export const rejectsKeptMax = 1000

/** Of a table, or its source: publishing it stops, and the old snapshot goes on serving. */
export class TableFailure extends Error {
  readonly rejects: readonly Reject[]
  /** All rejects, those not kept included. */
  readonly rejectCount: number

  constructor(message: string, rejects: readonly Reject[] = [], rejectCount = rejects.length) {
    super(message)
    this.name = 'TableFailure'
    this.rejects = rejects
    this.rejectCount = rejectCount
  }
}

const textShownMax = 80

/** `line 3, field "deaths": "12.75" is not a whole number ...`. */
export function rejectLine({ file, line, field, text, reason }: Reject): string {
  const place = file === undefined ? `line ${line}` : `${file}, line ${line}`
  const where = field === null ? place : `${place}, field "${field}"`
  // Of a whole row the text is for the report.
  if (field !== null && text === null) return `${where}: the value ${reason}`
  return text === null || field === null
    ? `${where}: ${reason}`
    : `${where}: ${JSON.stringify(shorten(text, textShownMax))} ${reason}`
}
