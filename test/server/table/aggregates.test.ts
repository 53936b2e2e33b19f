import { gzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import request from 'supertest'
import { DoubleSum, roundedQuotient } from '../../../server/table/groups/exact.ts'
import { nearestDouble, unitsOf } from '../../evaluator/aggregates.ts'
import { isQuick, seed } from '../../support/runs.ts'
import { jsonAt, rawGet, serve, tagOf, textAt } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

const address = '/api/v1/dataset/d/t/aggregate/'
const huge = '99999999999999999999999999999999999.99'
const rows = [
  'SP,2020-05-01,10,1.50,1e308,2020-05-01T10:00:00,a b,true',
  'SP,2020-05-02,20,,1e308,2020-05-01T23:00:00,,false',
  'SP,2020-06-01,,2.25,-1e308,,"q""x, y",true',
  `RJ,2020-06-01,9223372036854775807,${huge},0.1,2021-01-03T00:00:00,é,`,
  `RJ,2020-06-30,9223372036854775807,${huge},1e-320,2021-01-04T00:00:00,e,`,
  ',,1,-0.01,-1e308,,=1+1,false',
]
const table = {
  name: 't',
  order: ['state asc'],
  filters: ['state', 'day', 'n', 'money', 'x', 'at', 'is'],
  search: ['text'],
  fields: [
    fieldOf('state:string'),
    fieldOf('day:date'),
    fieldOf('n:integer'),
    { name: 'money', type: 'decimal', precision: 38, scale: 2 },
    fieldOf('x:float'),
    fieldOf('at:datetime'),
    fieldOf('text:string'),
    fieldOf('is:bool'),
  ],
}

let shop: Workshop
beforeAll(async () => {
  shop = await workshop(catalogAround([table]))
  await shop.write('d/t.csv.gz', gzipSync(`state,day,n,money,x,at,text,is\n${rows.join('\n')}\n`))
  await shop.ingest({ partRows: 128 })
})

const engines = [
  ['codes', {}],
  ['DuckDB', { codesBytesMax: 0 }],
] as const

/** Answers of a query without its links, by engine. */
async function answersOf(query: string): Promise<string[]> {
  const texts = []
  for (const [, options] of engines) {
    const { app } = await serve(shop, options)
    texts.push((await textAt(app, address + query)).replace(/"next":null,"previous":null,/, ''))
  }
  return texts
}

const measured: [query: string, answer: string][] = [
  ['', '{"count":1,"rows":6,"results":[{"rows":6}]}'],
  [
    '?group=state,day__month&measure=rows,n__sum,n__avg&ordering=-rows,day__month',
    '{"count":4,"rows":6,"results":[{"day__month":"2020-05","n__avg":15,"n__sum":30,"rows":2,"state":"SP"},' +
      '{"day__month":"2020-06","n__avg":9223372036854775807,"n__sum":18446744073709551614,"rows":2,"state":"RJ"},' +
      '{"day__month":"2020-06","n__avg":null,"n__sum":null,"rows":1,"state":"SP"},' +
      '{"day__month":null,"n__avg":1,"n__sum":1,"rows":1,"state":null}]}',
  ],
  [
    '?measure=money__sum,money__avg,money__median,money__count,money__distinct,money__min,money__max',
    '{"count":1,"rows":6,"results":[{"money__avg":40000000000000000000000000000000000.744,"money__count":5,"money__distinct":4,' +
      `"money__max":${huge},"money__median":2.25,"money__min":-0.01,"money__sum":200000000000000000000000000000000003.72}]}`,
  ],
  // Rows in any order give the same sum, though it exceeds the greatest double on the way.
  ['?measure=x__sum,x__avg', '{"count":1,"rows":6,"results":[{"x__avg":0.016666666666666666,"x__sum":0.1}]}'],
  ['?group=state&measure=x__sum&state=SP', '{"count":1,"rows":3,"results":[{"state":"SP","x__sum":1e+308}]}'],
  [
    '?measure=n__median,text__min,at__max,is__min',
    '{"count":1,"rows":6,"results":[{"at__max":"2021-01-04T00:00:00","is__min":false,"n__median":20,"text__min":"=1+1"}]}',
  ],
  [
    '?group=is&measure=rows,text__max',
    '{"count":3,"rows":6,"results":[{"is":false,"rows":2,"text__max":"=1+1"},{"is":true,"rows":2,"text__max":"q\\"x, y"},{"is":null,"rows":2,"text__max":"é"}]}',
  ],
  [
    '?group=at__week&measure=rows&ordering=-at__week',
    '{"count":4,"rows":6,"results":[{"at__week":"2021-W01","rows":1},{"at__week":"2020-W53","rows":1},{"at__week":"2020-W18","rows":2},{"at__week":null,"rows":2}]}',
  ],
  [
    '?group=state&rows__gte=2&measure=rows,n__sum&n__sum__ne=30',
    '{"count":1,"rows":6,"results":[{"n__sum":18446744073709551614,"rows":2,"state":"RJ"}]}',
  ],
  ['?group=state&measure=n__sum&n__sum=None', '{"count":0,"rows":6,"results":[]}'],
  [
    '?group=state,day__month&measure=n__sum&n__sum=None',
    '{"count":1,"rows":6,"results":[{"day__month":"2020-06","n__sum":null,"state":"SP"}]}',
  ],
  [
    '?group=state&measure=day__max&day__max=2020-06',
    '{"count":2,"rows":6,"results":[{"day__max":"2020-06-30","state":"RJ"},{"day__max":"2020-06-01","state":"SP"}]}',
  ],
  ['?measure=n__median&state=SP', '{"count":1,"rows":3,"results":[{"n__median":15}]}'],
  [
    '?group=day__weekday',
    '{"count":5,"rows":6,"results":[{"day__weekday":1,"rows":2},{"day__weekday":2,"rows":1},{"day__weekday":5,"rows":1},{"day__weekday":6,"rows":1},{"day__weekday":null,"rows":1}]}',
  ],
  // Without rows there is no group; without terms there is always one.
  ['?group=state&state=XX', '{"count":0,"rows":0,"results":[]}'],
  [
    '?state=XX&measure=rows,n__sum,n__avg,n__median,text__max,n__distinct,x__sum',
    '{"count":1,"rows":0,"results":[{"n__avg":null,"n__distinct":0,"n__median":null,"n__sum":null,"rows":0,"text__max":null,"x__sum":null}]}',
  ],
  ['?group=state&search=q', '{"count":1,"rows":1,"results":[{"rows":1,"state":"SP"}]}'],
  [
    '?group[]=state&group[]=is&state=SP',
    '{"count":2,"rows":3,"results":[{"is":false,"rows":1,"state":"SP"},{"is":true,"rows":2,"state":"SP"}]}',
  ],
]

test.each(measured)('the query %s has the groups of its rows', async (query, answer) => {
  expect(await answersOf(query)).toEqual([answer, answer])
})

const detailOf = ({ body }: { readonly body: unknown }): unknown =>
  (body as { readonly detail?: unknown }).detail

const refused: [query: string, messages: string[]][] = [
  [
    '?group=stat',
    [
      'The parameter "group" names "stat", which is not a field (did you mean "state"?); fields: state, day, n, money, x, at, text, is; dates have parts: year, quarter, month, week, day, weekday.',
    ],
  ],
  [
    '?group=day__moth',
    [
      'The parameter "group" names "day__moth", which is not a field (did you mean "day__month"?); its parts are day__year, day__quarter, day__month, day__week, day__day, day__weekday.',
    ],
  ],
  [
    '?group=state__month',
    [
      'The parameter "group" names "state__month", which is not a field; "state" has no parts, since it has no dates.',
    ],
  ],
  ['?group=state,state', ['The parameter "group" names "state" twice.']],
  ['?group=state,day,n,money,x', ['The parameter "group" names more than 4.']],
  ['?group=state,,day', ['The parameter "group" must be names separated by commas.']],
  [
    '?measure=n_sum',
    [
      'The parameter "measure" names "n_sum", which is not a measure (did you mean "n__sum"?); measures are rows and <field>__<function>.',
    ],
  ],
  [
    '?measure=n',
    [
      'The parameter "measure" names the field "n" without a function; its measures are n__count, n__distinct, n__min, n__max, n__sum, n__avg, n__median.',
    ],
  ],
  [
    '?measure=state__sum',
    [
      'The parameter "measure" names "state__sum", but the field "state" of type string has no such function (did you mean "state__min"?); its measures are state__count, state__distinct, state__min, state__max.',
    ],
  ],
  ['?measure=rows,rows', ['The parameter "measure" names "rows" twice.']],
  [
    '?group=state&n__sum__gt=1',
    ['The condition on "n__sum" needs the measure: add it to the parameter "measure".'],
  ],
  [
    '?group=state&rows__over=1',
    ['The measure "rows" has no operator "over"; its operators: eq, ne, gt, gte, lt, lte, range.'],
  ],
  [
    '?group=state&rows__gt=many',
    ['The parameter "rows__gt" must be a whole number of 64 bits, digits only, such as 1200 or -7.'],
  ],
  ['?group=state&rows=1&rows__eq=2', ['The parameter "rows__eq" repeats a condition: remove it.']],
  [
    '?group=state&ordering=day',
    ['The parameter "ordering" names "day", which is not in the answer; it has state, rows.'],
  ],
  ['?group=state&ordering=state,-state', ['The parameter "ordering" names the field "state" twice.']],
  [
    '?group=state&ordering=state&order-by=rows',
    ['The parameters "ordering" and "order-by" mean the same: use one of them.'],
  ],
  [
    '?fields=state',
    [
      'There is no parameter "fields" here; known: group, measure, page, page_size, snapshot, format, search, ordering, order-by, state, day, n, money, x, at, is.',
    ],
  ],
  [
    '?group=a&measure=b&text=4',
    [
      'The field "text" of d/t is not a filter; filters: state, day, n, money, x, at, is.',
      'The parameter "group" names "a", which is not a field (did you mean "n"?); fields: state, day, n, money, x, at, text, is; dates have parts: year, quarter, month, week, day, weekday.',
      'The parameter "measure" names "b", which is not a measure; measures are rows and <field>__<function>.',
    ],
  ],
]

test.each(refused)('%s is refused', async (query, messages) => {
  const { app } = await serve(shop)
  const { status, body } = await request(app).get(address + query)
  const { errors } = body as { readonly errors: readonly { readonly message: string }[] }
  expect([status, errors.map(({ message }) => message)]).toEqual([400, messages])
})

test('a name that both a field and a measure have means the field', async () => {
  const fields = ['rows:integer', 'n:integer', 'n__sum:integer'].map(fieldOf)
  const odd = await workshop(
    catalogAround([{ name: 't', order: ['n asc'], filters: ['rows', 'n__sum'], fields }]),
  )
  await odd.write('d/t.csv.gz', gzipSync('rows,n,n__sum\n5,1,7\n6,2,7\n'))
  await odd.ingest()
  const { app } = await serve(odd)
  expect(await jsonAt(app, `${address}?group=rows&n__sum=7&rows=5&measure=_rows,n__max`)).toMatchObject({
    results: [{ _rows: 1, n__max: 1, rows: 5 }],
  })
  const messageOf = async (query: string): Promise<unknown> =>
    detailOf(
      await request(app)
        .get(address + query)
        .expect(400),
    )
  expect(await messageOf('?measure=rows')).toBe(
    'The parameter "measure" names "rows", which is a field; the number of rows is "_rows", and measures of the field are rows__count, rows__distinct, rows__min, rows__max, rows__sum, rows__avg, rows__median.',
  )
  expect(await messageOf('?measure=n__sum')).toBe(
    'The parameter "measure" names "n__sum", which is a field; its measures are n__sum__count, n__sum__distinct, n__sum__min, n__sum__max, n__sum__sum, n__sum__avg, n__sum__median.',
  )
})

const question = '?group=state&measure=n__sum,money__avg,text__max,day__max&state__isnull=false'
const texts: [format: string, type: string, text: string][] = [
  [
    'csv',
    'text/csv; charset=utf-8; header=present',
    `state,n__sum,money__avg,text__max,day__max\nRJ,18446744073709551614,${huge},é,2020-06-30\nSP,30,1.875,"q""x, y",2020-06-01\n`,
  ],
  [
    'csv-excel',
    'text/csv; charset=utf-8; header=present',
    `\ufeffstate;n__sum;money__avg;text__max;day__max\r\nRJ;18446744073709551614;${huge.replace('.', ',')};é;2020-06-30\r\nSP;30;1,875;"q""x, y";2020-06-01\r\n`,
  ],
  [
    'ndjson',
    'application/x-ndjson',
    `{"day__max":"2020-06-30","money__avg":${huge},"n__sum":18446744073709551614,"state":"RJ","text__max":"é"}\n{"day__max":"2020-06-01","money__avg":1.875,"n__sum":30,"state":"SP","text__max":"q\\"x, y"}\n`,
  ],
]

test.each(texts)('groups in the format %s are the expected text', async (format, type, text) => {
  const { app } = await serve(shop)
  const { headers, body } = await rawGet(app, `${address}${question}&format=${format}`)
  expect([headers['content-type'], headers['acervo-count'], headers['acervo-rows'], body.toString()]).toEqual(
    [type, '2', '5', text],
  )
})

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

test('groups in Arrow have typed columns', async () => {
  const { app } = await serve(shop)
  const query =
    '?group=state,day,at__year&measure=n__sum,n__avg,x__max,at__min,is__max,rows&day__month=2020-05&format=arrow'
  const arrow = tableFromIPC((await rawGet(app, address + query)).body)
  expect(arrow.schema.fields.map(({ name, type }) => `${name}: ${String(type)}`)).toEqual([
    'at__min: Timestamp<MICROSECOND>',
    'at__year: Int64',
    'day: Date32<DAY>',
    'is__max: Bool',
    'n__avg: Decimal[38e+6]',
    'n__sum: Decimal[38e0]',
    'rows: Int64',
    'state: Utf8',
    'x__max: Float64',
  ])
  expect(JSON.parse(JSON.stringify(arrow.toArray(), plain))).toEqual([
    {
      at__min: Date.parse('2020-05-01T10:00:00Z'),
      at__year: 2020,
      day: Date.parse('2020-05-01'),
      is__max: true,
      n__avg: '"10000000"',
      n__sum: '"10"',
      rows: 1,
      state: 'SP',
      x__max: 1e308,
    },
    {
      at__min: Date.parse('2020-05-01T23:00:00Z'),
      at__year: 2020,
      day: Date.parse('2020-05-02'),
      is__max: false,
      n__avg: '"20000000"',
      n__sum: '"20"',
      rows: 1,
      state: 'SP',
      x__max: 1e308,
    },
  ])
  const none = tableFromIPC((await rawGet(app, `${address}?group=state&state=XX&format=arrow`)).body)
  expect([none.numRows, none.schema.fields.length]).toEqual([0, 2])
  // 10 ** 38 has 39 digits.
  const { status, text } = await request(app).get(`${address}?measure=money__avg&format=arrow`)
  expect([status, text]).toEqual([
    400,
    expect.stringContaining('which Arrow cannot represent: request another format.'),
  ])
})

test('pages of groups have the links, ETags and pinned snapshots of pages of rows', async () => {
  const { app } = await serve(shop)
  const first = await jsonAt(app, `${address}?group=state&page_size=2&snapshot=current`)
  const next = String(first['next'])
  expect(next).toMatch(/aggregate\/\?group=state&page=2&page_size=2&snapshot=2/)
  const { pathname, search } = new URL(next)
  expect(await jsonAt(app, pathname + search)).toMatchObject({
    count: 3,
    rows: 6,
    next: null,
    results: [{ rows: 1, state: null }],
  })
  await request(app).get(`${address}?group=state&page=4`).expect(404)
  await request(app).get(address.slice(0, -1)).expect(301)
  const query = '?measure=x__sum,n__avg&group=day'
  const tags = await Promise.all(
    engines.map(async ([, options]) => tagOf((await serve(shop, options)).app, address + query)),
  )
  expect(new Set(tags).size).toBe(1)
  const bodies = await answersOf(query)
  expect(new Set(bodies).size).toBe(1)
  const again = await rawGet(app, address + query, { 'If-None-Match': tags[0] ?? '' })
  expect([again.status, again.headers['acervo-snapshot']]).toEqual([304, expect.any(String)])
  await request(app).get(`${address}?group=state&snapshot=20200101T000000Z-000000000000`).expect(410)
  const head = await request(app).head(`${address}?group=state`).expect(200)
  expect(head.headers['acervo-count']).toBe('3')
  await request(app).post(address).expect(405)
})

test('an operand without rows gives a hint', async () => {
  const { app } = await serve(shop)
  const { headers } = await rawGet(app, `${address}?group=day&state=sp`)
  expect(headers['acervo-hint']).toBe('state: "sp" is not a value; nearest "SP"; try state__iexact')
})

test('groups of a field with codes are counted without an SQL statement; without codes, one statement serves all pages', async () => {
  const { app, scans } = await serve(shop)
  await textAt(app, `${address}?group=state&day__month=2020-06`)
  expect(scans.statements).toBe(0)
  const uncoded = await serve(shop, { codesBytesMax: 0 })
  for (const suffix of ['', '&ordering=-rows', '&page=2', '&rows__gt=1'])
    await textAt(uncoded.app, `${address}?group=state&page_size=1${suffix}`)
  expect(uncoded.scans.statements).toBe(1)
})

test('groups that may need too much memory are refused before a statement runs', async () => {
  const { app, scans } = await serve(shop, { groupBytesMax: 300, codesBytesMax: 0 })
  const { status, body } = await request(app).get(`${address}?group=n&measure=rows&page_size=1&rows__gt=1`)
  expect([status, scans.statements]).toEqual([422, 0])
  expect(body).toMatchObject({
    detail:
      'There may be 5 groups, which need more memory than a query may use: add a condition, or group by fewer or coarser terms. The member "sql" asks the same of the public files, with DuckDB.',
    groups_estimate: 5,
    cost: 1,
    sql: expect.stringMatching(
      /^INSTALL httpfs; LOAD httpfs; SELECT "n" as "n", count\(\*\) as "rows" FROM read_parquet\(\['http.*part-00000\.parquet'\]\) GROUP BY 1 HAVING "rows" > 1 ORDER BY "n" asc nulls last$/,
    ),
  })
  // One row matches, so there is one group at most.
  expect(await jsonAt(app, `${address}?group=n&state=None`)).toMatchObject({ count: 1 })
})

test('sums and quotients of doubles are rounded to the nearest double', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(
      fc.array(double, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 1_000_000 }),
      (numbers, divisor) => {
        const sum = new DoubleSum()
        for (const number of numbers) sum.add(unitsOf(number), -1074)
        const units = numbers.reduce((sumSoFar, number) => sumSoFar + unitsOf(number), 0n)
        expect(sum.dividedBy(divisor)).toBe(nearestDouble(units, BigInt(divisor)))
      },
    ),
    { seed, numRuns: isQuick ? 1000 : 50_000 },
  )
  // Halfway between two doubles, the even one.
  const halfway = new DoubleSum()
  for (const number of [1, 2 ** -52, 2 ** -53]) halfway.add(unitsOf(number), -1074)
  expect(halfway.dividedBy(1)).toBe(1 + 2 ** -51)
  expect([5n, -5n, 4n, -4n, 14n].map((dividend) => roundedQuotient(dividend, 10n))).toEqual([
    1n,
    -1n,
    0n,
    0n,
    1n,
  ])
})

