import fc from 'fast-check'
import { faultLines } from './support/declared.ts'
import { runsOf, seed, testSampled } from '../support/runs.ts'
import { catalogAround, fieldOf, workshop } from '../support/workshop.ts'

/** Rules of the catalog for values and rows: an ingest publishes nothing while one is broken. */

const expecting = (type: string, expect: object): object => ({ ...fieldOf(`a:${type}`), expect })
const tableWith = (field: object, tableKeys: object = {}): object => ({
  name: 't',
  order: [],
  fields: [field, fieldOf('b:string')],
  ...tableKeys,
})

testSampled<[title: string, field: object, csv: string, lines: readonly string[]]>([
  [
    'a missing value',
    expecting('integer', { not_null: true }),
    'a,b\n1,x\n,y\n',
    ['line 3, field "a": the value is missing, although `not_null` requires one'],
  ],
  [
    'repeated values',
    expecting('string', { unique: true }),
    'a,b\nx,1\n,2\ny,3\nx,4\n,5\nx,6\n',
    [
      'line 5, field "a": "x" is not unique: line 2 has it too',
      'line 7, field "a": "x" is not unique: line 2 has it too',
    ],
  ],
  [
    'numbers out of bounds',
    expecting('integer', { between: [0, 9] }),
    'a,b\n-1,x\n0,x\n,x\n9,x\n10,x\n',
    ['line 2, field "a": "-1" is not between 0 and 9', 'line 6, field "a": "10" is not between 0 and 9'],
  ],
  [
    'a number below an open range',
    expecting('float', { between: [0.5, null] }),
    'a,b\n0.25,x\n1e9,x\n',
    ['line 2, field "a": "0.25" is not at least 0.5'],
  ],
  [
    'a day after the bound',
    expecting('date', { between: [null, '2026-01-01'] }),
    'a,b\n2026-01-01,x\n2026-01-02,x\n',
    ['line 3, field "a": "2026-01-02" is not at most 2026-01-01'],
  ],
  [
    'a text of another form',
    expecting('string', { matches: '[0-9]{3}' }),
    'a,b\n123,x\n1234,x\n12,x\n',
    ['line 3, field "a": "1234" does not match [0-9]{3}', 'line 4, field "a": "12" does not match [0-9]{3}'],
  ],
  [
    'faults of several kinds',
    expecting('integer', { not_null: true, unique: true, between: [0, 5] }),
    'a,b\n9,x\n9,x\n,x\n',
    [
      'line 2, field "a": "9" is not between 0 and 5',
      'line 3, field "a": "9" is not unique: line 2 has it too',
      'line 3, field "a": "9" is not between 0 and 5',
      'line 4, field "a": the value is missing, although `not_null` requires one',
    ],
  ],
])('an ingest refuses %s, and names each line', async (_what, field, csv, lines) => {
  const shop = await workshop(catalogAround([tableWith(field)]), { 'd/t.csv': csv })
  const [outcome] = await shop.ingest()
  const summary = lines.length === 1 ? 'a value breaks' : `${lines.length} values break`
  expect(faultLines(outcome)).toEqual([
    `d/t: FAILED, ${summary} an expectation of the catalog; nothing was published`,
    ...lines.map((line) => `  ${line}`),
  ])
})

testSampled<[type: string, bounds: readonly [string | number, string | number], good: string, bad: string]>([
  ['integer', [-2, 3], '3', '4'],
  ['decimal', [0.5, '9.50'], '9.5', '9.51'],
  ['float', ['1e-7', 1e3], '1000', '1000.5'],
  ['date', ['2020-01-01', '2020-12-31'], '2020-01-01', '2021-01-01'],
  ['datetime', ['2020-01-01T00:00:00', '2020-01-01 12:00:00'], '2020-01-01 12:00:00', '2020-01-01 12:00:01'],
  ['time', ['08:00:00', '25:00:00'], '24:30:00', '07:59:59'],
  ['string', ['b', 'd'], 'czz', 'da'],
])('bounds of type %s include both ends, and nothing beyond', async (type, [min, max], good, bad) => {
  const catalog = catalogAround([tableWith(expecting(type, { between: [min, max] }))])
  const shop = await workshop(catalog, { 'd/t.csv': `a,b\n${good},x\n` })
  expect((await shop.ingest())[0]?.status).toBe('published')
  await shop.write('d/t.csv', `a,b\n${good},x\n${bad},x\n`)
  expect(faultLines((await shop.ingest())[0])[1]).toMatch(/^ {2}line 3, field "a": ".*" is not between /)
})

test.each(['(?i)[a-f]+', '[a-z\\-]+', '\\pL+', 'ab{1}'])(
  'the pattern %s of RE2 is accepted',
  async (matches) => {
    const catalog = catalogAround([tableWith(expecting('string', { matches }))])
    const shop = await workshop(catalog, { 'd/t.csv': 'a,b\nab,x\n' })
    expect((await shop.ingest())[0]?.status).toBe('published')
  },
)

