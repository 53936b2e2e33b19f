import fc from 'fast-check'
import { compareBytes } from '../../core/text.ts'
import { isQuick, seed } from '../support/runs.ts'

/** The order of texts, which stored orders and dictionaries have from DuckDB. */

const unit = fc.constantFrom('a', 'b', 'é', '\u{d7ff}', '\u{e000}', '\u{fffd}', '\u{10000}', '\u{10ffff}')
const text = fc.oneof(fc.string({ unit, maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 8 }))

test('texts are compared by their bytes in UTF-8', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { seed, numRuns: isQuick ? 500 : 20_000 },
  )
})
