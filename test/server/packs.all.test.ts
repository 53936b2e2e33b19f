import request from 'supertest'
import { Connection } from '../../core/duckdb/connection.ts'
import { getPage, serve } from '../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../support/workshop.ts'

/** Rows that are kept one by one. */

const address = '/api/v1/dataset/d/t/data/'

const long = (n: number): string => `${n} `.repeat(2000)
const longRow = (n: number) => ({ few: n % 13, n, text: long(n) })

test('rows whose packs are large are written by DuckDB', async () => {
  const rowsInAll = 2600
  const table = { name: 't', order: ['n asc'], filters: ['few'], packed: true }
  const shop = await workshop(
    catalogAround([{ ...table, fields: ['n:integer', 'few:integer', 'text:string'].map(fieldOf) }]),
  )
  const lines = Array.from({ length: rowsInAll }, (_, n) => `${n},${n % 13},${long(n)}\n`)
  await shop.write('d/t.csv', `n,few,text\n${lines.join('')}`)
  await shop.ingest()
  const limit = { requests: 100, per: '1m', windowMs: 60_000 }
  const limits = { ...shop.catalog.limits, rows: [limit], scans: [limit] }
  const { app } = await serve({ ...shop, catalog: { ...shop.catalog, limits } }, { rateLimits: true })
  const spy = jest.spyOn(Connection.prototype, 'texts')
  const scansLeft = async (): Promise<number> => {
    const { text } = await request(app).get('/limits')
    return Number(/"scans[^}]*?"remaining":(\d+)/.exec(text)?.[1])
  }
  // Those of one pack, and some of each.
  const near = await getPage(app, `${address}?page=3&page_size=10`)
  expect([near.results, spy.mock.calls.length]).toEqual([
    [20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map(longRow),
    0,
  ])
  const before = await scansLeft()
  const far = await getPage(app, `${address}?few=5&page_size=200`)
  const all = Array.from({ length: rowsInAll }, (_, n) => n).filter((n) => n % 13 === 5)
  expect(far.results).toEqual(all.map(longRow))
  expect(spy.mock.calls.length).toBeGreaterThan(0)
  // Of the row group that is decoded for them, too.
  expect(before - (await scansLeft())).toBe(1)
})
