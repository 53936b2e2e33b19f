import { escapedPattern } from '../../core/text.ts'
import { recordValues, type Marks } from './record.ts'

/** A record that is no row: empty cells, a rule such as `---,---`, or a match of `source.drop`. */
export type NoRowKind = 'empty' | 'rule' | 'dropped'

const rulePattern = /^:?([-=_~*+])\1+:?$|^[-+]{3,}$/
const dosEnd = '\u001a'

/** Texts of rows to leave out, by column; a final `*` matches any rest. */
export type Drop = ReadonlyMap<string, readonly string[]>

export class LineFilter {
  readonly #marks: Marks
  /**
   * 1 for bytes of empty rows and rules: nearly all rows begin with another byte, so the check costs little.
   */
  readonly #rareFirstBytes = new Uint8Array(256)

  readonly #dropped: readonly (readonly [column: number, pattern: RegExp])[]

  constructor(marks: Marks, header: readonly string[] = [], drop: Drop = new Map()) {
    this.#marks = marks
    this.#dropped = header.flatMap((name, column) =>
      (drop.get(name) ?? []).map((text) => [column, patternOf(text)] as const),
    )
    const bytes = [...Buffer.from(` \t-=_~*+:${dosEnd}`), marks.delimiter, marks.quote]
    for (const byte of bytes) if (byte >= 0) this.#rareFirstBytes[byte] = 1
  }

  kindOf(data: Buffer, start: number, end: number): NoRowKind | null {
    const mayBeNoRow = this.#mayBeNoRow(data, start, end)
    if (!mayBeNoRow && this.#dropped.length === 0) return null
    const values = recordValues(data.subarray(start, end), this.#marks).map((value) => value.trim())
    if (this.#dropped.some(([column, pattern]) => pattern.test(values[column] ?? ''))) return 'dropped'
    if (!mayBeNoRow) return null
    if (values.every((value) => value === '')) return 'empty'
    return values.every((value) => value === '' || value === dosEnd || rulePattern.test(value))
      ? 'rule'
      : null
  }

  #mayBeNoRow(data: Buffer, start: number, end: number): boolean {
    for (let offset = start; offset < end; offset += 1)
      if (this.#rareFirstBytes[data[offset] as number] === 0) return false
    return true
  }
}

function patternOf(text: string): RegExp {
  return new RegExp(`^${escapedPattern(text.trim().replace(/\*$/, ''))}${text.endsWith('*') ? '' : '$'}`, 's')
}
