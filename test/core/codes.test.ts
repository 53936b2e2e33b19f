import zlib from 'node:zlib'
import fc from 'fast-check'
import {
  codesOf,
  countCodes,
  countsOf,
  deflated,
  Directory,
  directoryBytes,
  directoryOf,
  groupRows,
  groupsIn,
  packGroup,
  sectionGroups,
  sectionsIn,
  unpackGroup,
} from '../../core/warehouse/codes/layout.ts'
import { seed } from '../support/runs.ts'

/** How codes lie in their file. */

test.each([0, 1, 255, 256, 65_535])('codes of a field with %d values come back', (values) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: values }), { maxLength: 300 }), (due) => {
      const codes = codesOf(values, due.length)
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
})

test.each([1, groupRows, groupRows + 1, groupRows * sectionGroups, groupRows * (2 * sectionGroups + 3) + 5])(
  'a directory says where each piece of %d rows lies',
  async (rows) => {
    const values = [3, 300, 0]
    const pieces: { readonly name: string; readonly packed: Uint8Array }[] = []
    for (let section = 0; section < sectionsIn(rows); section += 1) {
      const end = Math.min(groupsIn(rows), (section + 1) * sectionGroups)
      for (const field of values.keys()) {
        const names = [`${field} counts ${section}`]
        for (let group = section * sectionGroups; group < end; group += 1) names.push(`${field} ${group}`)
        for (const name of names) pieces.push({ name, packed: await deflated(Buffer.from(name.repeat(3))) })
      }
    }
    const directory = directoryOf(
      pieces.map(({ packed: { length }, packed }) => ({ length, sum: zlib.crc32(packed) })),
    )
    const file = Buffer.concat([...pieces.map(({ packed }) => packed), directory])
    const shape = { rows, values, bytes: file.length }
    const end = Buffer.from(file.subarray(-directoryBytes(shape)))
    const read = Directory.read(end, shape)
    if (read === null) throw new Error('expected a directory')
    const textOf = ({ start, length }: { start: number; length: number }): string =>
      zlib.inflateRawSync(file.subarray(start, start + length)).toString()
    for (const field of values.keys()) {
      for (let section = 0; section < sectionsIn(rows); section += 1)
        expect(textOf(read.counts(field, section))).toBe(`${field} counts ${section}`.repeat(3))
      for (let group = 0; group < groupsIn(rows); group += 1)
        expect(textOf(read.group(field, group))).toBe(`${field} ${group}`.repeat(3))
    }
    for (let byte = 0; byte < end.length; byte += Math.ceil(end.length / 200)) {
      const flipped = Buffer.from(end)
      flipped[byte] = (flipped[byte] ?? 0) ^ 4
      expect(Directory.read(flipped, shape)).toBeNull()
    }
    expect(Directory.read(end, { ...shape, bytes: shape.bytes + 1 })).toBeNull()
    expect(Directory.read(end, { ...shape, values: [3, 300] })).toBeNull()
  },
)
