import fc from 'fast-check'
import { wildcard } from '../../core/text.ts'
import { seed } from '../support/runs.ts'

/** Patterns of file names. */

test('a pattern of file names matches the same names as the equivalent regular expression', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '.'), maxLength: 8 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 6 })
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`, 's')
      expect([pattern, text, wildcard(pattern)(text)]).toEqual([pattern, text, expression.test(text)])
    }),
    {
      seed,
      numRuns: 2000,
      // Literals that would have to share a character.
      examples: [
        ['a*b*b', 'ab'],
        ['*ab*b', 'ab'],
        ['a*a', 'a'],
      ],
    },
  )
})
