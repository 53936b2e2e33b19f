import fc from 'fast-check'
import {
  codesChunks,
  emptyCodes,
  countCodes,
  countsChunk,
  countsOf,
  groupChunk,
  groupRows,
  groupCount,
  packGroup,
  sectionGroups,
  sectionCount,
  unpackGroup,
} from '../../core/warehouse/format/codes.ts'
import { seed } from '../support/runs.ts'

/** Layout of codes in their file. */

test.each([0, 1, 255, 256, 65_535])(
  'dictionary codes of a field with %d distinct values are read as they were written',
  (values) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: values }), { maxLength: 300 }), (due) => {
        const codes = emptyCodes(values, due.length)
        codes.set(due)
        expect(codes.BYTES_PER_ELEMENT).toBe(values < 256 ? 1 : 2)
        expect([...unpackGroup(packGroup(codes), values)]).toEqual(due)
        const counts = countCodes([codes, codes], values)
        expect(counts.length).toBe((values + 1) * countsOf(2, values))
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2 * due.length)
        const times = new Uint32Array(values + 1)
        for (const code of due) times[code] = (times[code] ?? 0) + (values < 256 ? 1 : 2)
        expect(Buffer.from(counts.buffer, 0, times.byteLength).equals(Buffer.from(times.buffer))).toBe(true)
      }),
      { seed, numRuns: values > 256 ? 20 : 100 },
    )
  },
)

test.each([1, groupRows, groupRows + 1, groupRows * sectionGroups, groupRows * (2 * sectionGroups + 3) + 5])(
  'the chunks of a codes file for %d rows are numbered in the order of the file',
  (rows) => {
    const shape = { rows, fields: 3 }
    const numbers: number[] = []
    for (let section = 0; section < sectionCount(rows); section += 1) {
      const end = Math.min(groupCount(rows), (section + 1) * sectionGroups)
      for (const field of [0, 1, 2]) {
        numbers.push(countsChunk(shape, field, section))
        for (let group = section * sectionGroups; group < end; group += 1)
          numbers.push(groupChunk(shape, field, group))
      }
    }
    expect(numbers).toEqual([...Array.from({ length: codesChunks(shape) }).keys()])
  },
)
