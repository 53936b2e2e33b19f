import fc from 'fast-check'
import { RowSet, type PartRows } from '../../../server/table/selection/row-set.ts'
import { seed } from '../../support/runs.ts'

/** Parts of a table of 100 rows whose last part is short. */
const parts = [0, 40, 80].map((firstRow) => ({ firstRow, rows: Math.min(40, 100 - firstRow) }))

/** The same positions as bits, the first row in the highest bit of the first byte. */
function asBits(positions: readonly number[]): RowSet {
  return new RowSet(
    parts.map(({ firstRow, rows: count }): PartRows => {
      const ownPositions = positions.filter((position) => position >= firstRow && position < firstRow + count)
      const rows = new Uint8Array(Math.ceil(count / 8))
      for (const position of ownPositions) {
        const row = position - firstRow
        rows[row >> 3] = (rows[row >> 3] ?? 0) | (0x80 >> (row & 7))
      }
      return { firstRow, count: ownPositions.length, rows }
    }),
  )
}

const asNumbers = (positions: readonly number[]): RowSet =>
  RowSet.fromPositions(Uint32Array.from(positions), parts)

/** Dense enough for bits, few enough for numbers, over the ends of bytes and parts, and none. */
const sets: readonly (readonly [title: string, positions: readonly number[]])[] = [
  ['no row', []],
  ['the first row', [0]],
  ['the last row', [99]],
  ['the last row of a part and the first of the next', [39, 40]],
  ['both ends of a byte', [7, 8, 15, 16]],
  ['every row', Array.from({ length: 100 }, (_, n) => n)],
  ['every third row', Array.from({ length: 33 }, (_, n) => 3 * n + 1)],
  ['rows of the last part alone', [85, 90, 95]],
]

describe.each([
  ['bits', asBits],
  ['numbers', asNumbers],
])('a set made from %s', (_form, setOf) => {
  test.each(sets)('has the count, slices and members of %s', (_what, positions) => {
    const set = setOf(positions)
    expect(set.count).toBe(positions.length)
    for (const first of [0, 1, positions.length - 1, positions.length].filter((n) => n >= 0)) {
      for (const rows of [0, 1, 7, 100])
        expect([first, rows, ...set.slice(first, rows)]).toEqual([
          first,
          rows,
          ...positions.slice(first, first + rows),
        ])
    }
    const members = Array.from({ length: 100 }, (_, n) => n).filter((position) => set.has(position))
    expect(members).toEqual(positions)
  })
})

test('the intersection of two sets has the common rows, in every form of the sets', () => {
  const positions = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 100 })
  const sorted = positions.map((list) => list.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(sorted, sorted, fc.boolean(), fc.boolean(), (left, right, isOneBits, isOtherBits) => {
      const both = (isOneBits ? asBits : asNumbers)(left).and((isOtherBits ? asBits : asNumbers)(right))
      const due = left.filter((position) => right.includes(position))
      expect([both.count, ...both.slice(0, 100)]).toEqual([due.length, ...due])
    }),
    { seed, numRuns: 200 },
  )
})

test('few rows of a large part take the memory of their numbers, not of a bitmap', () => {
  const bits = new Uint8Array(32_768)
  bits[100] = 0x80
  expect(new RowSet([{ firstRow: 0, count: 1, rows: bits }]).bytes).toBeLessThan(1000)
})
