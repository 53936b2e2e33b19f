import { randomFrom, type Random } from './random.ts'

/** A value of a sample before it is written as CSV. */
export type Cell = string | number | boolean | null

/** Generator of the sample of a table. */
export interface SampleTable {
  /** Id, `dataset/table`. */
  readonly id: string
  /** Number of rows at scale 1. */
  readonly rows: number
  /** Yields exactly this many rows, one at a time, in constant memory. */
  readonly make: (rows: number) => Generator<Record<string, Cell>>
}

/** Returns the generator of a table whose rows are independent of each other. */
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
      for (let index = 0; index < count; index += 1) yield row(random)
    },
  }
}
