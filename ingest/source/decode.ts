import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import type { Encoding, SourceForm } from '../../core/catalog/catalog.ts'
import { byteEncodings } from '../../core/catalog/names.ts'
import { TableFailure } from '../base/rejects.ts'
import { CR, LF } from './record.ts'
import { completeLength } from './utf8.ts'

/**
 * Converts an encoding into UTF-8 without a byte order mark. Invalid bytes stay invalid, so that the scanner
 * can reject their row.
 */
interface Decoder {
  readonly write: (chunk: Buffer) => Buffer
  readonly end: () => Buffer
}

/** Never occurs in UTF-8. Replaces an invalid code unit, whose value follows as four hexadecimal digits. */
export const invalidByteMark = 0xff

export function decodedText(bytes: Buffer, encoding: Encoding): string {
  return iconv.decode(bytes, encoding)
}

/** @param name of the file, for messages */
export function decoderOf(
  encoding: Encoding,
  name: string,
  lineTerminator: SourceForm['lineTerminator'] = 'lf',
): Decoder {
  const decoder = plainDecoder(encoding, name)
  return lineTerminator === 'lf' ? decoder : withLineFeeds(decoder, name)
}

function plainDecoder(encoding: Encoding, name: string): Decoder {
  if (encoding === 'utf-8') return withoutMark({ write: (chunk) => chunk, end: () => nothing }, '\uFEFF')
  if (encoding.startsWith('utf-16')) return utf16(encoding, name)
  return isByteEncoding(encoding) ? singleByteDecoder(encoding, name) : multiByteDecoder(encoding, name)
}

function isByteEncoding(encoding: Encoding): encoding is ByteEncoding {
  return (byteEncodings as readonly string[]).includes(encoding)
}

const nothing = Buffer.alloc(0)
// ISO 8859-1 has control characters in this range; files that use these bytes are Windows-1252.
const controlCharacters = /[\u0080-\u009F]/g
const replacementCharacters = /\uFFFD/g
const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/**
 * Encodes UTF-8, with `invalidByteMark` for invalid characters.
 * @param unitAt returns the code unit of the source at an index
 */
function bytesOf(text: string, invalid: RegExp, unitAt: (index: number) => number): Buffer {
  if (text.search(invalid) === -1) return Buffer.from(text)
  const pieces: Buffer[] = []
  let from = 0
  for (const { index } of text.matchAll(invalid)) {
    const digits = unitAt(index).toString(16).padStart(4, '0')
    pieces.push(Buffer.from(text.slice(from, index)), Buffer.from([invalidByteMark]), Buffer.from(digits))
    from = index + 1
  }
  return Buffer.concat([...pieces, Buffer.from(text.slice(from))])
}

type ByteEncoding = (typeof byteEncodings)[number]

function singleByteDecoder(encoding: ByteEncoding, name: string): Decoder {
  const disguise = new DisguisedUtf8(encoding, name)
  const invalid = encoding === 'latin-1' ? controlCharacters : replacementCharacters
  return {
    write: (chunk) => {
      disguise.inspect(chunk)
      // One byte is one character, so positions in text and bytes are equal.
      return bytesOf(decodedText(chunk, encoding), invalid, (index) => chunk[index] ?? 0)
    },
    end: () => {
      disguise.end()
      return nothing
    },
  }
}

/** Invalid bytes become U+FFFD here, which `unsoundness` reports. */
function multiByteDecoder(encoding: Encoding, name: string): Decoder {
  const disguise = new DisguisedUtf8(encoding, name)
  const decoder = iconv.getDecoder(encoding)
  return {
    write: (chunk) => {
      disguise.inspect(chunk)
      return withMarks(decoder.write(chunk))
    },
    end: () => {
      disguise.end()
      return withMarks(decoder.end() ?? '')
    },
  }
}

const withMarks = (text: string): Buffer =>
  bytesOf(text, replacementCharacters, (index) => text.charCodeAt(index))

/** Detects UTF-8 read as another encoding (`SÃ£o`), which gives no error. */
class DisguisedUtf8 {
  readonly #encoding: Encoding
  readonly #name: string
  #waiting: Buffer = nothing
  #isUtf8 = true
  #hasMore = false

