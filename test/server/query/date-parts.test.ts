import path from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { allTables } from '../../../core/catalog/catalog.ts'
import { impliedBy } from '../../../server/query/conditions.ts'
import { daysOfPart, partTerm, termValue } from '../../../server/query/date-parts.ts'
import type { Operator } from '../../../server/query/operators.ts'
import { evaluate, randomPartCondition, readRows } from '../../evaluator/rows.ts'
import { randomFrom, rowTexts } from '../../evaluator/random-queries.ts'
import { isQuick, sampled, seed } from '../../support/runs.ts'
import { getPage, rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Conditions on parts of dates, such as `date__month=2020-05`. */

const address = '/api/v1/dataset/d/t/data/'
const days = [
  ['0001-01-01', '0999-12-31', '1582-10-15', '1899-12-31', '1900-02-28', '1970-01-01', '2000-02-29'],
  ['2018-12-31', '2019-12-29', '2019-12-30', '2020-01-01', '2020-05-31', '2020-06-01', '2020-12-31'],
  ['2021-01-03', '2021-01-04', '2024-02-29', '2026-12-27', '2026-12-28', '9999-12-26', '9999-12-31'],
].flat()
const oddTexts = ['2020-02-30', '2020-5-1', '2020-05-01 10:00:00', 'infinity', '0000-01-01', ' 2020-05-01']
const cells = Array.from({ length: 400 }, (_, n) => {
  const day = days[(n * 5) % days.length] ?? ''
  const time = ['00:00:00', '23:59:59.999999', '12:30:00'][n % 3] ?? ''
  const text = n % 5 === 0 ? (oddTexts[(n / 5) % oddTexts.length] ?? '') : day
  return [n, n % 11 === 0 ? '' : day, n % 13 === 0 ? '' : `${day}T${time}`, text].join()
})

let shop: Workshop
beforeAll(async () => {
  const table = {
    name: 't',
    order: ['n asc'],
    filters: ['n', 'day', 'at', 'text'],
    fields: [
      ...['n:integer', 'day:date', 'at:datetime'].map(fieldOf),
      { name: 'text', type: 'string', kind: 'date' },
    ],
  }
  shop = await workshop(catalogAround([table]))
  await shop.write('d/t.csv.gz', gzipSync(`n,day,at,text\n${cells.join('\n')}\n`))
  await shop.ingest({ partRows: 128 })
})

test.each(sampled([10_000_000, 0]))(
  'random conditions on parts of dates select the rows that an independent evaluator computes, with %d bytes for codes',
  async (codesBytesMax) => {
    const { app } = await serve(shop, { codesBytesMax })
    const [table] = allTables(shop.catalog)
    if (table === undefined) throw new Error('no table')
    const rows = await readRows(path.join(shop.sources, 'd/t.csv.gz'), table)
    const random = randomFrom(seed)
    const differences: string[] = []
    for (let query = 0; query < (isQuick ? 60 : 500); query += 1) {
      const made = randomPartCondition(random, table, rows)
      if (made === null) continue
      const expected = evaluate(table, rows, { conditions: [made.asked], words: [], ordering: [] })
      const page = await getPage(
        app,
        `${address}?${new URLSearchParams([[made.name, made.text]]).toString()}`,
      )
      const due = rowTexts(table, expected)
      if (page.count === due.length && JSON.stringify(page.results) === `[${due.join(',')}]`) continue
      differences.push(`${made.name}=${made.text}: ${page.count} rows, expected ${due.length}`)
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  },
)

test('the span of days of a part, such as a month, includes the date, and starts and ends in that part', () => {
  const [table] = allTables(shop.catalog)
  const field = table?.fields.find(({ name }) => name === 'day')
  const day = fc
    .integer({ min: -62_135_596_800, max: 253_402_300_799 })
    .map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 10))
  fc.assert(
    fc.property(fc.oneof(day, fc.constantFrom(...days)), (value) => {
      for (const name of ['year', 'quarter', 'month', 'week', 'day']) {
        const term = field === undefined ? undefined : partTerm(field, name)
        if (term === undefined) throw new Error(`no ${name}`)
        const part = termValue(term, value) ?? ''
        const span = daysOfPart(term, [part])
        const [first = '', last = ''] = span ?? []
        expect([first <= value, value <= last]).toEqual([true, true])
        expect([termValue(term, first), termValue(term, last)]).toEqual([part, part])
      }
    }),
    { seed, numRuns: isQuick ? 300 : 10_000 },
  )
})

test.each(
  sampled([
    ['day__month=2020-05', 'day__month=2020-05'],
    ['day__month__in=2020-06,2020-05', 'day__month__in=2020-05,2020-06'],
    ['day__weekday= 07 ', 'day__weekday=7'],
    ['day__year__range=1900,2020', 'day__year__range=1900,2020'],
    ['day__quarter=None', 'day__quarter__isnull=true'],
  ]),
)('%s has the canonical form %s', async (query, canonical) => {
  const { app } = await serve(shop)
  const { next } = await getPage(app, `${address}?${query.replaceAll(' ', '%20')}&page_size=1`)
  expect(decodeURIComponent(String(next))).toContain(`?${canonical}&page=2&page_size=1`)
})

