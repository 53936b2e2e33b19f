import request from 'supertest'
import { rowFormats } from '../../../server/formats/registry.ts'
import { serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Every fault of a query is a 400 that names the parameter; nothing is ignored, and nothing breaks. */

const address = '/api/v1/dataset/d/t/data/'
let service: Service

beforeAll(async () => {
  const fields = [
    's:string',
    'w:text',
    'n:integer',
    'x:float',
    'v:decimal:9:2',
    'b:bool',
    'd:date',
    'm:datetime',
  ]
  const catalog = catalogAround([
    {
      name: 't',
      order: ['n asc'],
      filters: ['s', 'w', 'n', 'x', 'v', 'b', 'd', 'm'],
      search: ['s'],
      fields: [...fields, 'hidden:string', 'page:integer'].map(fieldOf),
    },
    { name: 'mute', order: [], filters: [], search: [], fields: ['n:integer'].map(fieldOf) },
  ])
  const head = 's,w,n,x,v,b,d,m,hidden,page\n'
  const shop = await workshop(catalog, {
    'd/t.csv': `${head}São,a b,1,0.5,1.25,true,2020-02-29,2020-02-29 10:00:00,h,7\n,,2,,,,,,,\n`,
    'd/mute.csv': 'n\n1\n',
  })
  await shop.ingest()
  service = await serve(shop)
})

const long = 'x'.repeat(1001)
const no = ['abc', '1.5', '1e3', '0x10', '', ' 1', '--1', '1,5', '9223372036854775808', 'NaN', 'null']
const numbers = ['abc', '1,5', '0x10', 'NaN', 'Infinity', '-', '.', '1e', '1e999', '١', '1_0']
const decimals = ['abc', '1.255', '10000000.00', '1e2', '1,25', '.', '-', '12345678', 'NaN']
const booleans = ['yes', 'no', 't', 'f', 'sim', '2', '-1', 'verdadeiro', 'null', 'truee']
const dates = [
  '2020-02-30',
  '2019-02-29',
  '20200229',
  '2020/02/09',
  '1/2/20',
  '2020-00',
  '13/2020',
  '2020-01-01T00:00:00Z',
  '2020-01-01T12:00:00',
  '2020-01 00:00',
  '29-02-2020',
  '31/04/2020',
  '2020-13-01',
  'today',
  '0000-00-00',
]
const times = [
  '2020-02-30 10:00:00',
  '2020-02-29 25:00:00',
  '2020-02-29 10:60:00',
  '2020-02-29T10',
  '2020-02-29 10:00:00Z',
  '2020-02-29T10:00:00-03:00',
  '10:00:00',
  '2020-02-29 10:00:00.1234567',
  'now',
  '2020-02-29 24:00:00',
]
const comparisons = ['', '__eq', '__ne', '__gt', '__lte']

const of = (parameter: string, texts: readonly string[]): [string, string][] =>
  texts.filter((text) => text !== '').map((text) => [parameter, text])

const cases: readonly [parameter: string, text: string][] = [
  // Values that are not of the field's type, with every comparison.
  ...comparisons.flatMap((end) => of(`n${end}`, no.slice(0, 6))),
  ...of('n', no),
  ...of('x', numbers),
  ...of('x__gte', numbers),
  ...of('v', decimals),
  ...of('v__lt', decimals),
  ...of('b', booleans),
  ...of('b__ne', booleans.slice(0, 4)),
  ...of('d', dates),
  ...of('d__gt', dates.slice(0, 6)),
  ...of('m', times),
  ...of('m__range', times.map((time) => `${time},2020-03-01`).slice(0, 6)),
  ...of('s', [long, 'a\0b']),
  ...of('s__contains', [long, 'a\0', '\u0301', '\u0301\u0302']),
  ...of('s__startswith', [long, '\u0301']),
  // Lists and ranges.
  ...of('n__in', [
    '1,',
    ',1',
    '1,,2',
    '1;2',
    '1,abc',
    '"1',
    '1"',
    '[1,2]',
    '(1)',
    '1, ',
    Array.from({ length: 501 }, (_, n) => n).join(),
  ]),
  ...of('s__in', ['(a,b)', "['a']", 'a;b', '"a', 'a"b', '"a"b', 'a,,b', ',', '"a",', `a,${long}`]),
  ...of('n__range', ['1', '1,2,3', '1,', ',2', 'a,b', '1-2']),
  ...of('d__range', ['2020-01-01', '2020-01-01,2020-02-30', '2020-01-01 2020-02-01']),
  ...of('b__in', ['true,maybe', 'yes']),
  ...of('n__isnull', ['null', 'yes', '2', 'None', 'constructor', '__proto__', 'toString']),
  // Operators that there are not, or not for the type.
  ...['foo', 'like', 'icontains', 'exact', 'not', 'gt_', 'GT', 'in_', '', 'regex', 'sounds', 'year'].map(
    (operator): [string, string] => [`s__${operator}`, 'a'],
  ),
  ...['contains', 'startswith'].flatMap((operator) =>
    ['n', 'x', 'v', 'b', 'd', 'm'].map((field): [string, string] => [`${field}__${operator}`, '1']),
  ),
  ...['gt', 'gte', 'lt', 'lte', 'range'].map((operator): [string, string] => [`b__${operator}`, 'true']),
  // Fields that there are not, or that may not be filtered by.
  ...[
    'S',
    'nn',
    'state',
    'limit',
    'offset',
    'q',
    '_',
    'n__',
    '__in',
    '__proto__',
    'constructor',
    'n[]',
    'n.eq',
    'pagesize',
    'order_by',
    'Page',
    'page[]',
    'n__in__in',
    's__contains__x',
    'sort',
    'select',
    "n'--",
  ].map((name): [string, string] => [name, '1']),
  ...['hidden', 'hidden__eq', 'hidden__in', 'hidden__isnull', 'page__eq', 'page__gt'].map(
    (name): [string, string] => [name, 'true'],
  ),
  // Orders and fields.
  ...of('ordering', [
    'nn',
    '-nn',
    'n,',
    ',n',
    'n,n',
    'n,-n',
    '--n',
    'n desc',
    'n;s',
    '"n',
    '-',
    'random()',
    'N',
  ]),
  ...of('order-by', ['nn', '-hiden', 'n,n', '1']),
  ...of('fields', ['nn', 'n,', 'n,,s', 'n;s', '*', '"n', 'N', 'n,hiden']),
  ...of('search', ['\u0301', 'a\0', long, 'a b c d e f g h i j k']),
  // The rest.
  ...of('page_size', ['0', '-1', '10001', 'abc', '1.5', '1e3', '+5', ' 5', '99999999']),
  ...of('snapshot', ['latest', '20200101', 'current ', '../x', '20260102T030405Z-xyz']),
  ...of('format', ['xml', 'CSV', 'api', 'xls', 'parquet', 'jsonl', 'json ']),
]

test('more than 250 different bad queries are tested', () => {
  expect(new Set(cases.map(([parameter, text]) => `${parameter}=${text}`)).size).toBeGreaterThan(250)
})

test.each(cases)('%s=%.40s is a 400 that names the parameter', async (parameter, text) => {
  const query = new URLSearchParams([[parameter, text]])
  for (const path of [address, '/api/dataset/d/t/data']) {
    const { status, body } = await request(service.app).get(`${path}?${query.toString()}`)
    const { type, detail, errors } = body as { type: string; detail: string; errors: { parameter: string }[] }
    expect({ status, type, named: errors.map((error) => error.parameter) }).toEqual({
      status: 400,
      type: 'urn:acervo:problem:invalid-parameter',
      named: [parameter],
    })
    expect(detail).toContain(parameter.replace(/(?<=.)__\w*$/, ''))
    // The message has a bounded length.
    expect(detail.length).toBeLessThan(1000)
  }
})

/** Returns the message for a table without filters, search and order. */
async function saidOf(query: string): Promise<string> {
  const { body } = await request(service.app).get(`/api/v1/dataset/d/mute/data/?${query}`).expect(400)
  return (body as { detail: string }).detail
}

describe('several faults at once:', () => {
  test.each<[query: string, named: string[]]>([
    ['n=a&x=b&foo=1&ordering=zz', ['n', 'x', 'foo', 'ordering']],
    ['n=1&n=2', ['n']],
    ['n=1&n__eq=2', ['n__eq']],
    ['s=None&s__isnull=false', ['s__isnull']],
    ['ordering=n&order-by=s', ['order-by']],
    ['page_size=0&snapshot=x&search=%CC%81', ['page_size', 'snapshot', 'search']],
  ])('the query %s names all its faults', async (query, named) => {
    const { body } = await request(service.app).get(`${address}?${query}`).expect(400)
    const { errors } = body as { errors: { parameter: string }[] }
    expect(errors.map(({ parameter }) => parameter).toSorted()).toEqual(named.toSorted())
  })

  test('a query with more conditions than allowed is refused', async () => {
    const texts = ['s', 'w'].flatMap((name) =>
      ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains', 'startswith'].map(
        (operator) => `${name}__${operator}=a`,
      ),
    )
    const counts = ['n', 'x'].flatMap((name) =>
      ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in'].map((operator) => `${name}__${operator}=1`),
    )
    const parameters = [...texts, ...counts]
    expect((await request(service.app).get(`${address}?${parameters.slice(0, 30).join('&')}`)).status).toBe(
      200,
    )
    const { body } = await request(service.app)
      .get(`${address}?${parameters.join('&')}`)
      .expect(400)
    expect((body as { detail: string }).detail).toContain('There are more than 30 conditions.')
  })

  test('a table without filters says so', async () => {
    expect(await saidOf('n=1')).toBe('The field "n" of d/mute is not a filter; filters: none.')
    expect(await saidOf('search=a')).toBe('The table d/mute has no fields to search.')
  })
})