describe('a table with a minimum size of groups', () => {
  const people = [
    'SP,ana,2020-01-01',
    'SP,bia,2020-01-02',
    'SP,bia,2020-02-01',
    'RJ,caio,2020-02-02',
    ',duda,2020-02-03',
  ]
  let few: Workshop
  beforeAll(async () => {
    const fields = ['state:string', 'name:string', 'day:date'].map(fieldOf)
    const entry = {
      name: 't',
      order: ['day asc'],
      filters: ['state', 'name', 'day'],
      min_group_size: 2,
      fields,
    }
    few = await workshop(catalogAround([entry]), { 'd/t.csv': `state,name,day\n${people.join('\n')}\n` })
    await few.ingest()
  })

  test.each<[query: string, answer: string]>([
    ['?group=state', '{"count":1,"rows":3,"results":[{"rows":3,"state":"SP"}]}'],
    [
      '?group=state&measure=day__max',
      '{"count":1,"rows":3,"results":[{"day__max":"2020-02-01","state":"SP"}]}',
    ],
    [
      '?group=day__month,state',
      '{"count":1,"rows":2,"results":[{"day__month":"2020-01","rows":2,"state":"SP"}]}',
    ],
    ['?name=caio', '{"count":0,"rows":0,"results":[]}'],
    ['?group=name&rows=1', '{"count":0,"rows":2,"results":[]}'],
  ])('hides smaller groups in %s', async (query, answer) => {
    for (const [, options] of engines) {
      const { app } = await serve(few, options)
      expect((await textAt(app, address + query)).replace('"next":null,"previous":null,', '')).toBe(answer)
    }
  })

  test('shows no smaller group on its pages', async () => {
    const { app } = await serve(few)
    const html = { Accept: 'text/html' }
    const chart = await textAt(app, '/en/dataset/d/t/chart/?group=name', html)
    const file = await textAt(app, '/en/dataset/d/t/chart.svg?group=name')
    const fields = await textAt(app, '/en/dataset/d/t/fields/', html)
    const detail = await textAt(app, '/api/v1/dataset/d/t/')
    const rowsPage = await textAt(app, '/en/dataset/d/t/?fields=day', html)
    for (const text of [chart, file, fields, detail, rowsPage]) expect(text).not.toMatch(/caio|duda|\bRJ\b/)
    expect([chart, file].every((text) => text.includes('bia'))).toBe(true)
  })
})
