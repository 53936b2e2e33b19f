import { RecordBounds } from '../source/bounds.ts'
import { LineFilter } from '../source/line-filter.ts'
import { CR, LF, openingQuote, recordValues, skipBlanks, type Marks } from '../source/record.ts'

export interface Way {
  readonly marks: Marks
  readonly skipLines: number
  readonly comment: string | null
}

export interface SampleReading {
  readonly firstLine: readonly string[]
  readonly rows: number
  readonly rowsLikeHeader: number
  readonly rowsOfSeveralValues: number
  /** Lines of a footer, which have one value where rows have several. */
  readonly lastLines: number
}

interface QuoteEvidence {
  readonly enclosed: number
  /** Rows with a value that needs quotes, because it contains a delimiter, line break or quote. */
  readonly requiredQuotes: number
  /**
   * Rows, by quote, in which a value begins with this quote and has an odd number of quotes, like half a
   * quoted value.
   */
  readonly cut: ReadonlyMap<string, number>
}

export interface Candidate extends SampleReading, QuoteEvidence {
  readonly delimiter: string
  readonly quote: string | null
  readonly skipLines: number
  readonly headerLines: number
  readonly comment: string | null
  /** Reason to publish nothing until a person has changed the entry; null for none. */
  readonly refusal: string | null
  readonly hasHeader: boolean
  /** True if the last columns have neither names nor values. */
  readonly dropEmptyExtraCells: boolean
  /** Line that may be a second header; null if it is a row. */
  readonly labels: readonly string[] | null
  /** Column names in the last comment above the rows; null for none. */
  readonly commentedHeader: readonly string[] | null
  readonly share: number
}

/**
 * Minimum share of rows with as many values as the first line, and of rows in which no quoted value is cut.
 */
export const consistentShare = 0.98

/** Maximum share of a sample that may be an incomplete value at its end. */
const unreadShareMax = 0.1

/** More lines count as rows that do not fit. */
const lastLinesMax = 10

/**
 * Reads a sample in one way, and counts its rows.
 * @param text in UTF-8; a complete file must end with a line feed
 * @returns null if quotes or line ends do not fit, or there is nothing to read
 */
export function readingOf(text: Buffer, isComplete: boolean, way: Way): SampleReading | null {
  const { marks } = way
  let first: readonly string[] | null = null
  const totals = { rows: 0, rowsLikeHeader: 0, rowsOfSeveralValues: 0 }
  // Lines at the end with one value, and those where empty cells follow it, as spreadsheets write them.
  let [singlesAtEnd, notesAtEnd] = [noNotes, noNotes]
  let paddedRows = 0
  const filter = new LineFilter(marks)
  const end = visitRecords(text, way, (start, bounds) => {
    // In a file with one column, a blank line is a row with an empty value.
    if (bounds.end === start && first?.length !== 1) return
    if (first !== null && first.length > 1 && filter.kindOf(text, start, bounds.end) !== null) return
    if (first === null) {
      first = recordValues(text.subarray(start, bounds.end), marks)
      return
    }
    totals.rows += 1
    if (bounds.valueCount === first.length) totals.rowsLikeHeader += 1
    if (bounds.valueCount > 1) totals.rowsOfSeveralValues += 1
    const isSingle = bounds.valueCount === 1
    const isPadded = first.length > 2 && !isSingle && hasOneValue(text, bounds, marks)
    if (isPadded) paddedRows += 1
    singlesAtEnd = isSingle ? withNote(singlesAtEnd, start, false) : noNotes
    notesAtEnd = isSingle || isPadded ? withNote(notesAtEnd, start, isPadded) : noNotes
  })
  // The compiler does not see assignments in callbacks.
  const firstLine = first as readonly string[] | null
  const isRead = end !== null && text.length - end <= (isComplete ? 0 : unreadShareMax * text.length)
  if (!isRead || firstLine === null) return null
  // If other rows have their first cell alone, such lines may be rows.
  const areNotes = notesAtEnd.padded === paddedRows && notesAtEnd.rows < totals.rows
  const notes = areNotes ? notesAtEnd : singlesAtEnd
  const endsWithNotes =
    isComplete && firstLine.length > 1 && notes.rows > 0 && isSetOff(text, notes.start, marks)
  const noteLines = endsWithNotes ? linesIn(text.subarray(notes.start)) : 0
  if (noteLines === 0 || noteLines > lastLinesMax) return { firstLine, ...totals, lastLines: 0 }
  return {
    firstLine,
    rows: totals.rows - notes.rows,
    rowsLikeHeader: totals.rowsLikeHeader - notes.padded,
    rowsOfSeveralValues: totals.rowsOfSeveralValues - notes.padded,
    lastLines: noteLines,
  }
}

const noNotes = { rows: 0, padded: 0, start: 0 }

function withNote(
  { rows, padded, start }: typeof noNotes,
  noteStart: number,
  isPadded: boolean,
): typeof noNotes {
  return { rows: rows + 1, padded: padded + (isPadded ? 1 : 0), start: rows === 0 ? noteStart : start }
}

function hasOneValue(text: Buffer, { end, valueCount }: RecordBounds, { delimiter }: Marks): boolean {
  let emptyCells = 0
  while (text[end - 1 - emptyCells] === delimiter) emptyCells += 1
  return emptyCells === valueCount - 1
}

