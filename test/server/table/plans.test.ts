import { getPage, rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'
import { sampled } from '../../support/runs.ts'

/** Plans of each kind of query, as Server-Timing says. */

const address = '/api/v1/dataset/d/t/data/'
const csv = `n,state,day,code,name,at,Preço €\n${Array.from(
  { length: 3000 },
  (_, n) =>
    `${n},${['SP', 'RJ', 'MG'][n % 3]},2020-01-${10 + (n % 20)},c${n},Rua ${n % 700} ${n},2020-0${1 + (n % 6)}-01T00:00:${String(n % 60).padStart(2, '0')}.${n},${n}`,
).join('\n')}\n`

let shop: Workshop
beforeAll(async () => {
  const table = {
    name: 't',
    order: ['n asc'],
    filters: ['n', 'state', 'day', 'code', 'at', 'Preço €'],
    search: ['name'],
    orders: [['-day']],
    fields: [
      'n:integer',
      'state:string',
      'day:date',
      'code:string',
      'name:string',
      'at:datetime',
      'Preço €:integer',
    ].map(fieldOf),
  }
  shop = await workshop(catalogAround([table]), { 'd/t.csv': csv })
  await shop.ingest({ partRows: 512, codedDistinctMax: 40 })
})

const plansWithCodes = sampled([
  ['', 'table'],
  ['?ordering=n', 'table'],
  ['?state=SP', 'codes'],
  ['?state=SP&day__gte=2020-01-20', 'codes'],
  ['?day__month=2020-01', 'codes'],
  ['?day__weekday=1&code=c7', 'order code + engine duckdb'],
  ['?state=SP&ordering=n', 'codes'],
  ['?ordering=-day', 'in -day'],
  ['?state=SP&ordering=-day', 'codes in -day'],
  ['?state=SP&ordering=state,n', 'codes'],
  ['?state__ne=SP&ordering=state', 'codes + sort'],
  ['?code=c7', 'order code'],
  ['?code=c7&state=SP', 'order code + engine duckdb'],
  ['?code__in=c7,c8&ordering=state', 'order code + sort'],
  ['?code__contains=7', 'engine duckdb'],
  ['?n__lt=40', 'engine duckdb'],
  ['?search=rua', 'words'],
  ['?search=rua&code=c7', 'order code + words'],
  ['?search=rua&n__lt=40', 'words + engine duckdb'],
  ['?ordering=code', 'in code'],
  ['?at__month=2020-05', 'order at + engine duckdb'],
  ['?at__day=2020-05-01&state=SP', 'order at + engine duckdb'],
  ['?at__weekday=5', 'engine duckdb'],
  ['?Preço €=7', 'order Pre%C3%A7o%20%E2%82%AC'],
  ['?ordering=-Preço €', 'sort'],
  ['?ordering=Preço €', 'in Pre%C3%A7o%20%E2%82%AC'],
  ['?ordering=code,state', 'sort'],
] as const)

test.each(plansWithCodes)('%s is selected by: %s', async (query, plan) => {
  const { app } = await serve(shop)
  const { headers } = await rawGet(app, encodeURI(`${address}${query}${query === '' ? '?' : '&'}page_size=5`))
  expect(/plan;desc="([^"]*)"/.exec(String(headers['server-timing']))?.[1]).toBe(plan)
})

test('without memory for codes, the other access paths find the same rows', async () => {
  const [withCodes, without] = [await serve(shop), await serve(shop, { codesBytesMax: 0 })]
  for (const query of [
    '?state=SP',
    '?state__in=SP,RJ&day__gte=2020-01-20',
    '?state=SP&ordering=-day',
    '?day__weekday=1&state__ne=SP&ordering=state',
  ]) {
    const { headers } = await rawGet(without.app, `${address}${query}&page_size=5`)
    expect([query, String(headers['server-timing'])]).toEqual([query, expect.not.stringContaining('codes')])
    const pages = [withCodes, without].map(async ({ app }) =>
      getPage(app, `${address}${query}&page_size=2&page=last`),
    )
    const [first, second] = await Promise.all(pages)
    expect(second).toEqual(first)
  }
})
