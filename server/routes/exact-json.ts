/** A number that is written as it stands, with all of its digits. */
export class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toJSON(): string {
    return `${mark}${this.digits}${mark}`
  }
}

/** A character that no text of a catalog holds, and that JSON writes as an escape. */
const mark = '\u0001'

/** The number that a text writes; null where it writes none that JSON has, such as infinity. */
export function exactNumber(text: string): ExactNumber | null {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? new ExactNumber(text) : null
}

/** As `JSON.stringify`, where JavaScript's own numbers would lose digits. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"\\u0001([-+.\deE]+)\\u0001"/g, '$1')
}
