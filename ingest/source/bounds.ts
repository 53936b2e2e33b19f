import { CR, LF, openingQuote, skipBlanks, type Marks } from './record.ts'
import { reasons } from './soundness.ts'

/**
 * Finds records by RFC 4180, byte by byte. Each record overwrites the results, so that millions need no
 * allocations.
 */
export class RecordBounds {
  /** Bytes of each value without quotes; the array's size limits how many are recorded. */
  lengths = new Int32Array()
  /** Number of values, without the last of an incomplete record. */
  valueCount = 0
  lineFeedsInValues = 0
  /** End of the record, without its line end. */
  end = 0
  next = 0
  /** Blanks or `=` are beside the quotes of a value. */
  hasLooseQuotes = false
  /** Bounds of records after a fault are unknown. */
  fault: string | null = null

  readonly #marks: Marks
  /** 1 for bytes that end a plain value, or are invalid in it. */
  readonly #special = new Uint8Array(256)
  /** Number of escaped quotes in the last quoted value. */
  #doubled = 0

  constructor(marks: Marks) {
    this.#marks = marks
    for (const byte of [marks.delimiter, marks.quote, LF, CR]) if (byte >= 0) this.#special[byte] = 1
  }

  /** Finds where the record at `start` ends. Returns false if it is faulty, or incomplete in these bytes. */
  find(data: Uint8Array, start: number): boolean {
    const { delimiter, quote } = this.#marks
    const specialBytes = this.#special
    const lengths = this.lengths
    const size = data.length
    let [offset, valueCount] = [start, 0]
    this.lineFeedsInValues = 0
    this.hasLooseQuotes = false
    for (;;) {
      let from = offset
      let length = 0
      while (offset < size && specialBytes[data[offset] as number] === 0) offset += 1
      if (offset < size && data[offset] === quote) {
        if (offset > from) {
          if (openingQuote(data, from, this.#marks) !== offset) return this.#failWith(reasons.quoteInside)
          this.hasLooseQuotes = true
        }
        from = offset + 1
        offset = this.#closingQuote(data, from)
        length = offset - from - this.#doubled
        offset += 1
        const end = skipBlanks(data, offset, this.#marks)
        if (end > offset) this.hasLooseQuotes = true
        offset = end
      } else length = offset - from
      if (offset >= size) {
        this.valueCount = valueCount
        return false
      }
      if (valueCount < lengths.length) lengths[valueCount] = length
      valueCount += 1
      const byteAfterValue = data[offset] as number
      offset += 1
      if (byteAfterValue === delimiter) continue
      this.end = offset - 1
      this.valueCount = valueCount
      if (byteAfterValue === CR) {
        if (offset >= size) return false
        if (data[offset] !== LF) return this.#failWith(reasons.loneReturn)
        offset += 1
      } else if (byteAfterValue !== LF) return this.#failWith(reasons.afterQuote)
      this.next = offset
      return true
    }
  }

  #closingQuote(data: Uint8Array, from: number): number {
    const { quote } = this.#marks
    this.#doubled = 0
    let offset = from
    for (; offset < data.length; offset += 1) {
      const byte = data[offset]
      if (byte === LF) this.lineFeedsInValues += 1
      else if (byte === quote) {
        if (data[offset + 1] !== quote) break
        this.#doubled += 1
        offset += 1
      }
    }
    return offset
  }

  #failWith(reason: string): false {
    this.fault = reason
    return false
  }
}
