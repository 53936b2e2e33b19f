import { randomUUID } from 'node:crypto'
import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { parsedJson } from '../../core/text.ts'

/** JSON with all digits of numbers, which `JSON.stringify` would round. */

/** Converts a rendered text into a value for `exactJson`. */
export function exactValue({ type }: Field, rendered: string): unknown {
  const { kind, text } = typeRow(type).wire
  if (kind === 'json') return parsedJson(text(rendered)) ?? null
  if (kind === 'number') return exactNumber(text(rendered))
  return kind === 'truth' ? text(rendered) === 'true' : text(rendered)
}

class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toJSON(): string {
    return `${mark}${this.digits}${mark}`
  }
}

/** Surrounds digits; random, so that no other text contains it. */
const mark = randomUUID()
const markedNumbers = new RegExp(`"${mark}([-+.\\deE]+)${mark}"`, 'g')

/** Null if JSON has no such number, as for infinity. */
function exactNumber(text: string): ExactNumber | null {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? new ExactNumber(text) : null
}

/** Keeps all digits of large numbers, unlike `JSON.stringify`. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(markedNumbers, '$1')
}
