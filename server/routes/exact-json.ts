import { randomUUID } from 'node:crypto'

/** A number that is written as it stands, with all of its digits. */
class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toJSON(): string {
    return `${mark}${this.digits}${mark}`
  }
}

/** What no text holds that was written before this process began. */
const mark = randomUUID()
const marked = new RegExp(`"${mark}([-+.\\deE]+)${mark}"`, 'g')

/** The number that a text writes; null where it writes none that JSON has, such as infinity. */
export function exactNumber(text: string): ExactNumber | null {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? new ExactNumber(text) : null
}

/** As `JSON.stringify`, where JavaScript's own numbers would lose digits. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(marked, '$1')
}
