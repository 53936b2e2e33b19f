import { randomFrom, type Random } from './random.ts'

/** A value of a sample, before it is written as CSV. */
export type Cell = string | number | boolean | null

/** How the sample of one table is made. */
export interface SampleTable {
  /** `dataset/table`. */
  readonly id: string
  /** At scale 1. */
  readonly rows: number
  /** Exactly that many rows, one at a time, so that memory does not grow with them. */
  readonly make: (rows: number) => Generator<Record<string, Cell>>
}

/** A table whose rows do not depend on each other. */
export function eachRow(
  id: string,
  rows: number,
  row: (random: Random) => Record<string, Cell>,
): SampleTable {
  return {
    id,
    rows,
    make: function* (count) {
      const random = randomFrom(id)
      for (let made = 0; made < count; made += 1) yield row(random)
    },
  }
}
