import { TableFailure } from '../base/rejects.ts'
import { CR, LF } from './record.ts'
import { recordBytesMax } from './soundness.ts'

const [space, tab] = [0x20, 0x09]

const lineLengthMax = 500

/** Withholds the last lines of a text (`source.skip_last`), such as totals. Blank lines do not count. */
export class LastLines {
  readonly #count: number
  readonly #file: string
  #tail: Buffer = Buffer.alloc(0)

  constructor(count: number, file: string) {
    this.#count = count
    this.#file = file
  }

  /** Takes bytes in UTF-8, and returns the ones before the last lines. */
  push(chunk: Buffer): Buffer {
    if (this.#count === 0) return chunk
    const data = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    const cut = startOfLast(data, this.#count)
    this.#tail = data.subarray(cut)
    if (this.#tail.length > recordBytesMax) {
      throw new TableFailure(
        `the last ${this.#count} lines of ${this.#file} have more than ${recordBytesMax} bytes together: check source.skip_last and the line endings`,
      )
    }
    return data.subarray(0, cut)
  }

  get count(): number {
    const feeds = this.#tail.filter((byte) => byte === LF).length
    return this.#tail.length === 0 || this.#tail.at(-1) === LF ? feeds : feeds + 1
  }

  /** Withheld lines, each shortened for the report. */
  get lines(): string[] {
    const lines = this.#tail.toString('utf8').split(/\r?\n/)
    return lines.filter((line) => line.trim() !== '').map((line) => line.slice(0, lineLengthMax))
  }
}

function startOfLast(data: Buffer, count: number): number {
  let lineCount = 0
  for (let end = data.length; end > 0;) {
    const start = data.lastIndexOf(LF, end - 1) + 1
    // The empty text after a final line feed is no line.
    if (start < end && !isBlank(data, start, end)) lineCount += 1
    if (lineCount === count) return start
    end = start - 1
  }
  return 0
}

function isBlank(data: Buffer, start: number, end: number): boolean {
  for (let offset = start; offset < end; offset += 1) {
    const byte = data[offset]
    if (byte !== CR && byte !== space && byte !== tab) return false
  }
  return true
}
