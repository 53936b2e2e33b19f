import type { Chosen } from './chosen.ts'

/** A field of which some values are chosen. */
export interface Choice {
  readonly field: string
  readonly chosen: Chosen
  /** How many rows have a chosen value. */
  readonly rows: number
}

/** One of these must be right in a row. */
export type Clause = readonly [Choice, ...Choice[]]

/** What must all be right in a row. */
export class Clauses {
  readonly #rows: ReadonlyMap<string, Float64Array>
  readonly #alone = new Map<string, Chosen>()
  readonly #several: Clause[] = []

  /** @param rows by field and code: how many rows have it; of the fields that are chosen from */
  constructor(rows: ReadonlyMap<string, Float64Array>) {
    this.#rows = rows
  }

  /** Adds that a field has one of some values, or one field of several. */
  add(alternatives: readonly Pick<Choice, 'field' | 'chosen'>[]): void {
    const [first, ...others] = alternatives.map((one) => this.#choice(one.field, one.chosen))
    if (first === undefined) return
    if (others.length > 0) {
      this.#several.push([first, ...others])
      return
    }
    const known = this.#alone.get(first.field)
    const both = known === undefined ? first.chosen : first.chosen.map((is, code) => is & (known[code] ?? 0))
    this.#alone.set(first.field, both)
  }

  /**
   * The fewest rows first, without what holds of all.
   *
   * @param rows of the table
   */
  simplified(rows: number): Clause[] {
    const alone = [...this.#alone].map(([field, chosen]): Clause => [this.#choice(field, chosen)])
    return [...alone, ...this.#several]
      .filter((clause) => clause.every((choice) => choice.rows < rows))
      .map((clause) => (clause.some((choice) => choice.rows > 0) ? withoutNone(clause) : clause))
      .toSorted((a, b) => mostOf(a) - mostOf(b))
  }

  #choice(field: string, chosen: Chosen): Choice {
    const counts = this.#rows.get(field) ?? new Float64Array()
    return { field, chosen, rows: counts.reduce((sum, count, code) => sum + count * (chosen[code] ?? 0), 0) }
  }
}

function withoutNone(clause: Clause): Clause {
  const [first, ...others] = clause.filter(({ rows }) => rows > 0)
  return first === undefined ? clause : [first, ...others]
}

/** In how many rows a clause can be right. */
export function mostOf(clause: Clause): number {
  return clause.reduce((sum, { rows }) => sum + rows, 0)
}
