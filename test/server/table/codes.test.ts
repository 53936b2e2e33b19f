import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { allTables } from '../../../core/catalog/catalog.ts'
import { Connection } from '../../../core/duckdb/connection.ts'
import { readRows, type Row } from '../../evaluator/rows.ts'
import { compareOne, randomFrom } from '../../evaluator/random-queries.ts'
import { isQuick, runsOf, seed, testAll } from '../../support/runs.ts'
import { getPage, serve, type Service, type ServiceOptions } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Selections by codes; `make test-all` has more rows than a section of codes. */

const asks = runsOf('CODED_QUERIES')
const rowCount = isQuick ? 40_000 : 300_000
const rareAt = rowCount - 5000
const address = '/api/v1/dataset/d/t/data/'
const states = ['SP', 'RJ', 'MG', 'BA', '', 'São Tomé', 'sp']

interface Cells {
  readonly n: number
  readonly state: string
  readonly city: string
  readonly day: string
  readonly price: number
  readonly flag: boolean | null
  readonly rare: string
}

/** Scattered, clustered, in runs and alone: of few values, of more than a byte tells, and with nulls. */
const cellsOf = (n: number): Cells => ({
  n,
  state: states[(n * 7 + (n >> 9)) % states.length] ?? '',
  city: n % 97 === 0 ? '' : `Cidade ${(n * 7919) % 3000}`,
  day: `2020-${String(1 + (n >> 15)).padStart(2, '0')}-${String(1 + ((n >> 10) % 28)).padStart(2, '0')}`,
  price: ((n * 31) % 401) / 8,
  flag: n % 5 === 0 ? null : n % 2 === 0,
  rare: n === rareAt ? 'x' : '',
})
const rowCells = Array.from({ length: rowCount }, (_, n) => cellsOf(n))

const table = {
  name: 't',
  order: ['n asc'],
  packed: false,
  filters: ['state', 'city', 'day', 'price', 'flag', 'rare'],
  search: ['city', 'state'],
  fields: [
    'n:integer',
    'state:string',
    'city:string',
    'day:date',
    'price:float',
    'flag:bool',
    'rare:string',
  ].map(fieldOf),
}

let shop: Workshop
let rows: readonly Row[]
let coded: unknown

beforeAll(async () => {
  const lines = rowCells.map((cells) =>
    Object.values(cells)
      .map((cell: Cells[keyof Cells]) => String(cell ?? ''))
      .join(','),
  )
  const csv = `n,state,city,day,price,flag,rare\n${lines.join('\n')}\n`
  shop = await workshop(catalogAround([table]))
  await shop.write('d/t.csv.gz', gzipSync(csv))
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  coded = [outcome.manifest.codes?.fields, outcome.manifest.dictionary?.fields]
  const [only] = allTables(shop.catalog)
  if (only === undefined) throw new Error('no table')
  rows = await readRows(path.join(shop.sources, 'd/t.csv.gz'), only)
}, 120_000)

/** A service, and the statements of its selections. */
async function serving(options: ServiceOptions = {}): Promise<Service & { seen: () => string[] }> {
  const service = await serve(shop, options)
  const spies = [jest.spyOn(Connection.prototype, 'rows'), jest.spyOn(Connection.prototype, 'numbers')]
  return { ...service, seen: () => spies.flatMap((spy) => spy.mock.calls.map(([sql]) => sql)) }
}

test('each filter field has codes', () => {
  expect(coded).toEqual([
    table.filters,
    [
      { name: 'state', values: 6 },
      { name: 'city', values: 3000 },
      { name: 'day', values: new Set(rowCells.map(({ day }) => day)).size },
      { name: 'price', values: 401 },
      { name: 'flag', values: 2 },
      { name: 'rare', values: 1 },
    ],
  ])
})

test('random queries select the rows that an independent evaluator computes, with codes and without', async () => {
  const [only] = allTables(shop.catalog)
  if (only === undefined) throw new Error('no table')
  const differences: string[] = []
  for (const options of [{}, { selectionBytesMax: 0, codesBytesMax: 400_000 }, { codesBytesMax: 0 }]) {
    const service = await serve(shop, options)
    const random = randomFrom(seed)
    for (let ask = 0; ask < asks; ask += 1) {
      const difference = await compareOne(service, only, rows, random)
      if (difference !== null) differences.push(difference)
    }
  }
  expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
}, 1_800_000)

