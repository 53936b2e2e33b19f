import type { NoRowKind } from './line-filter.ts'
import { LF } from './record.ts'

/** A line that an author should know of. */
export interface LineNote {
  readonly line: number
  /** `quotes`: blanks or `=` beside quotes; `misread`: texts such as `Ã£`, UTF-8 read in another encoding. */
  readonly kind: NoRowKind | 'comment' | 'quotes' | 'misread'
}

/** `Ã£` and `â€œ` in UTF-8. */
const misreadStarts = [Buffer.from([0xc3, 0x83, 0xc2]), Buffer.from([0xc3, 0xa2, 0xe2, 0x82, 0xac])]
const noBreakSpace = 0xa0
const notesMax = 11

/** Lines that an author should know of, the first few of each kind. */
export class LineNotes {
  readonly notes: LineNote[] = []
  readonly #counts = new Map<LineNote['kind'], number>()

  add(line: number, kind: LineNote['kind']): void {
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    if (count <= notesMax) this.notes.push({ line, kind })
  }

  /**
   * Adds the first text that was probably read in a wrong encoding.
   * @param line first line of `data`
   */
  addMisread(line: number, data: Buffer): void {
    if (this.#counts.has('misread')) return
    for (const start of misreadStarts) {
      let offset = data.indexOf(start)
      // `Ã` before a non-breaking space is a common end of a word.
      while (offset !== -1 && data[offset + start.length] === noBreakSpace)
        offset = data.indexOf(start, offset + 1)
      if (offset === -1) continue
      this.add(line + data.subarray(0, offset).filter((byte) => byte === LF).length, 'misread')
      return
    }
  }
}
