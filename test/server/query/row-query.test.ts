import fc from 'fast-check'
import { allTables, type Table } from '../../../core/catalog/catalog.ts'
import {
  InvalidPage,
  InvalidQuery,
  MalformedQuery,
  QueryTooLong,
  type ParameterError,
} from '../../../server/query/errors.ts'
import { parseRowQuery, type RowQuery } from '../../../server/query/query.ts'
import { seed } from '../../support/runs.ts'
import { catalogAround, fieldOf } from '../../support/workshop.ts'

const [table] = allTables(
  catalogAround([
    {
      name: 't',
      order: ['day desc'],
      filters: ['city', 'day', 'n', 'is'],
      search: ['city'],
      fields: ['n:integer', 'city:string', 'day:date', 'is:bool', 'note:text'].map(fieldOf),
    },
  ]),
) as [Table]

const read = (query: string): RowQuery => parseRowQuery(table, `/rows/?${query}`)

/** The parameters in their normal form, as links to other pages have them. */
const normal = (query: string): string => new URLSearchParams([...read(query).parameters]).toString()

/** The key of conditions and a search, with parameters that choose no rows. */
const keyOfRows = (
  { conditions, search }: { conditions: string[]; search: string },
  further: string[],
): string => read([...further, search, ...conditions].filter((part) => part !== '').join('&')).key

const keysOf = (queries: readonly string[]): Set<string> => new Set(queries.map((query) => read(query).key))

function faultsOf(query: string): readonly ParameterError[] {
  try {
    read(query)
    return []
  } catch (error) {
    if (error instanceof InvalidQuery) return error.errors
    throw error
  }
}

describe('defaults:', () => {
  test('without parameters, the query is the first page of 1,000 rows, with all fields in alphabetical order', () => {
    const { page, pageSize, snapshot, format, fields, conditions, words, ordering } = read('')
    expect({ page, pageSize, snapshot, format, conditions, words, ordering }).toEqual({
      page: 1,
      pageSize: 1000,
      snapshot: null,
      format: undefined,
      conditions: [],
      words: [],
      ordering: [],
    })
    expect(fields.map(({ name }) => name)).toEqual(['city', 'day', 'is', 'n', 'note'])
  })

  test.each(['city=', 'page=', 'search=&ordering=&n__gt='])('empty values are ignored: %s', (query) => {
    expect(read(query)).toEqual(read(''))
  })
})

describe('the normal form', () => {
  test.each<[rule: string, query: string, form: string]>([
    ['eq is the field itself', 'city__eq=A', 'city=A'],
    ['values in their own spelling', 'n=007&is=1', 'n=7&is=true'],
    ['a day by the day, as Brazilians write it', 'day=12/06/2020', 'day=2020-06-12'],
    ['values of a list sorted, each once', 'city__in=b,a,b', 'city__in=a%2Cb'],
    ['a value with a comma stays in quotes', 'city__in=%22a,b%22', 'city__in=%22a%2Cb%22'],
    ['the ends of a range as given', 'n__range=9,1', 'n__range=9%2C1'],
    ['words in their order, each once', 'search=b+a++b', 'search=b+a'],
    ['words between any signs', 'search=c/b-a_d|e;f', 'search=c+b+a+d+e+f'],
    ['a phrase with such signs', 'search=%22b-a%22', 'search=%22b-a%22'],
    ['points and apostrophes within words', "search=d'oeste+s.a.", 'search=d%27oeste+s.a'],
    ['two quotes are the empty text', 'city__gte=%22%22', 'city__gte=%22%22'],
    ['None is the null of the API before', 'city=None', 'city__isnull=true'],
    ['the text None keeps its operator', 'city__eq=None', 'city__eq=None'],
    ['an alias gets the name', 'order-by=-day,city', 'ordering=-day%2Ccity'],
    ['the default page size is left out', 'page_size=1000', ''],
    ['another page size stays', 'page_size=10', 'page_size=10'],
    ['all fields are left out', 'fields=n,city,day,is,note', ''],
    ['fields in the given order, each once', 'fields=n,city,n', 'fields=n%2Ccity'],
    ['all fields in another order stay', 'fields=note,n,city,day,is', 'fields=note%2Cn%2Ccity%2Cday%2Cis'],
    ['the page is no part of it', 'page=3&n=1', 'n=1'],
    ['plus and %20 are one blank', 'city=a+b%20c', 'city=a+b+c'],
  ])('follows the rule "%s" for the query %s', (_rule, query, form) => {
    expect(normal(query)).toBe(form)
  })

  test('gives equal filters equal cache keys, and different filters different cache keys', () => {
    const same = [
      'city=A&n__gt=1',
      'n__gt=1&city=A',
      'n__gt=01&city__eq=A&page=7&page_size=5&fields=n&ordering=n',
    ]
    const others = [
      'city=A',
      'city=A&n__gte=1',
      'city=A&n__gt=2',
      'city=a&n__gt=1',
      'search=A&n__gt=1',
      'city__ne=A&n__gt=1',
    ]
    expect(keysOf(same).size).toBe(1)
    expect(keysOf([...same, ...others]).size).toBe(1 + others.length)
  })

  test('gives two queries the same key only if they select the same rows', () => {
    const chosen = fc.record({
      conditions: fc.subarray(['city=A', 'n__gte=1', 'is=true']),
      search: fc.constantFrom('', 'search=x', 'search=y', 'search=x+y'),
    })
    const shown = fc.subarray(['page=2', 'page_size=7', 'format=csv', 'fields=n', 'ordering=-n'])
    fc.assert(
      fc.property(chosen, chosen, shown, shown, (first, second, longer, less) => {
        expect(keyOfRows(first, longer)).toBe(keyOfRows(first, less))
        expect(keyOfRows(first, longer) === keyOfRows(second, less)).toBe(
          JSON.stringify(first) === JSON.stringify(second),
        )
      }),
      { seed, numRuns: 300 },
    )
  })

  test('parses to the same query', () => {
    const condition = fc.constantFrom(
      'city=A',
      'city__ne=%22',
      'city__in=a,%22b,c%22',
      'n__gte=-5',
      'n__range=1,9',
      'day__lt=2020-02-29',
      'is=true',
      'city__contains=%C3%A3',
      'city__isnull=false',
    )
    const otherParts = fc.constantFrom(
      'page_size=7',
      'snapshot=current',
      'format=csv',
      'fields=n,day',
      'ordering=-n,city',
      'search=x+y',
    )
    const queries = fc.tuple(
      fc.uniqueArray(condition, { maxLength: 5 }),
      fc.uniqueArray(otherParts, { maxLength: 4 }),
    )
    fc.assert(
      fc.property(queries, ([conditions, others]) => {
        const query = [...conditions, ...others].join('&')
        expect(normal(normal(query))).toBe(normal(query))
        expect(read(normal(query))).toEqual(read(query))
        expect(read([...others, ...conditions.toReversed()].join('&')).key).toBe(read(query).key)
      }),
      { seed, numRuns: 100 },
    )
  })
})

