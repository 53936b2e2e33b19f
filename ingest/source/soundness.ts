import { counted } from '../../core/text.ts'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { invalidByteMark } from './decode.ts'
import type { Marks } from './record.ts'
import { firstBadByte } from './utf8.ts'

/** Room for a value of 16 MB. Longer rows come from a stray quote. */
export const recordBytesMax = 32 * 1024 * 1024
/** Wider tables need more memory than an ingest has. */
export const columnsMax = 5000

export const reasons = {
  loneReturn:
    'a carriage return without a line feed: end lines with LF or CRLF, quote the value, or declare line_terminator: cr if all lines end this way',
  unclosed: 'a quoted value is never closed: the file is cut off, or a quote is stray',
  quoteInside: 'a quote is inside a value that does not start with one',
  afterQuote: 'text follows the closing quote of a value',
  nul: 'a NUL byte: this is not a text file, or it is damaged',
  repeatedHeader: 'the line repeats the header: source.skip_repeated_headers: true leaves such lines out',
  otherHeader: 'the header differs from source.header_in_file, so columns may have moved',
  emptyExtraCells: 'the extra ones are empty, and source.drop_empty_extra_cells: true drops them',
  tooWide: `the header has more than ${columnsMax} columns: turn some into rows, or split the file`,
  tooLong: `the row is longer than ${recordBytesMax} bytes`,
}

const encodingRemedy =
  'declare the encoding of the source as source.encoding, or save the file as UTF-8 (CSV UTF-8 in Excel)'

/** In UTF-8. */
export const byteOrderMark = Buffer.from('\ufeff')

export const commonDelimiters = [',', ';', '\t', '|']

/** Explains a row with more or fewer values than the header, and how to keep it. */
export function misfitReason(
  record: Buffer,
  valueCount: number,
  columnCount: number,
  { delimiter, quote }: Marks,
): string {
  const counts = `the row has ${counted(valueCount, 'value')}, and the header ${columnCount}`
  const sign = JSON.stringify(String.fromCharCode(delimiter))
  if (valueCount > columnCount) {
    const trailingBytes = record.subarray(record.length - (valueCount - columnCount))
    if (trailingBytes.every((byte) => byte === delimiter)) return `${counts}: ${reasons.emptyExtraCells}`
    return quote === -1 ? counts : `${counts}: a value that contains ${sign} must be enclosed in quotes`
  }
  const likelyDelimiter = commonDelimiters.find(
    (candidate) =>
      candidate.charCodeAt(0) !== delimiter &&
      record.filter((byte) => byte === candidate.charCodeAt(0)).length === columnCount - 1,
  )
  return likelyDelimiter === undefined
    ? counts
    : `${counts}: its values are separated by ${JSON.stringify(likelyDelimiter)} instead of ${sign}`
}

/** Explains why a record is no valid text; null if it is. */
export function unsoundness(record: Buffer, encoding: Encoding): string | null {
  if (record.includes(0)) return reasons.nul
  const offset = firstBadByte(record)
  if (offset === -1) return null
  if (encoding === 'utf-8' || record[offset] !== invalidByteMark) {
    const byte = (record[offset] ?? 0).toString(16).padStart(2, '0')
    return `the byte 0x${byte} is not UTF-8: ${encodingRemedy}`
  }
  // An invalid byte became this mark and four hex digits.
  const hexDigits = record.toString('latin1', offset + 1, offset + 5)
  const remedy = 'declare the encoding that the file has now as source.encoding, such as utf-8'
  if (hexDigits === 'fffd') return `some bytes are not ${encoding}: ${remedy}`
  return encoding.startsWith('utf-16')
    ? `an unpaired surrogate (0x${hexDigits}) is not valid UTF-16: check source.encoding, or fetch the file again`
    : `the byte 0x${hexDigits.slice(2)} is not ${encoding}: ${remedy}`
}
