import fc from 'fast-check'
import {
  Pack,
  packed,
  packRows,
  PackSections,
  packsEnd,
  packsIn,
  placeIn,
  sectionPacks,
} from '../../core/warehouse/packs/layout.ts'
import { isQuick, seed } from '../support/runs.ts'

/** How rows lie in their file one by one. */

const codes = fc
  .tuple(fc.integer({ min: 0, max: 65_000 }), fc.integer({ min: 0, max: 65_535 }))
  .map(([a, b]) => ({
    from: Math.min(a, b),
    to: Math.max(a, b),
  }))
const decimals = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 20 }))
  .map(([integer, digits]) => String(integer / 10 ** digits))
const text = fc.oneof(
  { weight: 6, arbitrary: decimals },
  fc.constantFrom(
    '0',
    '-0',
    '0.0',
    '-0.0',
    '00',
    '1.',
    '.5',
    '1.50',
    '1e5',
    '9007199254740993',
    '-12.5',
    '5.0',
    '5',
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

test('codes and texts come back, one by one and all at once', () => {
  const columns = fc.integer({ min: 1, max: packRows }).chain((rows) =>
    fc.array(
      fc.oneof(
        codes.chain(({ from, to }) =>
          fc
            .array(fc.integer({ min: from, max: to }), { minLength: rows, maxLength: rows })
            .map((all) => ({ codes: Uint16Array.from(all) })),
        ),
        fc
          .array(fc.option(fc.oneof(decimals, text)), { minLength: rows, maxLength: rows })
          .map((texts) => ({ texts })),
        fc
          .array(fc.option(fc.integer({ min: -1e6, max: 1e6 }).map((n) => (n / 100).toFixed(1))), {
            minLength: rows,
            maxLength: rows,
          })
          .map((texts) => ({ texts })),
      ),
      { minLength: 1, maxLength: 6 },
    ),
  )
  fc.assert(
    fc.property(columns, (due) => {
      const rows = due[0] === undefined ? 0 : 'codes' in due[0] ? due[0].codes.length : due[0].texts.length
      const pack = new Pack(
        packed(due),
        rows,
        due.map((column) => 'codes' in column),
      )
      for (const [field, column] of due.entries()) {
        const each = Array.from({ length: rows }, (_, row) =>
          'codes' in column ? pack.code(field, row) : pack.text(field, row),
        )
        expect(each).toEqual('codes' in column ? [...column.codes] : column.texts)
        expect('codes' in column ? column.codes.length : pack.texts(field)).toEqual(
          'codes' in column ? rows : column.texts,
        )
      }
    }),
    { seed, numRuns: isQuick ? 80 : 400 },
  )
})

test('decimals take the bits of their digits', () => {
  const near = Array.from({ length: packRows }, (_, row) => `${1_000_000 + row}.5`)
  expect(packed([{ texts: near }]).length).toBeLessThan(10 + (packRows * 12) / 8)
  const alike = Array.from({ length: packRows }, () => '12.5')
  expect(packed([{ texts: alike }]).length).toBe(10 + packRows / 8)
})

test.each([1, packRows, packRows + 1, packRows * sectionPacks, packRows * (2 * sectionPacks + 3) + 5])(
  'the end of a file of %d rows says where each pack lies',
  (rows) => {
    const packs = Array.from({ length: packsIn(rows) }, (_, pack) => ({
      length: 7 + (pack % 5),
      sum: pack * 3,
    }))
    const end = packsEnd(packs)
    const before = packs.reduce((sum, { length }) => sum + length, 0)
    const shape = { rows, bytes: before + end.length }
    const last = end.subarray(-PackSections.bytes(shape))
    const sections = PackSections.read(last, shape)
    if (sections === null) throw new Error('expected sections')
    const found: unknown[] = []
    for (let first = 0; first < packs.length; first += sectionPacks) {
      const place = sections.directory(first / sectionPacks)
      const from = place.start - before
      const places = sections.places(first / sectionPacks, end.subarray(from, from + place.length))
      for (let pack = first; pack < Math.min(packs.length, first + sectionPacks); pack += 1)
        found.push(placeIn(places, pack - first))
    }
    let start = -7
    expect(found).toEqual(
      packs.map((pack, index) => ({ start: (start += packs[index - 1]?.length ?? 7), ...pack })),
    )
    for (let byte = 0; byte < last.length; byte += 1) {
      const flipped = Buffer.from(last)
      flipped[byte] = (flipped[byte] ?? 0) ^ 1
      expect(PackSections.read(flipped, shape)).toBeNull()
    }
  },
)

test.each<[rule: string, codes: number[], bytes: number[]]>([
  ['equal codes take no bits', [7, 7, 7], [0, 7, 0]],
  ['two codes take a bit each, the lowest first', [3, 4, 4, 3], [1, 3, 0, 0b0110]],
  ['bits run on into the next byte', [0, 7, 5, 2], [3, 0, 0, 0b01_111_000, 0b0101]],
  ['the least code is stored once', [300, 301], [1, 44, 1, 0b10]],
  ['the highest code keeps its top bit', [0, 65_535], [16, 0, 0, 0, 0, 255, 255]],
])('packed codes: %s', (_rule, numbers, bytes) => {
  const codesOfRows = Uint16Array.from(numbers)
  const pack = packed([{ codes: codesOfRows }])
  expect([...pack]).toEqual(bytes)
  const read = new Pack(pack, numbers.length, [true])
  expect(numbers.map((_, row) => read.code(0, row))).toEqual(numbers)
})

test.each<[rule: string, texts: (string | null)[], bytes: number[]]>([
  [
    'decimals are integers above the least, 0 for null',
    ['1.5', null, '2.0'],
    [2, 3, 0, 0, 0, 0, 0, 0, 46, 64, 0b10_000_001, 1],
  ],
  ['texts follow their lengths, 0 for null', ['a', null, ''], [0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0b01_00_10, 97]],
])('packed values: %s', (_rule, texts, bytes) => {
  const pack = packed([{ texts }])
  expect([...pack]).toEqual(bytes)
  expect(new Pack(pack, texts.length, [false]).texts(0)).toEqual(texts)
})

// A number of every width, so that each way to read one is met.
test.each(Array.from({ length: 45 }, (_, index) => index + 1))('numbers of %d bits come back', (bits) => {
  const most = 2 ** bits - 2
  const texts = [0, 1, most - 1, Math.floor(most / 3), most].map((number) => String(number))
  const pack = new Pack(packed([{ texts: [...texts, null] }]), texts.length + 1, [false])
  expect(pack.texts(0)).toEqual([...texts, null])
  expect(pack.text(0, 4)).toBe(String(most))
})
