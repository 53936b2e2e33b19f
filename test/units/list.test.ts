import fc from 'fast-check'
import { formatList, parseList } from '../../server/query/list.ts'
import { seed } from '../support/runs.ts'

/** Lists of values in an address, as in `state__in=SP,RJ`. */

test.each<[text: string, values: string[] | null]>([
  ['SP', ['SP']],
  ['SP,RJ', ['SP', 'RJ']],
  ['"a,b",c', ['a,b', 'c']],
  ['"say ""yes"""', ['say "yes"']],
  ['""', ['']],
  ['"",x', ['', 'x']],
  [' a , b', [' a ', ' b']],
  ['', null],
  ['a,', null],
  [',a', null],
  ['a,,b', null],
  ['a"b', null],
  ['"a"b', null],
  ['"a', null],
  ['"a""', null],
])('%j is %j', (text, values) => {
  expect(parseList(text)).toEqual(values)
})

test('values that are written as a list are read again', () => {
  const value = fc.oneof(fc.string(), fc.stringMatching(/^[",a ]*$/))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      expect(parseList(formatList(values))).toEqual(values)
    }),
    { seed },
  )
})
