import { textIn } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Times of the rows on pages of tables, of their dataset and of the catalog. */

const tables: Record<string, { order: string[]; fields: string[]; time?: string; csv: string }> = {
  'first-date': {
    order: ['day'],
    fields: ['id:integer', 'day:date'],
    csv: 'id,day\n1,2019-03-02\n2,2020-02-26\n',
  },
  'one-day': { order: ['day'], fields: ['day:date'], csv: 'day\n2020-02-26\n' },
  unordered: { order: ['id'], fields: ['id:integer', 'day:date'], csv: 'id,day\n1,2020-02-25\n' },
  dates: {
    order: ['id'],
    fields: ['id:integer', 'day:date'],
    time: 'day',
    csv: 'id,day\n1,2020-02-25\n2,2020-03-01\n',
  },
  years: { order: ['y'], fields: ['y:integer'], time: 'y', csv: 'y\n2018\n2022\n' },
  months: { order: ['m'], fields: ['m:integer'], time: 'm', csv: 'm\n202004\n202012\n' },
  nonsense: { order: ['n'], fields: ['n:integer'], time: 'n', csv: 'n\n1\n202099\n' },
}

let service: Service
beforeAll(async () => {
  const declared = Object.entries(tables).map(([name, { order, fields, time }]) => ({
    name,
    order,
    fields: fields.map(fieldOf),
    ...(time !== undefined && { time }),
  }))
  const sources = Object.entries(tables).map(([name, { csv }]): [string, string] => [`d/${name}.csv`, csv])
  const shop = await workshop(catalogAround(declared), Object.fromEntries(sources))
  await shop.ingest()
  service = await serve(shop)
})

const markupAt = async (path: string): Promise<string> =>
  (await rawGet(service.app, path, { Accept: 'text/html' })).body.toString()

test.each<[table: string, covered: string | null]>([
  ['first-date', 'Mar 2, 2019 to Feb 26, 2020'],
  ['one-day', 'Feb 26, 2020'],
  ['unordered', null],
  ['dates', 'Feb 25, 2020 to Mar 1, 2020'],
  ['years', '2018 to 2022'],
  ['months', 'Apr 2020 to Dec 2020'],
  ['nonsense', null],
])('the page of %s says that its rows are from %s', async (table, covered) => {
  const [facts = ''] =
    /<p class="facts dotted">.*?<\/p>/s.exec(await markupAt(`/en/dataset/d/${table}/`)) ?? []
  const [, times = ''] = /\d rows?\s+(.*?)\s*imported/s.exec(textIn(facts)) ?? []
  expect(times).toBe(covered ?? '')
})

test('a dataset and its card state the period of all of its tables', async () => {
  expect(textIn(await markupAt('/en/dataset/d/'))).toMatch(/Period\s+2018 to 2022/)
  expect(textIn(await markupAt('/pt/'))).toContain('até 2022')
})