test.each<[query: string, sentence: string]>([
  ['stat=1', 'There is no parameter "stat" here'],
  ['d<2020-05-01', 'Write a condition with its operator: d__lt=2020-05-01'],
  ['d%3E%3D2020-05-01', 'Write a condition with its operator: d__gte=2020-05-01'],
  ['d<=2020-05-01', 'Write a condition with its operator: d__lte=2020-05-01'],
  ['n!=7', 'Write a condition with its operator: n__ne=7'],
  ['n<', 'There is no parameter "n<" here'],
  ['zz>1', 'There is no parameter "zz>1" here'],
  ['dd=1', 'There is no parameter "dd" here (did you mean "d"?)'],
  ['page_sise=1', '(did you mean "page_size"?)'],
  [
    's__contain=a',
    'The field "s" has no operator "contain" (did you mean "contains"?); its operators: eq, ne',
  ],
  ['n__contains=1', 'The field "n" has no operator "contains", since its type is integer; its operators: eq'],
  ['ordering=hiden', '"hiden", which is not a field (did you mean "hidden"?); fields: '],
  ['fields=hiden', '"hiden", which is not a field (did you mean "hidden"?); fields: '],
  [
    'format=ndjsn',
    `must be one of: ${rowFormats.map(({ name }) => name).join(', ')} (did you mean "ndjson"?)`,
  ],
  ['n=abc', 'The parameter "n__eq" must be a whole number of 64 bits, digits only, such as 1200 or -7.'],
])('%s is refused with a message that helps to correct it', async (query, sentence) => {
  const { body } = await request(service.app).get(`${address}?${query}`).expect(400)
  expect((body as { detail: string }).detail).toContain(sentence)
})

test('every field of a web form may stay empty', async () => {
  const names = [
    's',
    'w',
    'n',
    'x',
    'v',
    'b',
    'd',
    'm',
    'hidden',
    'search',
    'ordering',
    'order-by',
    'fields',
    'page',
    'page_size',
    'snapshot',
    'format',
    's__contains',
    'n__gte',
    'd__range',
    'b__isnull',
  ]
  const { body, headers } = await request(service.app)
    .get(`${address}?${names.map((name) => `${name}=`).join('&')}`)
    .expect(200)
  expect((body as { count: number }).count).toBe(2)
  expect(headers['etag']).toBe((await request(service.app).get(address)).headers['etag'])
})
