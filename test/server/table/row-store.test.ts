import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import request from 'supertest'
import { allTables } from '../../../core/catalog/catalog.ts'
import { Connection } from '../../../core/duckdb/connection.ts'
import { rowFormats } from '../../../server/formats/registry.ts'
import { randomQuery, readRows, type Row } from '../../evaluator/rows.ts'
import { hostileCsv, hostileTable } from '../../evaluator/hostile-texts.ts'
import { compareOne, randomFrom } from '../../evaluator/random-queries.ts'
import { isQuick, runsOf, seed, testAll } from '../../support/runs.ts'
import { getPage, rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Rows that are read from the row store. */

const asks = runsOf('ROW_STORE_QUERIES')
/** Formats whose lines are written from stored rows. */
const storedFormats = rowFormats.flatMap((format) =>
  'stored' in format && format.pack === undefined ? [format.name] : [],
)
const address = '/api/v1/dataset/d/t/data/'

describe('rows of every type', () => {
  let shops: readonly Workshop[]
  let rows: readonly Row[]
  beforeAll(async () => {
    const csv = gzipSync(
      isQuick ? hostileCsv(randomFrom(seed), 200, 1) : hostileCsv(randomFrom(seed), 1500, 3),
    )
    shops = await Promise.all(
      [true, false].map(async (isPacked) => {
        const shop = await workshop(catalogAround([{ name: 't', ...hostileTable, packed: isPacked }]))
        await shop.write('d/t.csv.gz', csv)
        const [outcome] = await shop.ingest({ partRows: 512 })
        if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
        if ((outcome.manifest.row_stores !== undefined) !== isPacked)
          throw new Error('the row store is not as declared')
        return shop
      }),
    )
    const [first] = shops
    const [table] = first === undefined ? [] : allTables(first.catalog)
    if (first === undefined || table === undefined) throw new Error('no table')
    rows = await readRows(path.join(first.sources, 'd/t.csv.gz'), table)
  }, 60_000)

  test('have the same bytes as DuckDB writes, in every format', async () => {
    const services = await Promise.all(shops.map((shop) => serve(shop)))
    const [table] = allTables(shops[0]?.catalog ?? catalogAround([]))
    if (table === undefined) throw new Error('no table')
    const random = randomFrom(seed)
    for (let left = asks; left > 0; left -= 1) {
      const { query } = randomQuery(random, table, rows)
      query.set('page_size', String([1, 7, 300][left % 3]))
      for (const format of storedFormats) {
        query.set('format', format)
        const target = `${address}?${query.toString()}`
        const [packed, written] = await Promise.all(services.map(({ app }) => rawGet(app, target)))
        expect([seed, target, packed?.body.toString()]).toEqual([seed, target, written?.body.toString()])
        const [{ app }] = services as [Service]
        const zipped = await rawGet(app, target, { 'Accept-Encoding': 'gzip' })
        const isGzip = zipped.headers['content-encoding'] === 'gzip'
        const bytes = isGzip ? gunzipSync(zipped.body) : zipped.body
        expect([seed, target, bytes.toString()]).toEqual([seed, target, written?.body.toString()])
      }
    }
  }, 1_800_000)

  test('match the rows that an independent evaluator computes', async () => {
    const [shop] = shops
    const [table] = shop === undefined ? [] : allTables(shop.catalog)
    if (shop === undefined || table === undefined) throw new Error('no table')
    const service = await serve(shop)
    const random = randomFrom(seed)
    const differences: string[] = []
    for (let left = asks; left > 0; left -= 1) {
      const difference = await compareOne(service, table, rows, random)
      if (difference !== null) differences.push(difference)
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  }, 1_800_000)
})

const due = (n: number) => ({ alone: `name ${n}`, few: n % 7, n, varied: (n * 7919) % 5000, x: n / 64 })

describe('rows of a large table', () => {
  // Several sections of chunks.
  const count = isQuick ? 30_000 : 270_000
  let shop: Workshop
  beforeAll(async () => {
    const lines = Array.from(
      { length: count },
      (_, n) => `${n},${n % 7},${(n * 7919) % 5000},${n / 64},name ${n}`,
    )
    const fields = ['n:integer', 'few:integer', 'varied:integer', 'x:float', 'alone:string'].map(fieldOf)
    const table = { name: 't', order: ['n asc'], filters: ['few', 'varied'], fields }
    shop = await workshop(catalogAround([table]), {
      'd/t.csv': `n,few,varied,x,alone\n${lines.join('\n')}\n`,
    })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  }, 60_000)

  /** A service, and how many statements brought rows. */
  const serving = async (): Promise<Service & { statements: () => number }> => {
    const service = await serve(shop)
    const spy = jest.spyOn(Connection.prototype, 'texts')
    return { ...service, statements: () => spy.mock.calls.length }
  }

  test.each([1, 128, 300, ...(isQuick ? [] : [1310, 1311, 2048, 2700])])(
    'page %d is read without an SQL statement',
    async (page) => {
      const { app, statements } = await serving()
      const { results } = await getPage(app, `${address}?page=${page}&page_size=100`)
      expect(results).toEqual(Array.from({ length: 100 }, (_, row) => due((page - 1) * 100 + row)))
      expect(statements()).toBe(0)
    },
  )

  test('scattered rows are read without a statement, in their order', async () => {
    const { app, statements } = await serving()
    const { results } = await getPage(app, `${address}?varied=77&ordering=-few`)
    const matching = Array.from({ length: count }, (_, n) => due(n)).filter(({ varied }) => varied === 77)
    expect(results).toEqual(matching.toSorted((a, b) => b.few - a.few || a.n - b.n))
    expect(statements()).toBe(0)
  })

  test('rows for HTML pages are read without an SQL statement, if no field needs DuckDB', async () => {
    const { app, statements } = await serving()
    const { text } = await request(app)
      .get('/en/dataset/d/t/?varied=77&fields=alone,few,n,varied')
      .set('Accept', 'text/html')
      .expect(200)
    const names = [...text.matchAll(/name \d+/g)].map(([name]) => name)
    const matching = Array.from({ length: count }, (_, n) => due(n)).filter(({ varied }) => varied === 77)
    expect(names.slice(0, 40)).toEqual(matching.slice(0, 40).map(({ alone }) => alone))
    expect(statements()).toBe(0)
  })

  test('many rows at once are read as JSON without an SQL statement, and by DuckDB in other forms', async () => {
    const { app, statements } = await serving()
    const { results } = await getPage(app, `${address}?page=2&page_size=5000`)
    expect(results).toEqual(Array.from({ length: 5000 }, (_, row) => due(5000 + row)))
    expect(statements()).toBe(0)
    for (const form of ['format=csv', 'fields=n'])
      await request(app).get(`${address}?few=3&page_size=4000&${form}`).expect(200)
    expect(statements()).toBe(2)
  })

  test('too large for a page are refused', async () => {
    const { app } = await serve(shop, { pageBytesMax: 5000 })
    await request(app).get(`${address}?varied=77&page_size=1000`).expect(200)
    await request(app).get(`${address}?few=1&page_size=1000`).expect(422)
  })
})

const long = (n: number): string => `${n} `.repeat(2000)
const longRow = (n: number) => ({ few: n % 13, n, text: long(n) })

testAll('decimals of many values have all of their digits, with final zeros', async () => {
  const random = randomFrom(seed)
  const scales = [0, 1, 2, 4, 5]
  const fields = [
    'n:integer',
    ...scales.map((scale) => `d${scale}:decimal:18:${scale}`),
    'wide:decimal:38:2',
    'short:decimal:9:2',
    'tiny:decimal:9:7',
  ]
  const decimal = (scale: number, digits: number): string => {
    if (random() < 0.05) return ''
    const whole = BigInt(Math.floor(random() * 10 ** (random() * digits)))
    const fraction = String(Math.floor(random() * 10 ** scale)).padStart(scale, '0')
    const zeros = random() < 0.5 ? fraction : fraction.slice(0, Math.ceil(scale / 2)).padEnd(scale, '0')
    return `${random() < 0.3 ? '-' : ''}${whole}${scale === 0 ? '' : `.${zeros}`}`
  }
  const lines = Array.from({ length: isQuick ? 1500 : 6000 }, (_, n) =>
    [
      n,
      ...scales.map((scale) => decimal(scale, 9)),
      decimal(2, 30),
      decimal(2, 6),
      `0.${'0'.repeat(n % 6)}10`,
    ].join(','),
  )
  const csv = `${fields.map((field) => field.slice(0, field.indexOf(':'))).join(',')}\n${lines.join('\n')}\n`
  const services = await Promise.all(
    [true, false].map(async (packed) => {
      const shop = await workshop(
        catalogAround([{ name: 't', order: ['n asc'], fields: fields.map(fieldOf), packed }]),
      )
      await shop.write('d/t.csv', csv)
      const [outcome] = await shop.ingest()
      if (outcome?.status !== 'published') throw new Error('it was not published')
      // The row store has codes of fields with few values.
      expect(outcome.manifest.dictionary?.fields.map(({ name }) => name) ?? []).not.toContain('d2')
      return serve(shop)
    }),
  )
  for (const format of storedFormats) {
    for (const page of [1, 3, 7]) {
      const target = `${address}?page_size=200&page=${page}&format=${format}`
      const [packed, written] = await Promise.all(services.map(({ app }) => rawGet(app, target)))
      expect([seed, packed?.status, packed?.body.toString()]).toEqual([seed, 200, written?.body.toString()])
    }
  }
})

testAll('rows whose chunks are large are written by DuckDB', async () => {
  const rowsInAll = 2600
  const table = { name: 't', order: ['n asc'], filters: ['few'] }
  const shop = await workshop(
    catalogAround([{ ...table, fields: ['n:integer', 'few:integer', 'text:string'].map(fieldOf) }]),
  )
  const lines = Array.from({ length: rowsInAll }, (_, n) => `${n},${n % 13},${long(n)}\n`)
  await shop.write('d/t.csv', `n,few,text\n${lines.join('')}`)
  await shop.ingest()
  const { app } = await serve(shop, { rateLimits: true })
  const spy = jest.spyOn(Connection.prototype, 'texts')
  const shareLeft = async (): Promise<number> => {
    const { text } = await request(app).get('/limits')
    return Number(/"share[^}]*?"remaining":(\d+)/.exec(text)?.[1])
  }
  // Rows of one chunk, and of several.
  const near = await getPage(app, `${address}?page=3&page_size=10`)
  expect([near.results, spy.mock.calls.length]).toEqual([
    [20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map(longRow),
    0,
  ])
  const before = await shareLeft()
  const far = await getPage(app, `${address}?few=5&page_size=200`)
  const matching = Array.from({ length: rowsInAll }, (_, n) => n).filter((n) => n % 13 === 5)
  expect(far.results).toEqual(matching.map(longRow))
  expect(spy.mock.calls.length).toBeGreaterThan(0)
  // Decoding a row group for them is charged as well.
  expect(before - (await shareLeft())).toBeGreaterThan(0)
})
