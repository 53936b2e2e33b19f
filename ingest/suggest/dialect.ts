import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { decoderOf } from '../source/decode.ts'
import { CR, LF } from '../source/record.ts'
import { wholeCharacters } from '../source/utf8.ts'
import { bestWay, looksLikeHeader, type Candidate } from './candidates.ts'

/** How a CSV is written, as far as its bytes tell. */
export interface Dialect {
  readonly encoding: Encoding
  readonly delimiter: string
  readonly quote: string | null
  readonly lineTerminator: 'lf' | 'cr'
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

/**
 * Finds the delimiter, the quote and the lines before the header that a sample is written with.
 *
 * A quote that encloses something is never read as a plain character, however many columns that would give; one that
 * encloses nothing is none.
 */
export function dialectOf(sample: Buffer, isWhole: boolean, encoding: Encoding, evidence: string): Dialect {
  const decoded = decoderOf(encoding, 'the sample').write(sample)
  const lineTerminator = decoded.includes(CR) && !decoded.includes(LF) ? 'cr' : 'lf'
  const text = lineTerminator === 'lf' ? decoded : decoderOf(encoding, 'the sample', 'cr').write(sample)
  const isOpen = isWhole && text.length > 0 && text.at(-1) !== LF
  const best = bestWay(isOpen ? Buffer.concat([text, Buffer.from('\n')]) : text, isWhole)
  const { delimiter, quote, skipLines, comment, firstLine, lastLines, share } = best
  const hasHeader = looksLikeHeader(firstLine)
  return {
    delimiter,
    quote,
    lineTerminator,
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
      ...(lineTerminator === 'cr' ? ['its lines end in carriage returns alone'] : []),
      ...(skipLines > 0 ? [`${skipLines} lines stand before the header`] : []),
      ...(comment === null ? [] : [`lines that begin with ${JSON.stringify(comment)} are no rows`]),
      ...(lastLines > 0 ? [`${lastLines} lines at the end hold one value: no rows`] : []),
      ...(hasHeader
        ? []
        : ['the first line holds numbers, dates or nothing, so it is taken for a row: name the columns']),
    ],
  }
}

function quoteEvidence({ quote, enclosed }: Candidate): string[] {
  if (quote === '"') return []
  return quote === null
    ? [`a '"' stands where it encloses no value, so none are enclosed`]
    : [`${JSON.stringify(quote)} encloses values of ${enclosed.toLocaleString('en')} lines of the sample`]
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
