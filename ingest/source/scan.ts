import { isUtf8 } from 'node:buffer'
import type { Encoding } from '../../core/catalog/catalog.ts'
import type { MaskName } from '../../core/catalog/names.ts'
import { detailedRejectsMax, type Reject } from '../base/rejects.ts'
import { masks } from './mask.ts'
import { RecordBounds } from './bounds.ts'
import { ByteCollector } from './byte-collector.ts'
import { noSourceCounts, type SourceCounts } from './source-counts.ts'
import { isTotal } from './total-words.ts'
import { CR, encodeRecord, joinedHeader, LF, recordValues, type Marks } from './record.ts'
import { LineFilter, type Drop } from './line-filter.ts'
import { LineNotes, type LineNote } from './line-notes.ts'
import { byteOrderMark, columnsMax, misfitReason, reasons, recordBytesMax, unsoundness } from './soundness.ts'
import { completeLength } from './utf8.ts'

export interface ColumnFacts {
  readonly filled: number
  /** UTF-8 bytes without quotes. */
  readonly bytes: number
}

interface Hiding {
  readonly mask: MaskName
  readonly nulls: readonly string[]
  readonly trims: boolean
}

interface ScanOptions {
  readonly delimiter: string
  /** Null if values are never quoted. */
  readonly quote: string | null
  readonly skipLines: number
  readonly headerLines: number
  /** Columns from the catalog; null if the header line names them. */
  readonly header: readonly string[] | null
  /** Cells of the header line that `header` replaces; null if it replaces none. */
  readonly headerInFile: readonly string[] | null
  readonly comment: string | null
  readonly drop?: Drop
  /** Lines that repeat the header are rejected otherwise. */
  readonly skipRepeatedHeaders: boolean
  /** Drops columns at the end without a name and a value; their rows are rejected otherwise. */
  readonly dropEmptyExtraCells: boolean
  /** Text that begins the first line after the rows; null for none. */
  readonly stopAt: string | null
  readonly encoding: Encoding
  /** Rule for hiding the values of a column, or null. */
  readonly maskOf: (column: string) => Hiding | null
  readonly hidesRows: boolean
  /** Indexes, from 0, of records whose lines are wanted. */
  readonly locate?: Pick<ReadonlySet<number>, 'has'>
}

const rowShownMax = 500

const nothing = Buffer.alloc(0)

const afterEmptyRowsMax = 10

/**
 * Reads CSV strictly (RFC 4180), and passes records on in plain form: without header and blank lines, with a
 * line feed after each, and personal values masked. Its counts are independent of DuckDB's, with which an
 * ingest compares them. Ambiguous input is rejected instead of guessed: only the row if its bounds are
 * certain; after a structural fault, reading stops.
 */
export class CsvScanner {
  header: readonly string[] | null
  /** Null before the header is read, and if the catalog names the columns. */
  headerLine: number | null = null
  readonly #counts = { ...noSourceCounts, members: 1 }
  readonly #notes = new LineNotes()
  longest = 0
  hasFoundStopLine = false
  /** Start of the line that ended the rows. */
  footer = ''
  #isLeftOpen = false
  #lastRecord: { readonly line: number; readonly record: Buffer } = { line: 0, record: nothing }
  /** The last line of a truncated file is usually not terminated. */
  endsWithLineFeed = true
  #hasFault = false
  readonly rejects: Reject[] = []
  /** First row that begins with a byte order mark, as in concatenated files. */
  markLine: number | null = null
  /**
   * Rows that follow an empty row and have only filled values without digits: possible headers of a second
   * table.
   */
  readonly afterEmptyRows: { readonly line: number; readonly values: readonly string[] }[] = []
  #isAfterEmptyRow = false
  #filter: LineFilter
  /** Start lines of requested records. */
  readonly lines = new Map<number, number>()

