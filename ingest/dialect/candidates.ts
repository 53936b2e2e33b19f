import { TableFailure } from '../base/rejects.ts'
import { RecordBounds } from '../source/bounds.ts'
import { joinedHeader, LF, recordValues } from '../source/record.ts'
import { commonDelimiters } from '../source/soundness.ts'
import { filledIn, isHeader, isLikelyHeader, secondLineOf } from './header.ts'
import {
  consistentShare,
  quoteEvidenceOf,
  readingOf,
  recordsOf,
  type Candidate,
  type SampleReading,
  type Way,
} from './reading.ts'
import { requireReadable, refuseShortHeader } from './refusals.ts'

const quotes = ['"', "'"]
const skippedMax = 10
const lineLengthMax = 64 * 1024
const candidateDefaults = {
  headerLines: 1,
  hasHeader: true,
  dropEmptyExtraCells: false,
  commentedHeader: null,
  labels: null,
  refusal: null,
}

/**
 * Best way to read a sample.
 * @param text in UTF-8; a complete file must end with a line feed
 * @throws TableFailure if no way fits, or the choice would be a guess
 */
export function bestWay(text: Buffer, isComplete: boolean): Candidate {
  if (text.toString('latin1').trim() === '')
    throw new TableFailure('the file is empty: it needs at least a header')
  const best =
    withComments(text, isComplete) ??
    orDelimiterWithMisfits(text, isComplete, bestOf(candidatesIn(text, isComplete)))
  if (best === null)
    throw new TableFailure(
      'no delimiter splits the file into rows with equal numbers of values: check that it is CSV',
    )
  requireReadable(text, isComplete, best)
  const readable = refuseShortHeader(text, isComplete, best)
  return readable.refusal === null ? withHeader(text, skipTitle(text, isComplete, best)) : readable
}

/** Every delimiter, quote and number of skipped lines by which the sample reads consistently. */
function candidatesIn(
  text: Buffer,
  isComplete: boolean,
  comment: string | null = null,
  shareMin = consistentShare,
): Candidate[] {
  const candidates: Candidate[] = []
  for (const delimiter of commonDelimiters) {
    for (const quote of [...quotes, null]) {
      const marks = { delimiter: delimiter.charCodeAt(0), quote: quote?.charCodeAt(0) ?? -1 }
      for (let skipLines = 0; skipLines <= skippedMax; skipLines += 1) {
        const readingOptions = { marks, skipLines, comment }
        const reading = readingOf(text, isComplete, readingOptions)
        if (reading === null || (skipLines > 0 && !isPreamble(text, readingOptions, reading))) continue
        const share = reading.rows === 0 ? 1 : reading.rowsLikeHeader / reading.rows
        if (share < shareMin) continue
        const quoteEvidence = quoteEvidenceOf(text, readingOptions, quotes)
        candidates.push({
          ...candidateDefaults,
          delimiter,
          quote,
          skipLines,
          comment,
          share,
          ...reading,
          ...quoteEvidence,
        })
        // A single column never needs skipped lines.
        if (reading.firstLine.length === 1) break
      }
    }
  }
  return candidates
}

/**
 * Returns whether skipped lines may precede a header: none may have as many cells as the header, with several
 * filled.
 */
function isPreamble(text: Buffer, { marks, skipLines }: Way, { firstLine, rows }: SampleReading): boolean {
  // Otherwise the last line of any file would pass as a header without rows.
  if (rows === 0) return false
  const hasLikelyHeader = isLikelyHeader(firstLine)
  if (!hasLikelyHeader && isTable(text, skipLines)) return false
  // One column gives nothing to compare.
  if (firstLine.length === 1) return true
  let offset = 0
  for (let line = 0; line < skipLines; line += 1) {
    const end = text.indexOf(LF, offset)
    const bounds = new RecordBounds(marks)
    const cells = bounds.find(text.subarray(offset, end + 1), 0)
      ? recordValues(text.subarray(offset, offset + bounds.end), marks)
      : []
    if ((cells.length === firstLine.length || !hasLikelyHeader) && filledIn(cells) > 1) return false
    offset = end + 1
  }
  return true
}