/** Footers follow a blank line, contain `: ` or are in parentheses; other lines may be truncated rows. */
function isSetOff(text: Buffer, start: number, { delimiter }: Marks): boolean {
  const previousStart = text.lastIndexOf(LF, start - 2) + 1
  const previous = text.subarray(previousStart, start - 1)
  const isBlank = previousStart > 0 && previous.every((byte) => byte === CR || byte === delimiter)
  const line = text.toString('latin1', start, text.indexOf(LF, start))
  return isBlank || /: |^\([^)]*\)\W*$/.test(line)
}

function linesIn(text: Buffer): number {
  return text
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length
}

export function quoteEvidenceOf(text: Buffer, way: Way, quotes: readonly string[]): QuoteEvidence {
  const { marks } = way
  let [enclosedRecords, requiredQuotes] = [0, 0]
  const cutRecords = new Map(quotes.map((quote) => [quote, 0]))
  const nextQuotes = new Map(quotes.map((quote) => [quote, -1]))
  const isQuoteIn = (quote: string, start: number, end: number): boolean => {
    if ((nextQuotes.get(quote) ?? -1) < start) {
      const index = text.indexOf(quote, start)
      nextQuotes.set(quote, index === -1 ? text.length : index)
    }
    return (nextQuotes.get(quote) ?? -1) < end
  }
  visitRecords(text, way, (start, { end }) => {
    if (!quotes.some((quote) => isQuoteIn(quote, start, end))) return
    const values = writtenValues(text.subarray(start, end), marks)
    if (values.some(({ isEnclosed }) => isEnclosed)) enclosedRecords += 1
    if (values.some(({ isNeeded }) => isNeeded)) requiredQuotes += 1
    for (const quote of quotes) {
      const code = quote.charCodeAt(0)
      // An odd number of quotes shows that a delimiter cut a quoted value.
      const isCut = values.some(
        ({ isEnclosed, bytes }) => !isEnclosed && bytes[0] === code && occurrences(bytes, code) % 2 === 1,
      )
      if (isCut) cutRecords.set(quote, (cutRecords.get(quote) ?? 0) + 1)
    }
  })
  return { enclosed: enclosedRecords, requiredQuotes, cut: cutRecords }
}

export function recordsOf(text: Buffer, way: Way): string[][] {
  const filter = new LineFilter(way.marks)
  const records: string[][] = []
  visitRecords(text, way, (start, { end }) => {
    if (filter.kindOf(text, start, end) === null)
      records.push(recordValues(text.subarray(start, end), way.marks))
  })
  return records
}

/** Returns the first fault and its line; null if there is none. */
export function faultOf(
  text: Buffer,
  isComplete: boolean,
  marks: Marks,
): { line: number; reason: string } | null {
  const bounds = new RecordBounds(marks)
  let offset = 0
  while (offset < text.length && bounds.find(text, offset)) offset = bounds.next
  // A quote that is never closed shows only in a complete file.
  if (bounds.fault === null && isComplete && offset < text.length)
    return { line: occurrences(text.subarray(0, offset), LF) + 1, reason: 'a quoted value is never closed' }
  if (bounds.fault === null) return null
  return {
    line: occurrences(text.subarray(0, offset), LF) + bounds.lineFeedsInValues + 1,
    reason: bounds.fault,
  }
}

/** Returns where the last whole record ends; null if reading fails. */
function visitRecords(
  text: Buffer,
  { marks, skipLines, comment }: Way,
  onRecord: (start: number, bounds: RecordBounds) => void,
): number | null {
  let offset = 0
  for (let skipped = 0; skipped < skipLines; skipped += 1) {
    offset = text.indexOf(LF, offset) + 1
    if (offset === 0) return null
  }
  const bounds = new RecordBounds(marks)
  const commentMark = comment === null ? null : Buffer.from(comment)
  while (offset < text.length) {
    if (commentMark?.equals(text.subarray(offset, offset + commentMark.length)) === true) {
      const lineFeed = text.indexOf(LF, offset)
      if (lineFeed === -1) break
      offset = lineFeed + 1
      continue
    }
    if (!bounds.find(text, offset)) break
    onRecord(offset, bounds)
    offset = bounds.next
  }
  return bounds.fault === null ? offset : null
}

interface WrittenValue {
  readonly bytes: Buffer
  readonly isEnclosed: boolean
  readonly isNeeded: boolean
}

/** Splits a record, and tells for each value whether quotes enclose it, and whether they must. */
function writtenValues(record: Buffer, marks: Marks): WrittenValue[] {
  const { delimiter, quote } = marks
  const values: WrittenValue[] = []
  for (let offset = 0; offset <= record.length; offset += 1) {
    const opening = openingQuote(record, offset, marks)
    const start = offset
    const isEnclosed = opening !== -1
    let needsQuotes = false
    if (isEnclosed) {
      offset = opening + 1
      while (record[offset] !== quote || record[offset + 1] === quote) {
        const byte = record[offset]
        needsQuotes ||= byte === delimiter || byte === quote || byte === LF
        offset += byte === quote ? 2 : 1
      }
      offset = skipBlanks(record, offset + 1, marks)
    } else while (offset < record.length && record[offset] !== delimiter) offset += 1
    values.push({ bytes: record.subarray(start, offset), isEnclosed, isNeeded: needsQuotes })
  }
  return values
}

function occurrences(bytes: Buffer, code: number): number {
  let count = 0
  for (const byte of bytes) if (byte === code) count += 1
  return count
}
