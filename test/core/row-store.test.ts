import zlib from 'node:zlib'
import fc from 'fast-check'
import { ChunkFile, directoryOf, sectionChunks } from '../../core/warehouse/format/chunk-file.ts'
import { GzipBuilder } from '../../core/warehouse/format/gzip-sections.ts'
import {
  chunkRows,
  commaBlock,
  encodeIndex,
  encodeText,
  indexedChunks,
  indexedRows,
  inflateTexts,
  RowIndex,
  RowValues,
  storeChunks,
  textChunks,
} from '../../core/warehouse/format/row-store.ts'
import { isQuick, seed } from '../support/runs.ts'

/** The layout of the row store. */

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const scalar = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '-12.50', '1e-7', '99999999999999999999.99'),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\""', '"\\\\"', '"},{"', '"a,b"', '""', '"[{"'),
)
const space = fc.constantFrom('', ' ')
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.tuple(space, fc.json({ maxDepth: 3 }), space).map(([before, json, after]) => `${before}${json}${after}`),
)
const runs = { seed, numRuns: isQuick ? 200 : 3000 }

test('values are found in the text of a row', () => {
  const row = fc.uniqueArray(fc.tuple(name, value), {
    minLength: 1,
    maxLength: 8,
    selector: ([memberName]) => memberName,
  })
  fc.assert(
    fc.property(row, fc.nat(3), (members, before) => {
      const text = `{${members.map(([memberName, json]) => `${JSON.stringify(memberName)}:${json}`).join()}}`
      const bytes = Buffer.from(`${'x'.repeat(before)}${text},{"other":1},`)
      const values = new RowValues(members.map(([memberName]) => ({ name: memberName })))
      values.find(bytes, before)
      const readTexts = members.map((_, index) =>
        bytes.toString('utf8', values.starts[index], values.ends[index]),
      )
      expect(readTexts).toEqual(members.map(([, json]) => json))
    }),
    runs,
  )
})

test('text chunks of a row store are inflated one by one or together, and the index locates each row', async () => {
  const counts = [chunkRows, chunkRows, 5]
  let row = 0
  const rows = counts.map((count) => Array.from({ length: count }, () => `{"n":${(row += 1)},"é":"ç"},`))
  const texts = rows.map((cells) => Buffer.from(cells.join('')))
  const ends = rows.map((cells) => {
    let end = 0
    return cells.map((text) => (end += Buffer.byteLength(text)))
  })
  const chunks = texts.map(encodeText)
  for (const [index, chunk] of chunks.entries()) {
    const text = texts[index] ?? Buffer.alloc(0)
    expect(inflateTexts(chunk, text.length)).toEqual(text)
    expect(inflateTexts(chunk.subarray(0, -commaBlock.length), text.length)).toEqual(text.subarray(0, -1))
  }
  expect(inflateTexts(Buffer.concat(chunks), Buffer.concat(texts).length)).toEqual(Buffer.concat(texts))
  const sums = texts.map((text) => zlib.crc32(text.subarray(0, -1)))
  const index = new RowIndex(encodeIndex(sums.map((sum, place) => ({ sum, ends: ends[place] ?? [] }))), row)
  expect(counts.map((_, chunk) => index.sum(chunk))).toEqual(sums)
  expect(counts.map((_, chunk) => index.size(chunk))).toEqual(texts.map(({ length }) => length))
  expect(Array.from({ length: row }, (_, place) => index.end(place))).toEqual(ends.flat())
  expect(Array.from({ length: row }, (_, place) => index.start(place))).toEqual(
    ends.flatMap((endLists) => [0, ...endLists.slice(0, -1)]),
  )
})

test.each([
  [0, 0, 0],
  [1, 1, 2],
  [chunkRows, 1, 2],
  [chunkRows + 1, 2, 3],
  [indexedRows, indexedChunks, indexedChunks + 1],
  [indexedRows + 1, indexedChunks + 1, indexedChunks + 3],
])('a row store of %d rows has %d text chunks among its %d chunks', (rows, texts, chunks) => {
  expect([textChunks(rows), storeChunks(rows)]).toEqual([texts, chunks])
})

test('compressed blocks and plain texts in any order form one gzip file', async () => {
  const piece = fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 3000 }), isStored: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const file = new GzipBuilder()
      for (const { text, isStored } of pieces) {
        const bytes = Buffer.from(`${text},`)
        if (isStored) file.addBlocks(encodeText(bytes), bytes.length, zlib.crc32(bytes))
        else file.addText(bytes)
      }
      expect(zlib.gunzipSync(file.build()).toString()).toBe(pieces.map(({ text }) => `${text},`).join(''))
    }),
    { seed, numRuns: isQuick ? 50 : 500 },
  )
})

test.each([1, 2, sectionChunks, sectionChunks + 1, 2 * sectionChunks + 3])(
  'the directory of a file of %d chunks locates each of them',
  (count) => {
    const chunks = Array.from({ length: count }, (_, chunk) => ({ length: 7 + (chunk % 5), sum: chunk * 3 }))
    const end = directoryOf(chunks)
    const before = chunks.reduce((sum, { length }) => sum + length, 0)
    const fileOf = (directory: Buffer): ChunkFile =>
      new ChunkFile({
        bytes: before + directory.length,
        chunks: count,
        directorySum: end.readUInt32LE(end.length - 4),
        read: (from, length) => directory.subarray(from - before, from - before + length),
        damaged: (problem) => new Error(problem),
        cached: (_, make) => make(),
      })
    const file = fileOf(end)
    let start = -7
    expect(chunks.map((_, chunk) => file.locate(chunk))).toEqual(
      chunks.map((chunk, index) => ({ start: (start += chunks[index - 1]?.length ?? 7), ...chunk })),
    )
    for (let byte = 0; byte < end.length; byte += 1 + Math.floor(end.length / 500)) {
      const flipped = Buffer.from(end)
      flipped[byte] = (flipped[byte] ?? 0) ^ 1
      const damaged = fileOf(flipped)
      expect(() => {
        for (let chunk = 0; chunk < count; chunk += sectionChunks) damaged.locate(chunk)
      }).toThrow('the checksum of its directory of chunks does not match')
    }
  },
)