describe('faults of queries:', () => {
  test.each<[query: string, parameter: string, says: RegExp]>([
    ['city=a&city=b', 'city', /appears twice/],
    ['city=a&city__eq=a', 'city__eq', /repeats a condition/],
    ['n=1.5', 'n', /must be/],
    ['n=9223372036854775808', 'n', /must be/],
    ['day=2021-02-29', 'day', /must be/],
    ['is=perhaps', 'is', /must be/],
    ['note=a', 'note', /is not a filter/],
    ['n__contains=1', 'n__contains', /has no operator "contains", since its type is integer/],
    ['n__gtx=1', 'n__gtx', /has no operator "gtx"/],
    ['citi=a', 'citi', /did you mean "city"/],
    ['n>5', 'n>5', /n__gt=5/],
    ['n__range=1', 'n__range', /two values/],
    ['n__in=1,,2', 'n__in', /values separated by commas/],
    [`n__in=${Array.from({ length: 501 }, (_, n) => n).join()}`, 'n__in', /more than 500 values/],
    ['page_size=0', 'page_size', /from 1 to 10000/],
    ['page_size=10001', 'page_size', /from 1 to 10000/],
    ['page_size=1e3', 'page_size', /from 1 to 10000/],
    ['snapshot=newest', 'snapshot', /"current" or the id/],
    ['fields=n,x', 'fields', /names "x", which is not a field/],
    ['ordering=x', 'ordering', /names "x", which is not a field/],
    ['ordering=n,-n', 'ordering', /names the field "n" twice/],
    ['ordering=n&order-by=n', 'order-by', /mean the same/],
    [`search=${Array.from({ length: 11 }, (_, n) => `w${n}`).join('+')}`, 'search', /more than 10 words/],
    ['search=%CC%81', 'search', /letters or digits/],
    [`search=${'a'.repeat(600)}-${'b'.repeat(600)}`, 'search', /at most 1000 characters in all/],
  ])('the query %s names the parameter %s and the reason', (query, parameter, says) => {
    expect(faultsOf(query)).toMatchObject([{ parameter, message: expect.stringMatching(says) }])
  })

  test('all wrong parameters are named, not only the first one', () => {
    const faults = faultsOf('n=x&day=y&page_size=0')
    expect(faults.map(({ parameter }) => parameter)).toEqual(['n', 'day', 'page_size'])
  })

  test.each(['0', '-1', '1.5', 'x', '9999999999999999'])('the page %s is refused', (page) => {
    expect(() => read(`page=${page}`)).toThrow(InvalidPage)
  })

  test.each<[text: string, page: number | 'last']>([
    ['1', 1],
    ['007', 7],
    ['%2B2', 2],
    ['last', 'last'],
  ])('the page %s is accepted', (text, page) => {
    expect(read(`page=${text}`).page).toBe(page)
  })

  test('a broken escape and parameters too long for a link are refused', () => {
    expect(() => read('city=%')).toThrow(MalformedQuery)
    expect(() =>
      read(`city=${encodeURIComponent('é'.repeat(900))}&city__ne=${encodeURIComponent('é'.repeat(500))}`),
    ).toThrow(QueryTooLong)
  })
})
