import fc from 'fast-check'
import { formatList, parseList, correctedList } from '../../../server/query/list.ts'
import { seed } from '../../support/runs.ts'

/** Lists of values in an address, as in `state__in=SP,RJ`. */

test.each<[text: string, values: string[] | null]>([
  ['SP', ['SP']],
  ['SP,RJ', ['SP', 'RJ']],
  ['"a,b",c', ['a,b', 'c']],
  ['"say ""yes"""', ['say "yes"']],
  ['""', ['']],
  ['"",x', ['', 'x']],
  [' a , b', ['a', 'b']],
  [' "a " , " b"', ['a ', ' b']],
  ['a b, c', ['a b', 'c']],
  ['" "', [' ']],
  [' ', null],
  ['a, ', null],
  ['', null],
  ['a,', null],
  [',a', null],
  ['a,,b', null],
  ['a"b', null],
  ['"a"b', null],
  ['"a', null],
  ['"a""', null],
])('the list %j has the items %j', (text, values) => {
  expect(parseList(text)).toEqual(values)
})

test.each([[['[', ']']], [['(a', 'b)']], [['{', 'x', '}']]])(
  '%j is written as a list without brackets',
  (values) => {
    expect([parseList(formatList(values)), correctedList(formatList(values))]).toEqual([values, null])
  },
)

test('values that are written as a list are read as the same values', () => {
  const value = fc.oneof(fc.string(), fc.stringMatching(/^[",a ;()[\]]*$/))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      const text = formatList(values)
      expect([parseList(text), correctedList(text)]).toEqual([values, null])
    }),
    { seed },
  )
})

test.each<[text: string, meant: string | null]>([
  ['(SP,RJ)', 'SP,RJ'],
  ['[SP, RJ]', 'SP,RJ'],
  ["['SP', 'RJ']", 'SP,RJ'],
  ['["SP"]', 'SP'],
  ['{SP}', 'SP'],
  ['SP;RJ', 'SP,RJ'],
  ['[SP;RJ]', 'SP,RJ'],
  ['SP,RJ', null],
  ['SP (x)', null],
  ['"a;b",c', null],
  ['"(SP)"', null],
])('%j is probably meant as %j', (text, meant) => {
  expect(correctedList(text)).toBe(meant)
})
