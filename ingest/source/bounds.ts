import { CR, LF, openingQuote, skipBlanks, type Marks } from './record.ts'
import { reasons } from './soundness.ts'

/**
 * Finds the bounds of records by RFC 4180, byte by byte. Results are properties that the next record
 * overwrites, so that millions of records need no allocations. The loop is small, so it compiles well.
 */
export class RecordBounds {
  /** Length of each value in bytes, without its quotes; the size of the array limits how many values are recorded. */
  lengths = new Int32Array()
  /** Number of values of the record; of an incomplete record, those before the last. */
  values = 0
  breaks = 0
  /** End of the record, without its line end. */
  end = 0
  next = 0
  /** True if blanks or `=` are beside the quotes of a value. */
  hasLooseQuotes = false
  /** Fault after which bounds of records are unknown. */
  fault: string | null = null

  readonly #marks: Marks
  /** 1 for bytes that end a plain value, or are invalid in one. */
  readonly #special = new Uint8Array(256)
  /** Number of escaped quotes in the last quoted value. */
  #doubled = 0

  constructor(marks: Marks) {
    this.#marks = marks
    for (const byte of [marks.delimiter, marks.quote, LF, CR]) if (byte >= 0) this.#special[byte] = 1
  }

  /** Finds a record at `start`. Returns whether it ends in these bytes; if not, it has a fault, or is incomplete. */
  find(data: Uint8Array, start: number): boolean {
    const { delimiter, quote } = this.#marks
    const special = this.#special
    const lengths = this.lengths
    const size = data.length
    let [offset, values] = [start, 0]
    this.breaks = 0
    this.hasLooseQuotes = false
    for (;;) {
      let from = offset
      let doubled = 0
      let length = 0
      while (offset < size && special[data[offset] as number] === 0) offset += 1
      if (offset < size && data[offset] === quote) {
        if (offset > from) {
          if (openingQuote(data, from, this.#marks) !== offset) return this.#isFault(reasons.quoteInside)
          this.hasLooseQuotes = true
        }
        from = offset + 1
        offset = this.#closingQuote(data, from)
        doubled = this.#doubled
        length = offset - from - doubled
        offset += 1
        const end = skipBlanks(data, offset, this.#marks)
        if (end > offset) this.hasLooseQuotes = true
        offset = end
      } else length = offset - from
      if (offset >= size) {
        this.values = values
        return false
      }
      if (values < lengths.length) lengths[values] = length
      values += 1
      const stop = data[offset] as number
      offset += 1
      if (stop === delimiter) continue
      this.end = offset - 1
      this.values = values
      if (stop === CR) {
        if (offset >= size) return false
        if (data[offset] !== LF) return this.#isFault(reasons.loneReturn)
        offset += 1
      } else if (stop !== LF) return this.#isFault(reasons.afterQuote)
      this.next = offset
      return true
    }
  }

  /** Returns the position of the closing quote, or the end of the bytes. */
  #closingQuote(data: Uint8Array, from: number): number {
    const { quote } = this.#marks
    this.#doubled = 0
    let offset = from
    for (; offset < data.length; offset += 1) {
      const byte = data[offset]
      if (byte === LF) this.breaks += 1
      else if (byte === quote) {
        if (data[offset + 1] !== quote) break
        this.#doubled += 1
        offset += 1
      }
    }
    return offset
  }

  #isFault(reason: string): false {
    this.fault = reason
    return false
  }
}