describe('rows are found without a statement over the parts', () => {
  const cases: [ask: string, isRight: (cells: Cells) => boolean][] = [
    ['?state=SP', ({ state }) => state === 'SP'],
    ['?state__ne=SP&page=300&page_size=100', ({ state }) => state !== 'SP'],
    ['?city__contains=cidade%2029&page=last', ({ city }) => city.startsWith('Cidade 29')],
    ['?state__isnull=true', ({ state }) => state === ''],
    ['?state__isnull=false&page=30', ({ state }) => state !== ''],
    ['?day__range=2020-02-01,2020-02-09', ({ day }) => day >= '2020-02-01' && day <= '2020-02-09'],
    ['?day__gt=2020-02-25', ({ day }) => day > '2020-02-25'],
    ['?state__gt=RJ&page=2', ({ state }) => state > 'RJ'],
    ['?state__lte=MG&page=2', ({ state }) => state !== '' && state <= 'MG'],
    ['?price__gt=49.5', ({ price }) => price > 49.5],
    ['?price__lte=0.125', ({ price }) => price <= 0.125],
    ['?search=tom%C3%A9&page_size=10', ({ state }) => state === 'São Tomé'],
    [
      '?search=sp%207&flag=true',
      ({ city, state, flag }) => flag === true && /sp/i.test(state) && city.includes('7'),
    ],
    ['?state=SP&flag=true&page=7&page_size=10', ({ state, flag }) => state === 'SP' && flag === true],
    ['?rare=x', ({ rare }) => rare === 'x'],
    [
      '?state=MG&flag__isnull=true&rare=x',
      ({ state, flag, rare }) => state === 'MG' && flag === null && rare === 'x',
    ],
    ['?city=Cidade%201&ordering=-price,day', ({ city }) => city === 'Cidade 1'],
    ['?state=nowhere&ordering=-city', () => false],
    ['?city__in=nobody,Cidade%201&state__in=a,b', () => false],
    ['?price__gte=0', () => true],
  ]
  test.each(cases)('if the query is %s', async (ask, isRight) => {
    const { app, seen } = await serving()
    const { count, results } = await getPage(app, `${address}${ask}`)
    expect(count).toBe(rowCells.filter(isRight).length)
    for (const { n } of results) expect(isRight(cellsOf(Number(n)))).toBe(true)
    const read = (): string[] => seen().filter((sql) => sql.includes('read_parquet'))
    const before = read()
    expect(before.filter((sql) => sql.includes('part-'))).toEqual([])
    await getPage(app, `${address}${ask}&fields=n`)
    expect(read()).toEqual(before)
  })
})

test('values are looked up once for all kinds of queries', async () => {
  const { app, seen } = await serving()
  await getPage(app, `${address}?state=SP`)
  await getPage(app, `${address}?state__in=RJ,MG`)
  await getPage(app, `${address}?state__gte=RJ&page=20`)
  expect(seen().length).toBe(1)
})

const cell = (n: number, field: number): string => `v${(n * (field + 3)) % (field + 2)}`

test('values are looked up once for many concurrent requests', async () => {
  const { app, seen } = await serving()
  await Promise.all(
    Array.from({ length: 10 }, (_, page) =>
      getPage(app, `${address}?state=SP&page_size=100&page=${page + 1}`),
    ),
  )
  expect(seen().filter((sql) => sql.includes('dictionary')).length).toBe(1)
})

const citiesOf = (cities: readonly string[]): string =>
  `n,city\n${Array.from({ length: 300 }, (_, n) => `${n},${cities[n % cities.length]}\n`).join('')}`

test('after a refresh the values of the new snapshot are found and shown, and none of the old one', async () => {
  const fields = ['n:integer', 'city:string'].map(fieldOf)
  const [first, second] = [
    ['Acre', 'Belo', 'Caxias'],
    ['Xapuri', 'Yolanda', 'Zortea'],
  ] as const
  const ownShop = await workshop(
    catalogAround([{ name: 't', order: ['n asc'], filters: ['city'], search: ['city'], fields }]),
    { 'd/t.csv': citiesOf(first) },
  )
  await ownShop.ingest()
  const refreshed = await serve(ownShop)
  const expectFound = async ([firstCity, two, three]: readonly [string, string, string]): Promise<void> => {
    const due: [ask: string, count: number, shown: string[]][] = [
      [`city=${firstCity}`, 100, [firstCity]],
      [`city=${two}`, 100, [two]],
      [`search=${three}`, 100, [three]],
      ['page_size=3', 300, [firstCity, two, three]],
      ['ordering=-city&page_size=1', 300, [three]],
    ]
    for (const [ask, number, shown] of due) {
      const { count, results } = await getPage(refreshed.app, `/api/v1/dataset/d/t/data/?${ask}`)
      expect([ask, count, [...new Set(results.map(({ city }) => city))]]).toEqual([ask, number, shown])
    }
  }
  await expectFound(first)
  await ownShop.write('d/t.csv', citiesOf(second))
  await ownShop.ingest({ now: () => new Date('2027-01-01T00:00:00Z') })
  await refreshed.snapshots.refresh()
  await expectFound(second)
  expect((await getPage(refreshed.app, '/api/v1/dataset/d/t/data/?city=Acre')).count).toBe(0)
})

testAll('fields with reserved words as names are distinguished, at any memory limit', async () => {
  const names = ['x', 'x counts', 'counts 0 x', 'group 0 x', 'order']
  const odd = await workshop(
    catalogAround([
      {
        name: 't',
        order: ['n'],
        filters: names,
        fields: ['n:integer', ...names.map((name) => `${name}:string`)].map(fieldOf),
      },
    ]),
    {
      'd/t.csv': `n,${names.join(',')}\n${Array.from({ length: 500 }, (_, n) => `${n},${names.map((_name, field) => cell(n, field)).join(',')}\n`).join('')}`,
    },
  )
  await odd.ingest()
  const { app } = await serve(odd, { codesBytesMax: 10_666_666.5, selectionBytesMax: 0 })
  for (let round = 0; round < 2; round += 1) {
    for (const [field, name] of names.entries()) {
      const page = await getPage(app, `${address}?${encodeURIComponent(name)}=v1&page_size=1000`)
      const due = Array.from({ length: 500 }, (_, n) => n).filter((n) => cell(n, field) === 'v1')
      expect([name, page.results.map(({ n }) => n)]).toEqual([name, due])
    }
  }
})
