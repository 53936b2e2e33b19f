import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { decoderOf } from '../source/decode.ts'
import { CsvScanner } from '../source/scan.ts'
import { wholeCharacters } from '../source/utf8.ts'

/** How a CSV is written, as far as its bytes tell. */
export interface Dialect {
  readonly encoding: Encoding
  readonly delimiter: string
  readonly quote: string | null
  readonly skipLines: number
  /** What the first line that is read holds. */
  readonly firstLine: readonly string[]
  readonly hasHeader: boolean
  /** Why, in words. */
  readonly evidence: readonly string[]
}

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
    if (this.#isAscii)
      return { encoding: 'utf-8', evidence: 'all bytes are ASCII, so the encoding is open: utf-8' }
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
const quotes = ['"', "'", null]
const skippedMax = 10
/** Of the rows of the sample that must have as many values as the first. */
const consistentShare = 0.98

/** Finds the delimiter, the quote and the lines before the header that split a sample into the most columns. */
export function dialectOf(sample: Buffer, isWhole: boolean, encoding: Encoding, evidence: string): Dialect {
  const decoder = decoderOf(encoding === 'utf-16' ? 'utf-16' : encoding, 'the sample')
  const text = decoder.write(sample)
  // What was cut off at the end of the sample is no fault of the file.
  const lines = isWhole ? text : text.subarray(0, text.lastIndexOf('\n') + 1)
  let best: {
    score: number
    found: Omit<Dialect, 'encoding' | 'evidence' | 'hasHeader'>
    share: number
  } | null = null
  for (const delimiter of delimiters) {
    for (const quote of quotes) {
      for (let skipLines = 0; skipLines <= skippedMax; skipLines += 1) {
        const scanner = new CsvScanner({
          delimiter,
          quote,
          skipLines,
          encoding: 'utf-8',
          header: null,
          hidesText: false,
          maskOf: () => null,
          nulls: [],
        })
        scanner.push(Buffer.from(lines))
        scanner.end()
        const rows = scanner.records + scanner.rejectedRows
        const share = rows === 0 ? 1 : scanner.records / rows
        if (scanner.header === null || scanner.stopped || share < consistentShare) continue
        // More columns first; then the usual quote, then fewer skipped lines.
        const score = 1000 * scanner.header.length - 10 * quotes.indexOf(quote) - skipLines
        if (best === null || score > best.score) {
          best = { score, share, found: { delimiter, quote, skipLines, firstLine: scanner.header } }
        }
      }
    }
  }
  if (best === null) throw new Error('no delimiter splits it into rows of the same number of values')
  const { found, share } = best
  const hasHeader = looksLikeHeader(found.firstLine)
  return {
    ...found,
    encoding,
    hasHeader,
    evidence: [
      evidence,
      `${JSON.stringify(found.delimiter)} gives ${found.firstLine.length} columns in ${(100 * share).toFixed(1)} % of the sample`,
      ...(found.skipLines > 0 ? [`${found.skipLines} lines stand before the header`] : []),
      ...(hasHeader
        ? []
        : ['the first line holds numbers, dates or nothing, so it is taken for a row: name the columns']),
    ],
  }
}

/** Of a number or a date. */
const dataPattern = /^-?[\d.,]+$|^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/

function looksLikeHeader(cells: readonly string[]): boolean {
  return (
    !cells.some((cell) => dataPattern.test(cell.trim())) &&
    cells.filter((cell) => cell !== '').length > cells.length / 2
  )
}
