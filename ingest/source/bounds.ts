import { CR, LF, type Marks } from './record.ts'
import { reasons } from './soundness.ts'

/**
 * Finds the bounds of one record after the other by RFC 4180, byte by byte. What it learns of a record lies in its own
 * fields until the next, so that nothing is made for millions of them; a loop as small as this is compiled well.
 */
export class RecordBounds {
  /** Bytes of the values, without their quotes, of as many as there is room for. */
  lengths = new Int32Array()
  /** Number of values of the record; of one that does not end in the bytes, those before the last. */
  values = 0
  /** Line feeds in values. */
  breaks = 0
  /** Where the record ends, without its line end. */
  end = 0
  /** Where the next one starts. */
  next = 0
  /** Why the bounds of this record and of all after it cannot be known. */
  fault: string | null = null

  readonly #marks: Marks
  /** 1 for the bytes that end a plain value, or may not be in one. */
  readonly #special = new Uint8Array(256)
  /** Quotes that stand for one in a value. */
  #doubled = 0

  constructor(marks: Marks) {
    this.#marks = marks
    for (const byte of [marks.delimiter, marks.quote, LF, CR]) if (byte >= 0) this.#special[byte] = 1
  }

  /** Whether a record starts at `start` and ends in these bytes; if not, it is at fault, or more of it is to come. */
  find(data: Uint8Array, start: number): boolean {
    const { delimiter, quote } = this.#marks
    const special = this.#special
    const lengths = this.lengths
    const size = data.length
    let [at, values] = [start, 0]
    this.breaks = 0
    for (;;) {
      let from = at
      let doubled = 0
      let length = 0
      if (at < size && data[at] === quote) {
        from += 1
        at = this.#closingQuote(data, from)
        doubled = this.#doubled
        length = at - from - doubled
        at += 1
      } else {
        while (at < size && special[data[at] as number] === 0) at += 1
        length = at - from
        if (at < size && data[at] === quote) return this.#isFault(reasons.quoteInside)
      }
      if (at >= size) {
        this.values = values
        return false
      }
      if (values < lengths.length) lengths[values] = length
      values += 1
      const stop = data[at] as number
      at += 1
      if (stop === delimiter) continue
      this.end = at - 1
      this.values = values
      if (stop === CR) {
        if (at >= size) return false
        if (data[at] !== LF) return this.#isFault(reasons.loneReturn)
        at += 1
      } else if (stop !== LF) return this.#isFault(reasons.afterQuote)
      this.next = at
      return true
    }
  }

  /** Where the value that starts after a quote is closed, or the end of the bytes. */
  #closingQuote(data: Uint8Array, from: number): number {
    const { quote } = this.#marks
    this.#doubled = 0
    let at = from
    for (; at < data.length; at += 1) {
      const byte = data[at]
      if (byte === LF) this.breaks += 1
      else if (byte === quote) {
        if (data[at + 1] !== quote) break
        this.#doubled += 1
        at += 1
      }
    }
    return at
  }

  #isFault(reason: string): false {
    this.fault = reason
    return false
  }
}
