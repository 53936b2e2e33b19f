import { rejectsKeptMax, type Reject } from './rejects.ts'
import { firstBadByte, wholeCharacters } from './utf8.ts'

/** What was counted in one column, over all records but the header. */
export interface ColumnFacts {
  /** Values that are not empty. */
  filled: number
  /** UTF-8 bytes of the values, without their quotes. */
  bytes: number
}

export interface ScanOptions {
  /** One ASCII character. */
  readonly delimiter: string
  /** Records (from 0, the header not counted) whose line numbers are wanted. */
  readonly locate?: ReadonlySet<number>
}

/** Longer rows come from a stray quote; DuckDB is told to read lines of up to twice this. */
export const recordBytesMax = 8 * 1024 * 1024

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22] as const
const byteOrderMark = Buffer.from('\uFEFF')

/** Where the next byte stands: before a value, in one, in a quoted one, after a quote in it, after a CR. */
const [BEFORE, PLAIN, QUOTED, AFTER_QUOTE, AFTER_CR] = [0, 1, 2, 3, 4] as const
type State = 0 | 1 | 2 | 3 | 4

const reasons = {
  loneReturn: 'a carriage return without a line feed: lines must end in LF or CRLF, or the value be quoted',
  unclosed: 'a quoted value is never closed: the file is cut off, or a quote is stray',
  quoteInside: 'a quote stands inside a value that does not start with one',
  afterQuote: 'text follows the closing quote of a value',
  nul: 'a NUL byte: this is not a text file, or it is damaged',
  tooLong: `the row is longer than ${recordBytesMax} bytes: a quote is stray`,
}

/**
 * Reads CSV bytes strictly (RFC 4180, UTF-8) and hands on the same records in one plain form: no byte order
 * mark, no blank lines, every record ended by a line feed.
 *
 * It is the independent witness of an ingest: it counts records, values and bytes without DuckDB, and
 * whatever could only be read by guessing is a reject. After a fault of structure nothing more is read.
 */
export class CsvScanner {
  header: readonly string[] | null = null
  columns: ColumnFacts[] = []
  records = 0
  blankLines = 0
  readonly rejects: Reject[] = []
  rejectCount = 0
  /** Record -> line on which it starts, for those asked for. */
  readonly lines = new Map<number, number>()

  readonly #delimiter: number
  readonly #locate: ReadonlySet<number> | undefined
  #stopped = false
  #started = false
  /** Bytes that wait for the rest of their character. */
  #waiting: Buffer = Buffer.alloc(0)
  #state: State = BEFORE
  #line = 1
  #recordLine = 1
  #recordBytes = 0
  #field = 0
  #valueBytes = 0
  #quoted = false
  #headerBytes: number[] = []
  #headerNames: string[] = []

  constructor({ delimiter, locate }: ScanOptions) {
    this.#delimiter = delimiter.charCodeAt(0)
    this.#locate = locate
  }

  /** The next bytes of the source -> the bytes to hand on. */
  push(input: Buffer): Buffer {
    let chunk = this.#waiting.length === 0 ? input : Buffer.concat([this.#waiting, input])
    if (!this.#started && chunk.length >= byteOrderMark.length) {
      this.#started = true
      if (chunk.subarray(0, byteOrderMark.length).equals(byteOrderMark))
        chunk = chunk.subarray(byteOrderMark.length)
    }
    const whole = this.#started ? wholeCharacters(chunk) : 0
    this.#waiting = chunk.subarray(whole)
    return this.#read(chunk.subarray(0, whole))
  }

