import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { TableFailure } from '../rejects.ts'
import { decoderOf } from '../source/decode.ts'
import { LF } from '../source/record.ts'
import { wholeCharacters } from '../source/utf8.ts'
import { quoteSignsOf, readingOf, type QuoteSigns, type Reading } from './reading.ts'

/** How a CSV is written, as far as its bytes tell. */
export interface Dialect {
  readonly encoding: Encoding
  readonly delimiter: string
  readonly quote: string | null
  readonly skipLines: number
  /** What lines begin with that are no rows. */
  readonly comment: string | null
  /** Lines at the end that are no rows. */
  readonly skipLast: number
  /** What the first line that is read holds. */
  readonly firstLine: readonly string[]
  /** Lines that it takes, since its values may have breaks, and blank ones and comments before it. */
  readonly headerLines: number
  readonly hasHeader: boolean
  /** Why, in words. */
  readonly evidence: readonly string[]
}

/** Of a start that is as well in another encoding. */
export const asciiSaid = 'all bytes are ASCII'

/** Tells the encoding of a text from all of its bytes. */
export class EncodingWitness {
  #isUtf8 = true
  #isAscii = true
  #hasControls = false
  #start = Buffer.alloc(0)
  #waiting = Buffer.alloc(0)

  look(chunk: Buffer): void {
    if (this.#start.length < 4) this.#start = Buffer.concat([this.#start, chunk.subarray(0, 4)])
    this.#isAscii &&= isAscii(chunk)
    if (this.#isUtf8) {
      const bytes = Buffer.concat([this.#waiting, chunk])
      const whole = wholeCharacters(bytes)
      this.#isUtf8 = isUtf8(bytes.subarray(0, whole))
      this.#waiting = Buffer.from(bytes.subarray(whole))
    }
    this.#hasControls ||= !this.#isAscii && chunk.some((byte) => byte >= 0x80 && byte < 0xa0)
  }

  get encoding(): { encoding: Encoding; evidence: string } {
    const [first, second] = this.#start
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
      return { encoding: 'utf-16', evidence: 'it starts with the byte order mark of UTF-16' }
    }
    if (this.#isAscii) return { encoding: 'utf-8', evidence: `${asciiSaid}, so the encoding is open: utf-8` }
    if (this.#isUtf8) return { encoding: 'utf-8', evidence: 'all of it is UTF-8' }
    return this.#hasControls
      ? {
          encoding: 'windows-1252',
          evidence: 'it is not UTF-8, and has bytes from 0x80 to 0x9f: windows-1252',
        }
      : { encoding: 'latin-1', evidence: 'it is not UTF-8, and has no bytes from 0x80 to 0x9f: latin-1' }
  }
}

const delimiters = [',', ';', '\t', '|']
const quotes = ['"', "'"]
const skippedMax = 10
/** Of the rows of the sample that must have as many values as the first line, and no value that was cut apart. */
const consistentShare = 0.98

/**
 * Finds the delimiter, the quote and the lines before the header that a sample is written with.
 *
 * A quote that encloses something is never read as a plain character, however many columns that would give; one that
 * encloses nothing is none.
 */
export function dialectOf(sample: Buffer, isWhole: boolean, encoding: Encoding, evidence: string): Dialect {
  const decoder = decoderOf(encoding === 'utf-16' ? 'utf-16' : encoding, 'the sample')
  const text = decoder.write(sample)
  const isOpen = isWhole && text.length > 0 && text.at(-1) !== LF
  const closed = isOpen ? Buffer.concat([text, Buffer.from('\n')]) : text
  const best = withComments(closed, isWhole) ?? bestOf(candidatesIn(closed, isWhole, null))
  if (best === null) throw new Error('no delimiter splits it into rows of the same number of values')
  const { delimiter, quote, skipLines, comment, firstLine, lastLines, share } = best
  requireNoEscapes(text, best)
  const hasHeader = looksLikeHeader(firstLine)
  return {
    delimiter,
    quote,
    skipLines,
    comment,
    skipLast: lastLines,
    firstLine,
    headerLines: linesBeside(text, best) + firstLine.join('').split('\n').length,
    encoding,
    hasHeader,
    evidence: [
      evidence,
      `${JSON.stringify(delimiter)} gives ${firstLine.length} columns in ${(100 * share).toFixed(1)} % of the sample`,
      ...quoteEvidence(best),
      ...(skipLines > 0 ? [`${skipLines} lines stand before the header`] : []),
      ...(comment === null ? [] : [`lines that begin with ${JSON.stringify(comment)} are no rows`]),
      ...(lastLines > 0 ? [`${lastLines} lines at the end hold one value: no rows`] : []),
      ...(hasHeader
        ? []
        : ['the first line holds numbers, dates or nothing, so it is taken for a row: name the columns']),
    ],
  }
}

/** @throws TableFailure where quotes in values are escaped by backslashes, which plain values may begin or end with */
function requireNoEscapes(text: Buffer, { quote, rows }: Candidate): void {
  if (quote !== null) return
  const lines = text.toString('utf8').split('\n')
  const escaped = /(?:^|[,;\t|])"(?:[^"\\]|\\.)*\\"(?:[^"\\]|\\.)*"(?:[,;\t|\r]|$)/
  const found = lines.flatMap((line, index) => (escaped.test(line) ? [index + 1] : []))
  if (found.length === 0 || found.length < (1 - consistentShare) * rows) return
  throw new TableFailure(
    `quotes in values are escaped by backslashes (line ${found[0] ?? 1}): no reader of CSV by its standard (RFC 4180) takes that; ` +
      'write the file with quotes doubled instead',
  )
}