test.each([
  ['(?=a)b', 'invalid perl operator: (?='],
  ['[a', 'missing ]: [a'],
  ['\\1', 'invalid escape sequence: \\1'],
])('the pattern %s, which RE2 cannot read, fails the table', async (matches, why) => {
  const catalog = catalogAround([tableWith(expecting('string', { matches }))])
  const shop = await workshop(catalog, { 'd/t.csv': 'a,b\nab,x\n' })
  expect(faultLines((await shop.ingest())[0])).toEqual([
    `d/t: FAILED, "${matches}", which the catalog expects "a" to match, is not a regular expression of RE2: Invalid Input Error: ${why}`,
  ])
})

test('several fields can be unique together, and rows that lack one of the values are not compared', async () => {
  const catalog = catalogAround([
    tableWith(fieldOf('a:integer'), { expect: { unique: [['a', 'b']] }, source: { files: 'd/*.csv' } }),
  ])
  const shop = await workshop(catalog, { 'd/1.csv': 'a,b\n1,x\n1,y\n1,\n', 'd/2.csv': 'a,b\n1,\n2,x\n1,x\n' })
  expect(faultLines((await shop.ingest())[0])).toEqual([
    `d/t: FAILED, a value breaks an expectation of the catalog; nothing was published`,
    '  2.csv, line 4, field "a, b": "1, x" is not unique: line 2 of 1.csv has it too',
  ])
  await shop.write('d/2.csv', 'a,b\n1,\n2,x\n')
  expect((await shop.ingest())[0]?.status).toBe('published')
})

test('line numbers in messages are correct after rejected rows and line breaks, and over many batches', async () => {
  const field = expecting('integer', { unique: true, between: [0, 99] })
  const catalog = catalogAround([
    tableWith(field, { max_rejects: 9, source: { files: ['d/1.csv', 'd/2.csv'], union_by_name: true } }),
  ])
  const shop = await workshop(catalog, {
    'd/1.csv': 'a,b\n1,"x\ny"\n2,x,z\nbad,x\n3,x\n',
    'd/2.csv': 'b,a\n\nx,4\nx\nx,bad\nx,1\nx,100\n',
  })
  expect(faultLines((await shop.ingest({ batchBytes: 4 }))[0])).toEqual([
    `d/t: FAILED, 2 values break an expectation of the catalog; nothing was published`,
    '  2.csv, line 6, field "a": "1" is not unique: line 2 of 1.csv has it too',
    '  2.csv, line 7, field "a": "100" is not between 0 and 99',
  ])
})

test('a reference is looked up in rows that the same ingest publishes first', async () => {
  const states = { name: 'states', order: [], fields: [fieldOf('code:string')] }
  const cities = tableWith(expecting('string', { references: 'd/states.code' }), { name: 'cities' })
  const shop = await workshop(catalogAround([cities, states]), {
    'd/cities.csv': 'a,b\nSP,x\n,y\nRJ,z\n',
    'd/states.csv': 'code\nSP\n',
  })
  const failure = [
    `d/cities: FAILED, a value breaks an expectation of the catalog; nothing was published`,
    '  line 4, field "a": "RJ" is not in d/states.code',
  ]
  expect(faultLines((await shop.ingest({ tables: ['cities'] }))[0])).toEqual([
    'd/cities: FAILED, d/states, which an expectation refers to, is not published with its current fields: run `acervo ingest d/states` first',
  ])
  const outcomes = await shop.ingest()
  expect(outcomes.map(({ status, table }) => [table.name, status])).toEqual([
    ['states', 'published'],
    ['cities', 'failed'],
  ])
  expect(faultLines(outcomes[1])).toEqual(failure)
  await shop.write('d/states.csv', 'code\nSP\nRJ\n')
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['published', 'published'])
})

test('a value that disappears from a referenced table fails the unchanged tables that refer to it', async () => {
  const states = { name: 'states', order: [], fields: [fieldOf('code:string')] }
  const cities = tableWith(expecting('string', { references: 'd/states.code', unique: true }), {
    name: 'cities',
  })
  const shop = await workshop(catalogAround([cities, states]), {
    'd/cities.csv': 'a,b\nSP,x\nRJ,y\nBA,z\n',
    'd/states.csv': 'code\nSP\nRJ\nBA\n',
  })
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['published', 'published'])
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['unchanged', 'unchanged'])
  await shop.write('d/states.csv', 'code\nSP\nAC\n')
  const fault =
    'a table that an expectation refers to has changed: 2 values of "a" are not in d/states.code. The published snapshot stays; correct either source'
  expect((await shop.check()).map(({ table, result, problem }) => [table, result, problem])).toEqual([
    ['d/states', 'changed', null],
    ['d/cities', 'failed', fault],
  ])
  expect(faultLines((await shop.ingest())[1])).toEqual([`d/cities: FAILED, ${fault}`])
  expect(faultLines((await shop.ingest())[1])).toEqual([`d/cities: FAILED, ${fault}`])
  await shop.write('d/states.csv', 'code\nSP\nRJ\nBA\nAC\n')
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['published', 'unchanged'])
})

