import fc from 'fast-check'
import { firstCharacters, shorten } from '../../core/text.ts'

/** Texts shortened for messages and pages. */

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['😀😀😀', 3, '😀😀😀'],
  ['😀😀😀a', 3, '😀😀😀…'],
  ['ab😀c', 3, 'ab😀…'],
])('shorten(%j, %d) returns %j', (text, max, due) => {
  expect(shorten(text, max)).toBe(due)
})

test('a text is shortened after whole characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, max) => {
      const characters = Array.from(text)
      expect(firstCharacters(text, max)).toBe(characters.slice(0, max).join(''))
      expect(shorten(text, max)).toBe(
        characters.length > max ? `${characters.slice(0, max).join('')}…` : text,
      )
    }),
  )
})