  /** No more bytes -> the last bytes to hand on. */
  end(): Buffer {
    const rest = this.#read(this.#waiting)
    if (this.#state === QUOTED) this.#stop(this.#recordLine, reasons.unclosed)
    if (this.#state === AFTER_CR) this.#stop(this.#line, reasons.loneReturn)
    if (this.#stopped || (this.#state === BEFORE && this.#field === 0)) return rest
    this.#endRecord()
    return Buffer.concat([rest, Buffer.from('\n')])
  }

  #read(chunk: Buffer): Buffer {
    if (this.#stopped || !this.#isText(chunk)) return Buffer.alloc(0)
    const kept: Buffer[] = []
    let from = 0
    const keepUntil = (at: number): void => {
      kept.push(chunk.subarray(from, at))
      from = at + 1
    }
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#isStopped()) break
      const byte = chunk[at] as number
      switch (this.#state) {
        case BEFORE:
        case PLAIN:
          if (byte === this.#delimiter) this.#endField()
          else if (byte === LF) {
            if (this.#endLine()) keepUntil(at)
          } else if (byte === CR) {
            keepUntil(at)
            this.#state = AFTER_CR
          } else if (byte !== QUOTE) {
            this.#state = PLAIN
            this.#take(byte)
          } else if (this.#state === BEFORE) {
            this.#state = QUOTED
            this.#quoted = true
          } else this.#stop(this.#line, reasons.quoteInside)
          break
        case QUOTED:
          if (byte === QUOTE) this.#state = AFTER_QUOTE
          else {
            if (byte === LF) this.#line += 1
            this.#take(byte)
          }
          break
        case AFTER_QUOTE:
          if (byte === QUOTE) {
            this.#state = QUOTED
            this.#take(byte)
          } else if (byte === this.#delimiter) this.#endField()
          else if (byte === LF) this.#endLine()
          else if (byte === CR) {
            keepUntil(at)
            this.#state = AFTER_CR
          } else this.#stop(this.#line, reasons.afterQuote)
          break
        case AFTER_CR:
          if (byte !== LF) this.#stop(this.#line, reasons.loneReturn)
          else if (this.#endLine()) keepUntil(at)
          break
      }
    }
    keepUntil(chunk.length)
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept)
  }

  #take(byte: number): void {
    this.#valueBytes += 1
    this.#recordBytes += 1
    if (this.header === null) this.#headerBytes.push(byte)
    if (this.#recordBytes > recordBytesMax) this.#stop(this.#recordLine, reasons.tooLong)
  }

  #endField(): void {
    if (this.header === null) {
      this.#headerNames.push(Buffer.from(this.#headerBytes).toString('utf8'))
      this.#headerBytes = []
    } else if (this.#valueBytes > 0) {
      const column = this.columns[this.#field]
      if (column !== undefined) {
        column.filled += 1
        column.bytes += this.#valueBytes
      }
    }
    this.#field += 1
    this.#valueBytes = 0
    this.#quoted = false
    this.#state = BEFORE
  }

  /** Returns whether the line was blank, and so is not handed on. */
  #endLine(): boolean {
    this.#line += 1
    const blank = this.#field === 0 && this.#valueBytes === 0 && !this.#quoted
    // In a file of one column a blank line is a row whose value is empty.
    if (blank && this.columns.length !== 1) {
      this.blankLines += 1
      this.#recordLine = this.#line
      this.#state = BEFORE
      return true
    }
    this.#endRecord()
    return false
  }

  #endRecord(): void {
    this.#endField()
    if (this.header === null) {
      this.header = this.#headerNames
      this.columns = this.#headerNames.map(() => ({ filled: 0, bytes: 0 }))
    } else {
      if (this.#field !== this.columns.length) {
        this.#reject(
          this.#recordLine,
          `the row has ${this.#field} values, and the header ${this.columns.length}`,
        )
      }
      if (this.#locate?.has(this.records) === true) this.lines.set(this.records, this.#recordLine)
      this.records += 1
    }
    this.#field = 0
    this.#recordBytes = 0
    this.#recordLine = this.#line
  }

  #isText(chunk: Buffer): boolean {
    const nul = chunk.indexOf(0)
    if (nul !== -1) this.#stop(this.#line + lineFeeds(chunk.subarray(0, nul)), reasons.nul)
    const bad = firstBadByte(chunk)
    if (bad !== -1) {
      const byte = (chunk[bad] as number).toString(16).padStart(2, '0')
      const line = this.#line + lineFeeds(chunk.subarray(0, bad))
      this.#stop(line, `the byte 0x${byte} is not UTF-8: convert the source to UTF-8`)
    }
    return nul === -1 && bad === -1
  }

  #isStopped(): boolean {
    return this.#stopped
  }

  #stop(line: number, reason: string): void {
    if (!this.#stopped) this.#reject(line, reason)
    this.#stopped = true
  }

  #reject(line: number, reason: string): void {
    this.rejectCount += 1
    if (this.rejects.length < rejectsKeptMax) this.rejects.push({ line, field: null, text: null, reason })
  }
}

function lineFeeds(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) count += 1
  return count
}