const implied: [operator: Operator, values: string[], conditions: unknown[]][] = [
  ['eq', ['2020-02'], [['range', '2020-02-01 00:00:00', '2020-02-29 23:59:59.999999']]],
  ['in', ['2020-02'], [['range', '2020-02-01 00:00:00', '2020-02-29 23:59:59.999999']]],
  ['in', ['2020-02', '2020-04'], []],
  ['range', ['2020-02', '2020-04'], [['range', '2020-02-01 00:00:00', '2020-04-30 23:59:59.999999']]],
  ['gte', ['2020-02'], [['gte', '2020-02-01 00:00:00']]],
  ['gt', ['2020-02'], [['gt', '2020-02-29 23:59:59.999999']]],
  ['lte', ['2020-02'], [['lte', '2020-02-29 23:59:59.999999']]],
  ['lt', ['2020-02'], [['lt', '2020-02-01 00:00:00']]],
  ['ne', ['2020-02'], []],
  ['isnull', ['true'], []],
]
test.each(sampled(implied))(
  'the condition %s %j on the month of a time implies conditions on the time itself',
  (operator, values, conditions) => {
    const [table] = allTables(shop.catalog)
    const field = table?.fields.find(({ name }) => name === 'at')
    const term = field === undefined ? undefined : partTerm(field, 'month')
    if (term === undefined) throw new Error('no month')
    const impliedConditions = impliedBy({ field: term, operator, values })
    expect(
      impliedConditions.map((condition) => [
        condition.field === field,
        condition.operator,
        ...condition.values,
      ]),
    ).toEqual(conditions.map((condition) => [true, ...(condition as string[])]))
  },
)

test('a condition on the day of a date implies a condition on the date, but a day of the week implies none', () => {
  const [table] = allTables(shop.catalog)
  const field = table?.fields.find(({ name }) => name === 'day')
  if (field === undefined) throw new Error('no day')
  const terms = (['day', 'weekday'] as const).flatMap((part) => partTerm(field, part) ?? [])
  const impliedConditions = terms.map((term, index) =>
    impliedBy({ field: term, operator: 'eq', values: [['2020-05-01', '5'][index] ?? ''] }),
  )
  expect(impliedConditions).toEqual([[{ field, operator: 'eq', values: ['2020-05-01'] }], []])
})

test('a field that has the name of a part of a date replaces this part', async () => {
  const table = {
    name: 't',
    order: ['date asc'],
    filters: ['date', 'date__year'],
    fields: ['date:date', 'date__year:integer'].map(fieldOf),
  }
  const ownShop = await workshop(catalogAround([table]), {
    'd/t.csv': 'date,date__year\n2020-01-01,7\n2021-01-01,2020\n',
  })
  await ownShop.ingest()
  const { app } = await serve(ownShop)
  expect((await getPage(app, `${address}?date__year=2020`)).results).toEqual([
    { date: '2021-01-01', date__year: 2020 },
  ])
  expect((await getPage(app, `${address}?date__month=2020-01`)).count).toBe(1)
  const { body } = await rawGet(app, '/api/v1/dataset/d/t/')
  const { fields } = JSON.parse(body.toString()) as { fields: { parts: string[] }[] }
  expect(fields.map((field) => field.parts)).toEqual([['quarter', 'month', 'week', 'day', 'weekday'], []])
  const document = await rawGet(app, '/api/v1/dataset/d/t/openapi.json')
  expect(document.body.toString().match(/"name":\s*"date__year"/g)).toHaveLength(1)
})

const isBefore = 'The field "day" has no operator "'
const operators = 'eq, ne, gt, gte, lt, lte, in, range, isnull'
const parts = 'year, quarter, month, week, day, weekday'
test.each(
  sampled([
    ['day__month=2020-13', 'The parameter "day__month__eq" must be a month such as 2020-05.'],
    ['day__quarter=2020-Q5', 'The parameter "day__quarter__eq" must be a quarter such as 2020-Q2.'],
    ['day__week=2019-W53', 'The parameter "day__week__eq" must be a week of ISO 8601 such as 2020-W21.'],
    ['day__month=%22%22', 'The parameter "day__month__eq" must be a month such as 2020-05.'],
    ['day__year__gt=0', 'The parameter "day__year__gt" must be a year from 1 to 9999, such as 2020.'],
    ['day__day=2020-05', 'The parameter "day__day__eq" must be a day such as 2020-05-01.'],
    [
      'day__weekday__in=1,8',
      'Each value of the parameter "day__weekday__in" must be a day of the week, from 1 for Monday to 7 for Sunday.',
    ],
    [
      'day__mont=1',
      `${isBefore}mont" (did you mean "month"?); its operators: ${operators}; its parts: ${parts}.`,
    ],
    ['n__month=2020-05', `The field "n" has no operator "month"; its operators: ${operators}.`],
    [
      'day__month__contains=2020',
      `The field "day__month" has no operator "contains", since its type is string; its operators: ${operators}.`,
    ],
  ]),
)('%s is refused: %s', async (query, message) => {
  const { app } = await serve(shop)
  const { status, body } = await rawGet(app, `${address}?${query}`)
  const { errors } = JSON.parse(body.toString()) as { errors: { message: string }[] }
  expect([status, errors.map((error) => error.message)]).toEqual([400, [message]])
})
