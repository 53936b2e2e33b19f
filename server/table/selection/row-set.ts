/** Rows as bits, from the first byte's highest bit on, or as ascending numbers. */
export interface PartRows {
  /** Position in the table, from 0. */
  readonly firstRow: number
  readonly count: number
  readonly rows: Uint8Array | Uint32Array
}

/** Immutable set of positions; each part has the smaller form. */
export class RowSet {
  readonly count: number
  readonly bytes: number
  readonly #parts: readonly PartRows[]
  readonly #before: readonly number[]

  /** @param parts ascending; those without rows may be left out */
  constructor(parts: readonly PartRows[]) {
    this.#parts = parts.filter(({ count }) => count > 0).map(compact)
    const before: number[] = []
    let count = 0
    for (const part of this.#parts) {
      before.push(count)
      count += part.count
    }
    this.#before = before
    this.count = count
    this.bytes = this.#parts.reduce((sum, { rows }) => sum + rows.byteLength + partBytes, partBytes)
  }

  /** @param first index in the set, from 0 */
  slice(first: number, rows: number): Uint32Array {
    const numbers = new Uint32Array(Math.max(0, Math.min(rows, this.count - first)))
    let positionCount = 0
    for (let index = this.#partOf(first); positionCount < numbers.length; index += 1) {
      const part = this.#parts[index]
      if (part === undefined) throw new RangeError(`there is no position ${first + positionCount}`)
      positionCount += copyRows(
        part,
        first + positionCount - (this.#before[index] ?? 0),
        numbers.subarray(positionCount),
      )
    }
    return numbers
  }

  /** @param numbers positions, ascending */
  static fromPositions(
    numbers: Uint32Array,
    parts: readonly { readonly firstRow: number; readonly rows: number }[],
  ): RowSet {
    let index = 0
    return new RowSet(
      parts.map(({ firstRow, rows }) => {
        const from = index
        while (index < numbers.length && (numbers[index] ?? 0) < firstRow + rows) index += 1
        const ownRows = numbers.subarray(from, index).map((position) => position - firstRow)
        return { firstRow, count: ownRows.length, rows: ownRows }
      }),
    )
  }

  and(second: RowSet): RowSet {
    const otherParts = new Map(second.#parts.map((part) => [part.firstRow, part]))
    return new RowSet(
      this.#parts.flatMap((part) => {
        const match = otherParts.get(part.firstRow)
        return match === undefined ? [] : [intersection(part, match)]
      }),
    )
  }

  has(position: number): boolean {
    const index = lastAtMax(this.#parts, position, ({ firstRow }) => firstRow)
    const part = this.#parts[index]
    return part !== undefined && holds(part.rows, position - part.firstRow)
  }

  #partOf(index: number): number {
    return Math.max(
      0,
      lastAtMax(this.#before, index, (before) => before),
    )
  }
}

const partBytes = 200

function compact(part: PartRows): PartRows {
  const { rows, count } = part
  if (rows instanceof Uint32Array || count * 4 >= rows.byteLength) return part
  const numbers = new Uint32Array(count)
  copyRows({ ...part, firstRow: 0 }, 0, numbers)
  return { ...part, rows: numbers }
}

/** Copies positions from the `skip`th on, and returns their number. */
function copyRows({ firstRow, count, rows }: PartRows, skip: number, into: Uint32Array): number {
  const copyCount = Math.min(count - skip, into.length)
  if (rows instanceof Uint32Array) {
    for (let index = 0; index < copyCount; index += 1) into[index] = firstRow + (rows[skip + index] ?? 0)
    return copyCount
  }
  let [byte, bitsToSkip] = [0, skip]
  while (byte < rows.length) {
    const setBits = bitCounts[rows[byte] ?? 0] ?? 0
    if (bitsToSkip < setBits) break
    bitsToSkip -= setBits
    byte += 1
  }
  for (let copied = 0; copied < copyCount; byte += 1) {
    const bits = rows[byte] ?? 0
    for (let bit = 0; bit < 8 && copied < copyCount; bit += 1) {
      if ((bits & (0x80 >> bit)) === 0) continue
      if (bitsToSkip > 0) bitsToSkip -= 1
      else {
        into[copied] = firstRow + byte * 8 + bit
        copied += 1
      }
    }
  }
  return copyCount
}

function intersection(a: PartRows, b: PartRows): PartRows {
  const [few, many] = a.rows instanceof Uint32Array ? [a, b] : [b, a]
  if (few.rows instanceof Uint32Array) {
    const rows = few.rows.filter((row) => holds(many.rows, row))
    return { firstRow: a.firstRow, count: rows.length, rows }
  }
  const rows = few.rows.map((bits, index) => bits & (many.rows[index] ?? 0))
  return { firstRow: a.firstRow, count: rows.reduce((sum, bits) => sum + (bitCounts[bits] ?? 0), 0), rows }
}

function holds(rows: PartRows['rows'], row: number): boolean {
  if (rows instanceof Uint8Array) return ((rows[row >> 3] ?? 0) & (0x80 >> (row & 7))) !== 0
  return rows[lastAtMax(rows, row, (item) => item)] === row
}

function lastAtMax<T>(items: ArrayLike<T>, limit: number, numberOf: (item: T) => number): number {
  let [low, high] = [-1, items.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const item = items[middle]
    if (item !== undefined && numberOf(item) <= limit) low = middle
    else high = middle - 1
  }
  return low
}

const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)