  constructor(encoding: Encoding, name: string) {
    this.#encoding = encoding
    this.#name = name
  }

  inspect(chunk: Buffer): void {
    if (!this.#isUtf8) return
    const bytes = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk])
    const completeBytes = completeLength(bytes)
    this.#waiting = Buffer.from(bytes.subarray(completeBytes))
    const characters = bytes.subarray(0, completeBytes)
    this.#isUtf8 = isUtf8(characters)
    this.#hasMore ||= !isAscii(characters)
  }

  end(): void {
    if (!this.#isUtf8 || !this.#hasMore || this.#waiting.length > 0) return
    throw new TableFailure(
      `${this.#name} is UTF-8, but its table is read as ${this.#encoding}: declare utf-8 as source.encoding, and save files of the table that are still ${this.#encoding} as UTF-8`,
    )
  }
}

function utf16(encoding: Encoding, name: string): Decoder {
  let decoder = encoding === 'utf-16' ? null : iconv.getDecoder(encoding, { stripBOM: false })
  let [undecodedStart, byteCount] = [nothing, 0]
  // A surrogate pair may be split between chunks.
  let highSurrogate = ''
  const asBytes = (text: string): Buffer => {
    const fullText = highSurrogate + text
    highSurrogate = /[\uD800-\uDBFF]$/.test(fullText) ? fullText.slice(-1) : ''
    const complete = highSurrogate === '' ? fullText : fullText.slice(0, -1)
    return bytesOf(complete, loneSurrogate, (index) => complete.charCodeAt(index))
  }
  return withoutMark(
    {
      write: (chunk) => {
        byteCount += chunk.length
        if (decoder !== null) return asBytes(decoder.write(chunk))
        undecodedStart = Buffer.concat([undecodedStart, chunk])
        if (undecodedStart.length < 2) return nothing
        const [first, second] = [undecodedStart[0], undecodedStart[1]]
        if (!(first === 0xff && second === 0xfe) && !(first === 0xfe && second === 0xff)) {
          throw new TableFailure(
            `${name} has no UTF-16 byte order mark: declare utf-16le or utf-16be as source.encoding`,
          )
        }
        decoder = iconv.getDecoder(first === 0xff ? 'utf-16le' : 'utf-16be', { stripBOM: false })
        return asBytes(decoder.write(undecodedStart))
      },
      end: () => {
        if (byteCount % 2 !== 0)
          throw new TableFailure(`${name} ends within a UTF-16 character, so it is cut off: fetch it again`)
        const decodedEnd = highSurrogate + (decoder?.end() ?? '')
        return bytesOf(decodedEnd, loneSurrogate, (index) => decodedEnd.charCodeAt(index))
      },
    },
    '\uFEFF',
  )
}

function withLineFeeds({ write, end }: Decoder, name: string): Decoder {
  const fed = (bytes: Buffer): Buffer => {
    if (bytes.includes(LF))
      throw new TableFailure(
        `${name} has line feeds: remove line_terminator: cr, which is only for files whose lines end in carriage returns alone`,
      )
    const copy = Buffer.from(bytes)
    for (let offset = copy.indexOf(CR); offset !== -1; offset = copy.indexOf(CR, offset + 1))
      copy[offset] = LF
    return copy
  }
  return { write: (chunk) => fed(write(chunk)), end: () => fed(end()) }
}

function withoutMark({ write, end }: Decoder, mark: string): Decoder {
  const markBytes = Buffer.from(mark)
  let heldStart: Buffer | null = nothing
  const releaseStart = (isLast: boolean): Buffer => {
    if (heldStart === null || (!isLast && heldStart.length < markBytes.length)) return nothing
    const bytes = heldStart
    heldStart = null
    return bytes.subarray(0, markBytes.length).equals(markBytes) ? bytes.subarray(markBytes.length) : bytes
  }
  return {
    write: (chunk) => {
      const bytes = write(chunk)
      if (heldStart === null) return bytes
      heldStart = heldStart.length === 0 ? bytes : Buffer.concat([heldStart, bytes])
      return releaseStart(false)
    },
    end: () => {
      const tail = end()
      return heldStart === null ? tail : Buffer.concat([releaseStart(true), tail])
    },
  }
}
