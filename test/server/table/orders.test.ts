import { Connection } from '../../../core/duckdb/connection.ts'
import { getPage, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'
import { isQuick, sampled, testAll } from '../../support/runs.ts'

/** Orders that the catalog declares, and rows that are kept together. */

const rowCount = isQuick ? 10_000 : 280_000
const address = '/api/v1/dataset/d/t/data/'

interface Cells {
  readonly n: number
  readonly day: string
  readonly city: string | null
  readonly price: number | null
  readonly id: string
  readonly flag: boolean
}

/** Maximum number of distinct values that still get codes. */
const [cities, prices] = isQuick ? [1501, 2001] : [3001, 4001]

const cellsOf = (n: number): Cells => ({
  n,
  day: `2020-01-${String(1 + (n >> (isQuick ? 12 : 14))).padStart(2, '0')}`,
  city: n % 50 === 0 ? null : `Cidade ${(n * 7919) % cities}`,
  price: n % 9 === 0 ? null : ((n * 31) % prices) / 4,
  id: `id ${(n * 104_729) % 1_000_003}`,
  flag: n % 3 === 0,
})
const rowCells = Array.from({ length: rowCount }, (_, n) => cellsOf(n))

let shop: Workshop
beforeAll(async () => {
  const lines = rowCells.map((cells) =>
    Object.values(cells)
      .map((cell: Cells[keyof Cells]) => String(cell ?? ''))
      .join(','),
  )
  const table = {
    name: 't',
    order: ['day asc', 'n asc'],
    filters: ['day', 'city', 'price', 'flag', 'id'],
    orders: [['-price', 'city'], ['city'], ['id']],
    fields: ['n:integer', 'day:date', 'city:string', 'price:float', 'id:string', 'flag:bool'].map(fieldOf),
  }
  shop = await workshop(catalogAround([table]), {
    'd/t.csv': `n,day,city,price,id,flag\n${lines.join('\n')}\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  const stored = outcome.manifest.orders?.map(({ keys }) => keys.map(({ field }) => field).join())
  if (JSON.stringify(stored) !== '["price,city","city","id"]') throw new Error(JSON.stringify(stored))
}, 120_000)

type Key = 'day' | 'city' | 'price' | 'id'

/** Nulls last, ties by position. */
function ordered(rows: readonly Cells[], keys: readonly (readonly [Key, 1 | -1])[]): readonly Cells[] {
  return rows.toSorted((a, b) => {
    for (const [key, sign] of keys) {
      const [left, right] = [a[key], b[key]]
      if (left === right) continue
      if (left === null || right === null) return left === null ? 1 : -1
      return sign * (left < right ? -1 : 1)
    }
    return a.n - b.n
  })
}

/** A service, and the statements that read parts. */
async function serving(): Promise<Service & { seen: () => string[] }> {
  const service = await serve(shop, { selectionBytesMax: 0 })
  const spies = (['rows', 'numbers', 'texts'] as const).map((name) => jest.spyOn(Connection.prototype, name))
  return {
    ...service,
    seen: () =>
      spies.flatMap((spy) => spy.mock.calls.map(([sql]) => sql)).filter((sql) => !sql.includes('dictionary')),
  }
}

const orders: readonly (readonly [string, readonly (readonly [Key, 1 | -1])[]])[] = [
  [
    '-price,city',
    [
      ['price', -1],
      ['city', 1],
    ],
  ],
  ['city', [['city', 1]]],
  ['id', [['id', 1]]],
]
const filters: readonly (readonly [string, (cells: Cells) => boolean])[] = [
  ['', () => true],
  ['flag=true', ({ flag }) => flag],
  ['city=Cidade%207', ({ city }) => city === 'Cidade 7'],
  ['city__isnull=true', ({ city }) => city === null],
  ['price__range=10,20', ({ price }) => price !== null && price >= 10 && price <= 20],
  ['flag=false&price__gt=990', ({ flag, price }) => !flag && price !== null && price > 990],
  [
    'day=2020-01-03&city__contains=77',
    ({ day, city }) => day === '2020-01-03' && city?.includes('77') === true,
  ],
  ['city=nowhere', () => false],
]

describe.each(orders)('in the order %s', (ordering, keys) => {
  test.each(sampled(filters, 3))(
    'the pages of the filter "%s" have the expected rows without a scan of the parts',
    async (filter, isRight) => {
      const due = ordered(rowCells.filter(isRight), keys)
      const { app, seen } = await serving()
      // First ask in the order of the table: what the server keeps of it must not answer for the other order.
      const asLying = await getPage(app, `${address}?page_size=50&${filter}`)
      expect(asLying.results.map(({ n }) => n)).toEqual(
        rowCells
          .filter(isRight)
          .slice(0, 50)
          .map(({ n }) => n),
      )
      const last = Math.max(1, Math.ceil(due.length / 50))
      for (const page of new Set([1, Math.ceil(last / 2), last])) {
        const orderedPage = await getPage(
          app,
          `${address}?ordering=${ordering}&page_size=50&page=${page}&${filter}`,
        )
        expect(orderedPage.count).toBe(due.length)
        expect(orderedPage.results.map(({ n }) => n)).toEqual(
          due.slice((page - 1) * 50, page * 50).map(({ n }) => n),
        )
      }
      expect(seen()).toEqual([])
    },
  )
})

testAll('values that are long in total get no codes', async () => {
  const fields = ['n:integer', 'long:string', 'short:string'].map(fieldOf)
  const long = await workshop(
    catalogAround([{ name: 't', order: ['n'], filters: ['long', 'short'], packed: true, fields }]),
    {
      'd/t.csv': `n,long,short\n${Array.from({ length: 100 }, (_, n) => `${n},${String(n % 50).repeat(60_000)},${n % 3}\n`).join('')}`,
    },
  )
  const [outcome] = await long.ingest()
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  expect(outcome.manifest.codes?.fields).toEqual(['short'])
  const { app } = await serve(long)
  const { count, results } = await getPage(app, `${address}?long__startswith=7&short=1`)
  expect({ count, of: results.map(({ n }) => n) }).toEqual({ count: 1, of: [7] })
})