  readonly #options: ScanOptions
  readonly #marks: Marks
  #skip: number
  #line = 1
  #rest: Buffer = nothing
  #filled = new Float64Array()
  #bytes = new Float64Array()
  readonly #bounds: RecordBounds
  /** Lines without a byte order mark; none if the catalog names the columns. */
  readonly #headerLines: { readonly bytes: Buffer; readonly cells: readonly string[] }[] = []
  #masks: readonly (Hiding | null)[] | null = null
  readonly #comment: Buffer | null
  readonly #stopAt: Buffer | null
  /** Chunks that wait until they are as long as `#rest`: otherwise each chunk would rescan a long record. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  readonly #hasMarks: boolean

  constructor(options: ScanOptions) {
    this.#options = options
    this.#marks = { delimiter: options.delimiter.charCodeAt(0), quote: options.quote?.charCodeAt(0) ?? -1 }
    this.#bounds = new RecordBounds(this.#marks)
    this.#filter = new LineFilter(this.#marks)
    this.#skip = options.skipLines
    this.#comment = options.comment === null ? null : Buffer.from(options.comment)
    this.#stopAt = options.stopAt === null ? null : Buffer.from(options.stopAt)
    this.#hasMarks = this.#comment !== null || this.#stopAt !== null
    this.header = null
    if (options.header !== null && options.headerInFile === null) this.#begin(options.header)
  }

  get hasFault(): boolean {
    return this.#hasFault
  }

  get counts(): SourceCounts {
    const textBytes = this.#bytes.reduce((sum, bytes) => sum + bytes, 0)
    return { ...this.#counts, textBytes, total: this.#line - 1 + this.#counts.last }
  }

  get records(): number {
    return this.#counts.records
  }

  /** First non-blank value of the last record, and their number; null without one, or if values are hidden. */
  get lastRow(): {
    readonly line: number
    readonly column: number
    readonly value: string
    readonly filled: number
  } | null {
    const { line, record } = this.#lastRecord
    const values = recordValues(record.subarray(0, 4 * rowShownMax), this.#marks)
    const column = values.findIndex((cell) => cell.trim() !== '')
    if (column === -1 || this.#options.hidesRows) return null
    const filled = values.filter((cell) => cell.trim() !== '').length
    return { line, column, value: values[column] ?? '', filled }
  }

  isLikeRow(line: string): boolean {
    const values = recordValues(Buffer.from(line), this.#marks).map((cell) => cell.trim())
    return (
      values.length === this.header?.length &&
      values.length > 1 &&
      values.every((cell) => cell !== '') &&
      !values.some(isTotal)
    )
  }

  get isEmpty(): boolean {
    return this.#line === 1 && this.records === 0 && this.#counts.rejectedRows === 0
  }

  get isShort(): boolean {
    return this.#skip > 0
  }

  get lineNotes(): readonly LineNote[] {
    return this.#notes.notes
  }

  get columns(): ColumnFacts[] {
    return [...this.#filled].map((filled, index) => ({ filled, bytes: this.#bytes[index] ?? 0 }))
  }

  /** Takes UTF-8, and returns completed records. */
  push(chunk: Buffer): Buffer {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    // A long record is scanned again from its start: waiting until it has doubled avoids quadratic time.
    if (this.#rest.length > longRecordBytes && this.#waitingBytes < this.#rest.length) return nothing
    return this.#scanWaiting()
  }

  #scanWaiting(): Buffer {
    const [chunk = nothing, ...furtherChunks] = this.#waiting
    const isOne = this.#rest.length === 0 && furtherChunks.length === 0
    const data = isOne ? chunk : Buffer.concat([this.#rest, chunk, ...furtherChunks])
    this.#rest = nothing
    this.#waiting = []
    this.#waitingBytes = 0
    return this.#scan(this.#skip === 0 ? data : this.#skipLines(data), false)
  }

  end(): Buffer {
    const records = this.#waiting.length === 0 ? nothing : this.#scanWaiting()
    if (this.#hasFault || this.#rest.length === 0 || this.#skip > 0) return records
    this.endsWithLineFeed = false
    if (this.#rest.at(-1) === CR) {
      const lines = this.#rest.filter((byte) => byte === LF).length
      this.#stop(this.#line + lines, reasons.loneReturn)
      return nothing
    }
    return Buffer.concat([records, this.#scan(Buffer.concat([this.#rest, Buffer.from('\n')]), true)])
  }

  #scan(data: Buffer, isLast: boolean): Buffer {
    if (this.hasFoundStopLine) this.#countFooter(data)
    if (this.#hasFault || this.hasFoundStopLine || data.length === 0) return nothing
    const isValidText =
      isUtf8(data.subarray(0, isLast ? data.length : completeLength(data))) && !data.includes(0)
    this.#notes.addMisread(this.#line, data)
    const collector = new ByteCollector(data)
    let start = 0
    let [lastRowStart, lastRowEnd, lastRowLine] = [0, 0, 0]
    while (start < data.length && !this.#isFaulty()) {
      // Only sources with comments or an end line pay for this check of every row.
      const next = this.#hasMarks ? this.#skipNonRow(data, start, isLast, collector) : start
      if (next === null || this.#isAtStopLine()) break
      if (next > start) {
        start = next
        continue
      }
      if (!this.#bounds.find(data, start)) break
      const nonRowsBefore = this.#counts.blank + this.#counts.dropped
      const line = this.#line
      this.#processRecord(data, start, isValidText, collector)
      if (this.#counts.blank + this.#counts.dropped === nonRowsBefore) {
        lastRowStart = start
        lastRowEnd = this.#bounds.end
        lastRowLine = line
      }
      start = this.#bounds.next
    }
    if (lastRowEnd > 0)
      this.#lastRecord = { line: lastRowLine, record: data.subarray(lastRowStart, lastRowEnd) }
    if (this.#isAtStopLine()) return collector.upTo(start)
    const { fault, lineFeedsInValues } = this.#bounds
    if (fault !== null) this.#stop(this.#line + lineFeedsInValues, fault)
    if (this.#isFaulty()) return nothing
    // An incomplete record waits for more bytes; its line feeds are counted again then.
    this.#rest = start < data.length ? data.subarray(start) : nothing
    if (isLast && this.#rest.length > 0) this.#stop(this.#line, reasons.unclosed)
    else if (this.#rest.length > recordBytesMax)
      this.#stop(this.#line, this.#tooLong(this.#bounds.valueCount))
    return collector.upTo(start)
  }

  /**
   * Skips a comment, or ends the rows at `stopAt`. Returns the start of the next line; null if more bytes are
   * needed.
   */
  #skipNonRow(data: Buffer, start: number, isLast: boolean, collector: ByteCollector): number | null {
    for (const mark of [this.#stopAt, this.#comment]) {
      if (mark === null) continue
      const bytes = data.subarray(start, start + mark.length)
      if (!mark.subarray(0, bytes.length).equals(bytes)) continue
      if (bytes.length < mark.length) return isLast ? start : null
      if (mark === this.#stopAt) {
        this.hasFoundStopLine = true
        this.footer = data.toString('utf8', start, start + 4 * rowShownMax).split(/\r?\n/, 1)[0] ?? ''
        this.#countFooter(data.subarray(start))
        return start
      }
      const feed = data.indexOf(LF, start)
      if (feed === -1) return null
      this.#notes.add(this.#line, 'comment')
      this.#line += 1
      this.#counts.comments += 1
      collector.omit(start, feed + 1)
      return feed + 1
    }
    return start
  }

  #processRecord(data: Buffer, start: number, areSound: boolean, collector: ByteCollector): void {
    const { end, next, valueCount, lineFeedsInValues, hasLooseQuotes } = this.#bounds
    const line = this.#line
    if (data[start] === byteOrderMark[0] && this.header !== null) this.#noteMark(line, data, start, end)
    if (this.#isAfterEmptyRow) this.#noteAfterEmptyRow(line, data.subarray(start, end))
    this.#line += lineFeedsInValues + 1
    // With one column, a blank line is a row with an empty value.
    const noRow = this.#filled.length > 1 ? this.#filter.kindOf(data, start, end) : null
    this.longest = Math.max(this.longest, end - start)
    if (end - start > recordBytesMax) {
      this.#stop(line, this.#tooLong(longestIn(recordValues(data.subarray(start, end), this.#marks))))
    } else if (noRow !== null || (end === start && this.header === null)) {
      if (end > start && noRow !== null) this.#notes.add(line, noRow)
      if (noRow === 'empty' || noRow === null) this.#counts.blank += lineFeedsInValues + 1
      else this.#counts.dropped += lineFeedsInValues + 1
      this.#isAfterEmptyRow = noRow === 'empty'
      collector.omit(start, next)
    } else if (this.header === null) {
      collector.omit(start, next)
      const reason = areSound ? null : unsoundness(data.subarray(start, end), this.#options.encoding)
      const cells = reason === null ? recordValues(data.subarray(start, end), this.#marks) : []
      this.#headerLines.push({ bytes: Buffer.from(data.subarray(start, end)), cells })
      const isLast = this.#headerLines.length === this.#options.headerLines
      const mergedCells = joinedHeader(this.#headerLines.map((headerLine) => headerLine.cells))
      const namedCount = mergedCells.findLastIndex((cell) => cell.trim() !== '') + 1
      const header = this.#options.dropEmptyExtraCells ? mergedCells.slice(0, namedCount) : mergedCells
      const fault =
        cells.length > columnsMax
          ? reasons.tooWide
          : reason === null && isLast
            ? this.#otherHeader(header)
            : null
      if (reason === null && fault === null) {
        this.#counts.header += lineFeedsInValues + 1
        this.headerLine ??= line
        if (isLast) this.#begin(this.#options.header ?? header)
      } else this.#stop(line, reason ?? fault ?? '')
    } else if (this.#repeatsHeader(data, start, end)) {
      collector.omit(start, next)
      if (this.#options.skipRepeatedHeaders) this.#counts.repeatedHeaders += lineFeedsInValues + 1
      else this.#rejectRow(line, reasons.repeatedHeader, data.subarray(start, end))
    } else if (areSound && this.#masks === null && valueCount === this.#filled.length && !hasLooseQuotes) {
      // Uses bounds only: a Buffer view for each of millions of rows would be slow.
      if (next - end > 1) collector.omit(end, next - 1)
      this.#count(line)
    } else {
      const extra = this.#options.dropEmptyExtraCells ? this.#emptyExtraCells(data, end) : 0
      const record = data.subarray(start, end - extra)
      const reason =
        (areSound ? null : unsoundness(record, this.#options.encoding)) ??
        this.#misfit(record, valueCount - extra)
      const masked = reason === null && this.#masks !== null ? this.#mask(record, this.#masks) : null
      if (reason !== null || masked?.reason !== undefined) {
        this.#rejectRow(line, reason ?? masked?.reason ?? '', record)
        collector.omit(start, next)
        return
      }
      if (hasLooseQuotes) this.#notes.add(line, 'quotes')
      if (masked !== null) collector.replace(start, next, masked.record)
      else if (hasLooseQuotes)
        collector.replace(start, next, encodeRecord(recordValues(record, this.#marks), this.#marks))
      else if (next - end + extra > 1) collector.omit(end - extra, next - 1)
      this.#count(line)
    }
  }

  #tooLong(column: number): string {
    const name = this.#options.hidesRows ? undefined : this.header?.[column]
    const place = `column ${column + 1}${name === undefined ? '' : ` (${JSON.stringify(name)})`}`
    return `${reasons.tooLong}: in ${place}, a quote is stray or the value is too long`
  }

  #otherHeader(values: readonly string[]): string | null {
    const { headerInFile, hidesRows } = this.#options
    if (headerInFile === null || JSON.stringify(values) === JSON.stringify(headerInFile)) return null
    return hidesRows
      ? reasons.otherHeader
      : `${reasons.otherHeader}: it is ${JSON.stringify(values)} instead of ${JSON.stringify(headerInFile)}`
  }

  /** An appended file may repeat the header after a byte order mark. */
  #repeatsHeader(data: Buffer, start: number, end: number): boolean {
    // In a file with one column, a value may equal the column's name.
    if (this.#filled.length < 2) return false
    return this.#headerLines.some(({ bytes }) => {
      const from = end - bytes.length
      const isMarked =
        from === start + byteOrderMark.length && byteOrderMark.equals(data.subarray(start, from))
      return (from === start || isMarked) && bytes.equals(data.subarray(from, end))
    })
  }

  #emptyExtraCells(data: Buffer, end: number): number {
    const extra = this.#bounds.valueCount - this.#filled.length
    if (extra <= 0) return 0
    const cells = data.subarray(end - extra, end)
    return cells.every((byte) => byte === this.#marks.delimiter) ? extra : 0
  }

  #countFooter(data: Buffer): void {
    if (data.length === 0) return
    if (this.#isLeftOpen) this.#counts.last -= 1
    let offset = 0
    for (let feed = data.indexOf(LF); feed !== -1; feed = data.indexOf(LF, offset)) {
      this.#counts.last += 1
      offset = feed + 1
    }
    this.#isLeftOpen = offset < data.length
    if (this.#isLeftOpen) this.#counts.last += 1
  }

  #skipLines(data: Buffer): Buffer {
    let offset = 0
    for (; this.#skip > 0; this.#skip -= 1) {
      const feed = data.indexOf(LF, offset)
      // The rest of a skipped line is not stored.
      if (feed === -1) return nothing
      offset = feed + 1
      this.#line += 1
      this.#counts.skipped += 1
    }
    return data.subarray(offset)
  }

  #begin(header: readonly string[]): void {
    this.header = header
    this.#filled = new Float64Array(header.length)
    this.#bytes = new Float64Array(header.length)
    this.#bounds.lengths = new Int32Array(header.length)
    const columns = header.map(this.#options.maskOf)
    this.#filter = new LineFilter(this.#marks, header, this.#options.drop)
    this.#masks = columns.some((mask) => mask !== null) ? columns : null
  }

  #count(line: number): void {
    const filledCounts = this.#filled
    const bytes = this.#bytes
    const { lengths } = this.#bounds
    for (let column = 0; column < lengths.length; column += 1) {
      const length = lengths[column] as number
      if (length > 0) {
        filledCounts[column] = (filledCounts[column] as number) + 1
        bytes[column] = (bytes[column] as number) + length
      }
    }
    if (this.#options.locate?.has(this.records) === true) this.lines.set(this.records, line)
    this.#counts.breaks += this.#bounds.lineFeedsInValues
    this.#counts.records += 1
  }

  #noteMark(line: number, data: Buffer, start: number, end: number): void {
    if (!data.subarray(start, end).subarray(0, byteOrderMark.length).equals(byteOrderMark)) return
    if (!this.#repeatsHeader(data, start, end)) this.markLine ??= line
  }

  #noteAfterEmptyRow(line: number, record: Buffer): void {
    this.#isAfterEmptyRow = false
    if (this.afterEmptyRows.length >= afterEmptyRowsMax || this.#options.hidesRows) return
    const values = recordValues(record, this.#marks)
    const isFilled =
      values.length === this.#filled.length && values.every((text) => text.trim() !== '' && !/\d/.test(text))
    if (isFilled) this.afterEmptyRows.push({ line, values })
  }

  #misfit(record: Buffer, values: number): string | null {
    const columns = this.#filled.length
    return values === columns ? null : misfitReason(record, values, columns, this.#marks)
  }

  /** Hides personal parts of values; a `reason` rejects the row. */
  #mask(record: Buffer, columns: readonly (Hiding | null)[]): { record: Buffer; reason?: string } {
    const values = recordValues(record, this.#marks)
    for (const [column, hiding] of columns.entries()) {
      if (hiding === null) continue
      const rawText = values[column] ?? ''
      const text = hiding.trims ? rawText.trim() : rawText
      if (text === '' || hiding.nulls.includes(text)) continue
      const hidden = masks[hiding.mask].hide(text)
      if (hidden === null) {
        return {
          record,
          reason: `the value of "${this.header?.[column] ?? ''}" is not ${masks[hiding.mask].expects}`,
        }
      }
      values[column] = hidden
    }
    for (const [column, text] of values.entries()) this.#bounds.lengths[column] = Buffer.byteLength(text)
    return { record: encodeRecord(values, this.#marks) }
  }

  #rejectRow(line: number, reason: string, record: Buffer): void {
    this.#counts.rejectedRows += 1
    this.#counts.rejected += this.#bounds.lineFeedsInValues + 1
    if (this.rejects.length >= detailedRejectsMax) return
    // Hidden values are not shown here either.
    const text = this.#options.hidesRows
      ? null
      : record.toString('utf8', 0, 4 * rowShownMax).slice(0, rowShownMax)
    this.rejects.push({ line, field: null, text, reason })
  }

  /** Without a method, TypeScript would take the field for unchanged. */
  #isAtStopLine(): boolean {
    return this.hasFoundStopLine
  }

  #isFaulty(): boolean {
    return this.#hasFault
  }

  #stop(line: number, reason: string): void {
    this.#hasFault = true
    // This fault is reported even if the list of rejects is full.
    if (this.rejects.length >= detailedRejectsMax) this.rejects.pop()
    this.rejects.push({ line, field: null, text: null, reason })
  }
}

const longRecordBytes = 1024 * 1024

function longestIn(values: readonly string[]): number {
  const lengths = values.map(({ length }) => length)
  return lengths.indexOf(Math.max(...lengths))
}
