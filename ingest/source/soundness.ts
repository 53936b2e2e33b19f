import type { Encoding } from '../../core/catalog/catalog.ts'
import { badMark } from './decode.ts'
import { firstBadByte } from './utf8.ts'

/** In bytes; longer rows come from a stray quote. DuckDB is told to read lines of up to twice this. */
export const recordBytesMax = 8 * 1024 * 1024

/** Why a source, or a row of it, cannot be read. */
export const reasons = {
  loneReturn:
    'a carriage return without a line feed: lines must end in LF or CRLF, or the value be quoted; line_terminator: cr is for lines that all end so',
  unclosed: 'a quoted value is never closed: the file is cut off, or a quote is stray',
  quoteInside: 'a quote stands inside a value that does not start with one',
  afterQuote: 'text follows the closing quote of a value',
  nul: 'a NUL byte: this is not a text file, or it is damaged',
  tooLong: `the row is longer than ${recordBytesMax} bytes: a quote is stray`,
}

/** Why a record is no text in the encoding of its source; null where it is. */
export function unsoundness(record: Buffer, encoding: Encoding): string | null {
  if (record.includes(0)) return reasons.nul
  const at = firstBadByte(record)
  if (at === -1) return null
  if (encoding === 'utf-8' || record[at] !== badMark) {
    const byte = (record[at] ?? 0).toString(16).padStart(2, '0')
    return `the byte 0x${byte} is not UTF-8: declare the encoding of the source as source.encoding`
  }
  const digits = record.toString('latin1', at + 1, at + 5)
  return encoding.startsWith('utf-16')
    ? `half of a character (0x${digits}) is not UTF-16`
    : `the byte 0x${digits.slice(2)} is not ${encoding}: declare the encoding of the source as source.encoding`
}
