import fc from 'fast-check'
import { directoryOf, sectionChunks, Sections } from '../../core/warehouse/format/chunk-file.ts'
import { chunkRows, encodeChunk, RowChunk, type ColumnTexts } from '../../core/warehouse/format/row-store.ts'
import { isQuick, seed } from '../support/runs.ts'

/** The layout of the row store. */

function textsOf(texts: readonly (string | null)[]): ColumnTexts {
  const lengths = texts.map((text) => (text === null ? 0 : 1 + Buffer.byteLength(text)))
  return { bytes: Buffer.from(texts.map((text) => text ?? '').join('')), lengths: Uint32Array.from(lengths) }
}

function textIn(chunk: RowChunk, field: number, row: number): string | null {
  if (!chunk.hasTexts(field)) return chunk.decimal(field, row)
  if (chunk.isNull(field, row)) return null
  const { bytes, ends } = chunk.texts(field)
  return Buffer.from(bytes.subarray(row === 0 ? 0 : ends[row - 1], ends[row])).toString()
}

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

test('codes and texts are read back', () => {
  const columns = fc.integer({ min: 1, max: chunkRows }).chain((rows) => {
    const all = { minLength: rows, maxLength: rows }
    const fixed = fc.integer({ min: -1e6, max: 1e6 }).map((n) => (n / 100).toFixed(2))
    const long = fc.integer({ min: 0, max: 9 }).map((n) => `${n} `.repeat(50))
    const column = fc.oneof(
      codes.chain(({ from, to }) =>
        fc
          .array(fc.integer({ min: from, max: to }), all)
          .map((found) => ({ codes: Uint16Array.from(found) })),
      ),
      ...[fc.oneof(decimals, text), fixed, decimals, long].map((arbitrary) =>
        fc.array(fc.option(arbitrary), all).map((texts) => ({ texts })),
      ),
    )
    return fc.tuple(fc.constant(rows), fc.array(column, { minLength: 1, maxLength: 6 }))
  })
  fc.assert(
    fc.property(columns, ([rows, due]) => {
      const bytes = encodeChunk(due.map((column) => ('codes' in column ? column : textsOf(column.texts))))
      const chunk = new RowChunk(
        bytes,
        rows,
        due.map((column) => 'codes' in column),
      )
      for (const [field, column] of due.entries()) {
        const found = Array.from({ length: rows }, (_, row) =>
          'codes' in column ? chunk.code(field, row) : textIn(chunk, field, row),
        )
        expect(found).toEqual('codes' in column ? [...column.codes] : column.texts)
      }
    }),
    { seed, numRuns: isQuick ? 80 : 400 },
  )
})

const sizeOf = (texts: readonly string[]): number => encodeChunk([textsOf(texts)]).length

test('decimals take the bits of their digits, zeros at the end or not', () => {
  const rows = Array.from({ length: chunkRows }, (_, row) => row)
  expect(sizeOf(rows.map((row) => `${1_000_000 + row}.5`))).toBeLessThan(10 + (chunkRows * 12) / 8)
  expect(sizeOf(rows.map((row) => `${1_000_000 + row}.00`))).toBeLessThan(10 + (chunkRows * 15) / 8)
  expect(sizeOf(rows.map(() => '12.5'))).toBe(10 + chunkRows / 8)
})

test('long texts that repeat are deflated, and their size is known', () => {
  const texts = Array.from({ length: chunkRows }, () => 'https://example.org/a/long/address')
  const bytes = encodeChunk([textsOf(texts)])
  expect(bytes.length).toBeLessThan(200)
  expect(new RowChunk(bytes, chunkRows, [false]).inflatedBytes).toBe(texts.join('').length)
})

test.each([1, 2, sectionChunks, sectionChunks + 1, 2 * sectionChunks + 3])(
  'the end of a file of %d chunks says where each one is',
  (count) => {
    const chunks = Array.from({ length: count }, (_, chunk) => ({ length: 7 + (chunk % 5), sum: chunk * 3 }))
    const end = directoryOf(chunks)
    const before = chunks.reduce((sum, { length }) => sum + length, 0)
    const shape = { chunks: count, bytes: before + end.length }
    const last = end.subarray(-Sections.bytes(count))
    const sections = Sections.read(last, shape)
    if (sections === null) throw new Error('expected sections')
    const found: unknown[] = []
    for (let first = 0; first < count; first += sectionChunks) {
      const place = sections.directory(first / sectionChunks)
      const from = place.start - before
      const locations = sections.locations(first / sectionChunks, end.subarray(from, from + place.length))
      for (let chunk = first; chunk < Math.min(count, first + sectionChunks); chunk += 1)
        found.push(locations.chunk(chunk - first))
    }
    let start = -7
    expect(found).toEqual(
      chunks.map((chunk, index) => ({ start: (start += chunks[index - 1]?.length ?? 7), ...chunk })),
    )
    for (let byte = 0; byte < last.length; byte += 1) {
      const flipped = Buffer.from(last)
      flipped[byte] = (flipped[byte] ?? 0) ^ 1
      expect(Sections.read(flipped, shape)).toBeNull()
    }
  },
)

test.each<[rule: string, codes: number[], bytes: number[]]>([
  ['equal codes take no bits', [7, 7, 7], [0, 7, 0]],
  ['two codes take a bit each, the lowest first', [3, 4, 4, 3], [1, 3, 0, 0b0110]],
  ['bits run on into the next byte', [0, 7, 5, 2], [3, 0, 0, 0b01_111_000, 0b0101]],
  ['the least code is stored once', [300, 301], [1, 44, 1, 0b10]],
  ['the highest code keeps its top bit', [0, 65_535], [16, 0, 0, 0, 0, 255, 255]],
])('codes in a chunk: %s', (_rule, numbers, bytes) => {
  const chunk = encodeChunk([{ codes: Uint16Array.from(numbers) }])
  expect([...chunk]).toEqual(bytes)
  const read = new RowChunk(chunk, numbers.length, [true])
  expect(numbers.map((_, row) => read.code(0, row))).toEqual(numbers)
})

test.each<[rule: string, texts: (string | null)[], bytes: number[]]>([
  [
    'decimals are integers above the least, 0 for null',
    ['1.5', null, '2.25'],
    [3, 7, 0, 0, 0, 0, 0, 192, 98, 64, 0b0_0000001, 0b00_000000, 0b10011],
  ],
  [
    'decimals that all have the same digits keep them',
    ['1.5', null, '2.0'],
    [102, 3, 0, 0, 0, 0, 0, 0, 46, 64, 0b10_000_001, 1],
  ],
  ['texts follow their lengths, 0 for null', ['a', null, ''], [0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0b01_00_10, 97]],
])('values in a chunk: %s', (_rule, texts, bytes) => {
  const chunk = encodeChunk([textsOf(texts)])
  expect([...chunk]).toEqual(bytes)
  const read = new RowChunk(chunk, texts.length, [false])
  expect(texts.map((_, row) => textIn(read, 0, row))).toEqual(texts)
})

// A number of every width, so that each way to read one is met.
test.each(Array.from({ length: 45 }, (_, index) => index + 1))(
  'numbers of %d bits are read back',
  (width) => {
    const most = 2 ** width - 2
    const texts = [0, 1, most - 1, Math.floor(most / 3), most].map((number) => String(number))
    const chunk = new RowChunk(encodeChunk([textsOf([...texts, null])]), texts.length + 1, [false])
    expect([...texts, null].map((_, row) => textIn(chunk, 0, row))).toEqual([...texts, null])
    expect([...chunk.decode(0)]).toEqual([...texts.map(Number), Number.NaN])
  },
)