test('a reference to a table without rows matches nothing', async () => {
  const states = { name: 'states', order: [], may_be_empty: true, fields: [fieldOf('code:string')] }
  const cities = tableWith(expecting('string', { references: 'd/states.code' }), { name: 'cities' })
  const shop = await workshop(catalogAround([cities, states]), {
    'd/cities.csv': 'a,b\n,y\n',
    'd/states.csv': 'code\n',
  })
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['published', 'published'])
  expect((await shop.ingest()).map(({ status }) => status)).toEqual(['unchanged', 'unchanged'])
  await shop.write('d/cities.csv', 'a,b\n,y\nSP,x\n')
  expect(faultLines((await shop.ingest())[1])[1]).toBe('  line 3, field "a": "SP" is not in d/states.code')
})

test('a reference to the table itself is looked up in all its rows', async () => {
  const field = expecting('integer', { references: 'd/t.id' })
  const catalog = catalogAround([{ name: 't', order: [], fields: [fieldOf('id:integer'), field] }])
  const shop = await workshop(catalog, { 'd/t.csv': 'id,a\n1,2\n2,\n3,4\n' })
  expect(faultLines((await shop.ingest())[0])).toEqual([
    `d/t: FAILED, a value breaks an expectation of the catalog; nothing was published`,
    '  line 4, field "a": "4" is not in d/t.id',
  ])
})

test('messages about a table with hidden texts contain none of its values', async () => {
  const secret = { name: 'cpf', type: 'string', mask: 'cpf', expect: { unique: true } }
  const catalog = catalogAround([{ name: 't', order: [], fields: [secret] }])
  const shop = await workshop(catalog, { 'd/t.csv': 'cpf\n12345678901\n12345678901\n' })
  expect(faultLines((await shop.ingest())[0])[1]).toBe(
    '  line 3, field "cpf": the value is not unique: line 2 has it too',
  )
})

test('rows of reused partitions are checked too, and reported with their lines', async () => {
  const table = {
    name: 't',
    order: ['month asc'],
    partition: 'month',
    source: { files: 'd/t-*.csv' },
    fields: [fieldOf('month:integer'), { ...fieldOf('key:string'), expect: { unique: true } }],
  }
  const shop = await workshop(catalogAround([table]), {
    'd/t-1.csv': 'month,key\n1,a\n1,b\n',
    'd/t-2.csv': 'month,key\n2,c\n',
  })
  expect((await shop.ingest())[0]?.status).toBe('published')
  await shop.write('d/t-2.csv', 'month,key\n2,d\n2,b\n')
  expect(faultLines((await shop.ingest())[0])).toEqual([
    `d/t: FAILED, a value breaks an expectation of the catalog; nothing was published`,
    '  t-2.csv, line 3, field "key": "b" is not unique: line 3 of t-1.csv has it too',
  ])
  await shop.write('d/t-2.csv', 'month,key\n2,d\n2,e\n')
  const [outcome] = await shop.ingest()
  expect(outcome?.status === 'published' && outcome.report.taken_over).toEqual(['1'])
})

test('an ingest reports the same broken rules for random values as an independent check', async () => {
  const cell = fc.option(fc.integer({ min: -3, max: 12 }), { nil: null })
  const bounds = fc.tuple(fc.integer({ min: -3, max: 4 }), fc.integer({ min: 4, max: 12 }))
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 30 }), bounds, async (cells, [min, max]) => {
      const field = expecting('integer', { not_null: true, unique: true, between: [min, max] })
      const csv = `a,b\n${cells.map((value) => `${value ?? ''},x\n`).join('')}`
      const shop = await workshop(catalogAround([tableWith(field)]), { 'd/t.csv': csv })
      const broken = cells.flatMap((value, index) => {
        if (value === null) return [`${index + 2} is missing`]
        const first = cells.indexOf(value)
        return [
          ...(first < index ? [`${index + 2} is not unique: line ${first + 2} has it too`] : []),
          ...(value < min || value > max ? [`${index + 2} is not between ${min} and ${max}`] : []),
        ]
      })
      const [outcome] = await shop.ingest()
      const summaryText =
        outcome?.status === 'failed'
          ? outcome.failure.rejects.map(({ line, reason }) => `${line} ${reason.replace(/, although.*/, '')}`)
          : []
      expect(summaryText).toEqual(broken)
    }),
    { seed, numRuns: runsOf('EXPECTATIONS') },
  )
})
