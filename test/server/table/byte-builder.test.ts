import fc from 'fast-check'
import { ByteBuilder } from '../../../server/table/reading/byte-builder.ts'
import { seed } from '../../support/runs.ts'

/** So much is there from the start; more is made as it is needed. */
const firstBytes = 64 * 1024

test.each(['a', 'ã', '漢', '🎉'])('a text of %s at the end of the buffer is complete', (character) => {
  for (let before = firstBytes - 12; before <= firstBytes; before += 1) {
    const written = new ByteBuilder()
    written.add(Buffer.alloc(before, 'x'))
    for (const count of [1, 2, 3, 4, 40_000]) written.text(character.repeat(count))
    const due = 'x'.repeat(before) + character.repeat(1 + 2 + 3 + 4 + 40_000)
    expect(Buffer.from(written.build()).equals(Buffer.from(due))).toBe(true)
    expect(written.length).toBe(Buffer.byteLength(due))
  }
})

test('pieces keep the order in which they were added', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  const piece = fc.oneof(
    text,
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.constant('漢'.repeat(30_000)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const written = new ByteBuilder()
      for (const chunk of pieces) {
        if (typeof chunk === 'string') written.text(chunk)
        else written.copy(chunk, 1, chunk.length)
      }
      const due = pieces.map((chunk) =>
        typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk).subarray(1),
      )
      expect(Buffer.from(written.build()).equals(Buffer.concat(due))).toBe(true)
    }),
    { seed, numRuns: 100 },
  )
})