const commentMark = '#'

/** The best way where lines between the rows are comments; null where none is one, or one may be the header or a row. */
function withComments(text: Buffer, isWhole: boolean): Candidate | null {
  const lines = text.toString('latin1').split('\n')
  const marked = lines.filter((line) => line.startsWith(commentMark))
  if (marked.length === 0) return null
  const best = bestOf(candidatesIn(text, isWhole, commentMark))
  if (best === null || best.firstLine.length === 1) return null
  const isRow = (line: string): boolean => line.split(best.delimiter).length >= best.firstLine.length
  return marked.some(isRow) ? null : best
}

/** A way of reading the sample that gives rows of the same number of values. */
interface Candidate extends Reading, QuoteSigns {
  readonly delimiter: string
  readonly quote: string | null
  readonly skipLines: number
  readonly comment: string | null
  /** Of its rows, those that fit. */
  readonly share: number
}

function candidatesIn(text: Buffer, isWhole: boolean, comment: string | null): Candidate[] {
  const found: Candidate[] = []
  for (const delimiter of delimiters) {
    for (const quote of [...quotes, null]) {
      const marks = { delimiter: delimiter.charCodeAt(0), quote: quote?.charCodeAt(0) ?? -1 }
      for (let skipLines = 0; skipLines <= skippedMax; skipLines += 1) {
        const way = { marks, skipLines, comment }
        const reading = readingOf(text, isWhole, way)
        // Any last line would be a header without rows.
        if (reading === null || (skipLines > 0 && reading.rows === 0)) continue
        const share = reading.rows === 0 ? 1 : reading.fitting / reading.rows
        if (share < consistentShare) continue
        const signs = quoteSignsOf(text, way, quotes)
        found.push({ delimiter, quote, skipLines, comment, share, ...reading, ...signs })
      }
    }
  }
  return found
}

/** Which comes first of the same lines; `'` is an apostrophe wherever it need not be a quote. */
function rankOf({ quote, firstLine, enclosed, needed, rows }: Candidate): number | null {
  if (quote === '"') return enclosed > 0 ? 3 : 1
  if (quote === null) return 0
  const isQuote = firstLine.length === 1 ? enclosed > rows : needed > 0 || enclosed > rows / 2
  return isQuote ? 2 : null
}

function bestOf(candidates: readonly Candidate[]): Candidate | null {
  const ranked = candidates.flatMap((one) => {
    const rank = rankOf(one)
    return rank === null ? [] : [{ one, rank }]
  })
  const enclosing = ranked.filter(({ rank }) => rank > 1).map(({ one }) => one)
  const keys = ({ one, rank }: (typeof ranked)[number]): number[] => [
    Number(!cutsValues(one, enclosing)),
    Number(one.firstLine.length > 1),
    // A line that fits is not skipped: after it, a decimal comma may pass for a delimiter.
    -one.skipLines,
    rank,
    one.firstLine.length,
  ]
  const [best] = ranked.toSorted((left, right) => compareKeys(keys(right), keys(left)))
  return best?.one ?? null
}

/** Whether the delimiter stands within values that another reading of the same lines finds enclosed. */
function cutsValues({ quote, cut, rows, skipLines }: Candidate, enclosing: readonly Candidate[]): boolean {
  return enclosing.some(
    (other) =>
      other.quote !== null &&
      other.quote !== quote &&
      other.skipLines <= skipLines &&
      (cut.get(other.quote) ?? 0) > (1 - consistentShare) * rows,
  )
}

function compareKeys(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((key, index) => key !== right[index])
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}

function quoteEvidence({ quote, enclosed }: Candidate): string[] {
  if (quote === '"') return []
  return quote === null
    ? [`a '"' stands where it encloses no value, so none are enclosed`]
    : [`${JSON.stringify(quote)} encloses values of ${enclosed.toLocaleString('en')} lines of the sample`]
}

/** The cells but for years that follow each other, by which columns are often named. */
function withoutYears(cells: readonly string[]): readonly string[] {
  const years = cells.filter((cell) => /^(1[89]|20)\d\d$/.test(cell)).map(Number)
  const [first = 0] = years
  const follow = years.length > 1 && years.every((year, index) => year === first + index)
  return follow ? cells.filter((cell) => !years.includes(Number(cell))) : cells
}

/** After so many lines, before one that is neither blank nor a comment. */
function linesBeside(text: Buffer, { skipLines, comment }: Candidate): number {
  const lines = text.toString('latin1').split('\n').slice(skipLines)
  const isComment = (line: string): boolean => comment !== null && line.startsWith(comment)
  return Math.max(
    0,
    lines.findIndex((line) => line !== '' && line !== '\r' && !isComment(line)),
  )
}

/** Of a number or a date. */
const dataPattern = /^-?[\d.,]+$|^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/

function looksLikeHeader(cells: readonly string[]): boolean {
  return (
    !withoutYears(cells).some((cell) => dataPattern.test(cell.trim())) &&
    cells.filter((cell) => cell !== '').length >= cells.length / 2
  )
}