/**
 * Returns whether a delimiter splits all of the first lines alike. They are rows then, even if lines below
 * differ.
 */
function isTable(text: Buffer, lines: number): boolean {
  const start = text.toString('latin1').split('\n', lines)
  return commonDelimiters.some((delimiter) => {
    const counts = start.map((line) => line.split(delimiter).length)
    return counts.length > 1 && counts.every((count) => count > 1 && count === counts[0])
  })
}

/** The rank is above 1 if some values are quoted, and null if `'` seems an apostrophe. */
function rankOf({ quote, firstLine, enclosed, requiredQuotes, rows }: Candidate): number | null {
  if (quote === '"') return enclosed > 0 ? 3 : 1
  if (quote === null) return 0
  const isQuote = firstLine.length === 1 ? enclosed > rows : requiredQuotes > 0 || enclosed > rows / 2
  return isQuote ? 2 : null
}

function bestOf(candidates: readonly Candidate[]): Candidate | null {
  const rankedCandidates = candidates.flatMap((candidate) => {
    const rank = rankOf(candidate)
    return rank === null ? [] : [{ candidate, rank }]
  })
  // A rank above 1 means that quotes enclose some values.
  const quotingCandidates = rankedCandidates.filter(({ rank }) => rank > 1).map(({ candidate }) => candidate)
  const sortKeys = ({ candidate, rank }: (typeof rankedCandidates)[number]): number[] => [
    Number(!cutsValues(candidate, quotingCandidates)),
    // Several columns are likelier than one, even if lines above them are skipped.
    Number(candidate.firstLine.length > 1),
    // Skip few lines: below a skipped header, decimal commas could look like delimiters.
    -candidate.skipLines,
    rank,
    candidate.firstLine.length,
  ]
  const [best] = rankedCandidates.toSorted((left, right) => compareKeys(sortKeys(right), sortKeys(left)))
  return best?.candidate ?? null
}

function cutsValues({ quote, cut, rows, skipLines }: Candidate, enclosing: readonly Candidate[]): boolean {
  return enclosing.some(
    (rival) =>
      rival.quote !== null &&
      rival.quote !== quote &&
      rival.skipLines <= skipLines &&
      (cut.get(rival.quote) ?? 0) > (1 - consistentShare) * rows,
  )
}

function compareKeys(left: readonly number[], right: readonly number[]): number {
  const place = left.findIndex((key, index) => key !== right[index])
  return place === -1 ? 0 : (left[place] ?? 0) - (right[place] ?? 0)
}

const commentMark = '#'

/**
 * Treats lines that start with `#` as comments. One with the names of the columns becomes `commentedHeader`.
 * Null if there are no comments, or another comment may be a row.
 */
function withComments(text: Buffer, isComplete: boolean): Candidate | null {
  const lines = text.toString('latin1').split('\n')
  const commentLines = lines.filter((line) => line.startsWith(commentMark))
  if (commentLines.length === 0) return null
  const best = bestOf(candidatesIn(text, isComplete, commentMark))
  if (best === null || best.firstLine.length === 1) return null
  // If more lines are skipped than without comments, rows were mistaken for comments.
  const uncommented = bestOf(candidatesIn(text, isComplete))
  if (uncommented !== null && uncommented.firstLine.length > 1 && uncommented.skipLines < best.skipLines)
    return null
  const isRow = (line: string): boolean => line.split(best.delimiter).length >= best.firstLine.length
  const [header, ...furtherRows] = commentLines.filter(isRow)
  if (header === undefined) return best
  const commentedHeader = namesInComment(lines, header, best)
  return furtherRows.length === 0 && commentedHeader !== null ? { ...best, commentedHeader } : null
}

function namesInComment(lines: readonly string[], header: string, { delimiter, firstLine }: Candidate) {
  const linesAbove = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith(commentMark)),
  )
  if (linesAbove.length < 2 || linesAbove.at(-1) !== header) return null
  const names = Buffer.from(header.slice(commentMark.length), 'latin1')
    .toString('utf8')
    .trim()
    .split(delimiter)
  return names.length === firstLine.length && isLikelyHeader(names) ? names : null
}

/**
 * Falls back to a delimiter that the header and many rows contain: its misfits are reported, while a single
 * column would hide them.
 */
function orDelimiterWithMisfits(text: Buffer, isComplete: boolean, best: Candidate | null): Candidate | null {
  // A decimal comma may split all rows alike, but not the header.
  const isDoubtful = best !== null && best.skipLines > 0 && !firstFilled(text).includes(best.delimiter)
  if (best !== null && best.firstLine.length > 1 && !isDoubtful) return best
  const split = candidatesIn(text, isComplete, null, 0).filter(
    (candidate) =>
      candidate.skipLines === 0 &&
      candidate.firstLine.length > 1 &&
      isLikelyHeader(candidate.firstLine) &&
      splitsManyRows(candidate),
  )
  const rival = bestOf(split)
  return rival !== null && (!isDoubtful || rival.delimiter !== best.delimiter) ? rival : best
}

function splitsManyRows({ rows, rowsOfSeveralValues, rowsLikeHeader }: Candidate): boolean {
  return rows > 0 && (rowsOfSeveralValues >= rows / 2 || (rowsLikeHeader > 1 && rowsLikeHeader >= rows / 20))
}

function firstFilled(text: Buffer): string {
  return text.toString('latin1', 0, lineLengthMax).trimStart().split('\n', 1)[0] ?? ''
}

function skipTitle(text: Buffer, isComplete: boolean, best: Candidate): Candidate {
  const { delimiter, quote, comment, skipLines, firstLine } = best
  // Spreadsheets write `sep=;` above the header.
  const isSeparatorLine = /^sep=$/i.test(firstLine[0] ?? '')
  if ((firstLine.length < 3 && !isSeparatorLine) || filledIn(firstLine) > 1) return best
  const header = candidatesIn(text, isComplete, comment).find(
    (candidate) =>
      candidate.delimiter === delimiter &&
      candidate.quote === quote &&
      candidate.skipLines > skipLines &&
      candidate.firstLine.length === firstLine.length &&
      filledIn(candidate.firstLine) > 1,
  )
  return header !== undefined && isLikelyHeader(header.firstLine) ? header : best
}

const rowsCompared = 20

function withHeader(text: Buffer, best: Candidate): Candidate {
  const { delimiter, quote, skipLines, comment, commentedHeader } = best
  const marks = { delimiter: delimiter.charCodeAt(0), quote: quote?.charCodeAt(0) ?? -1 }
  const [first = [], ...rows] = recordsOf(text, { marks, skipLines, comment })
  const [second = [], ...furtherRows] = rows.slice(0, 1 + rowsCompared)
  const secondLineRole = secondLineOf(first, second, furtherRows)
  const isTwoLines = secondLineRole === 'joined'
  const headerCells = joinedHeader(isTwoLines ? [first, second] : [first])
  const hasHeader =
    commentedHeader === null && isHeader(headerCells, isTwoLines ? furtherRows : rows.slice(0, rowsCompared))
  const namedCount = headerCells.findLastIndex((cell) => cell.trim() !== '') + 1
  const dropEmptyExtraCells =
    hasHeader &&
    namedCount > 1 &&
    namedCount < headerCells.length &&
    rows.every((row) => row.slice(namedCount).every((cell) => cell === ''))
  return {
    ...best,
    hasHeader,
    dropEmptyExtraCells,
    headerLines: isTwoLines ? 2 : 1,
    labels: hasHeader && secondLineRole === 'labels' ? second : null,
    firstLine: dropEmptyExtraCells ? headerCells.slice(0, namedCount) : headerCells,
  }
}
