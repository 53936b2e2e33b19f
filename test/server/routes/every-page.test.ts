import { tableFromIPC } from 'apache-arrow'
import { parse } from 'csv-parse/sync'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { isQuick, seed } from '../../support/runs.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'

/** Whole tables, page by page, in every format and many page sizes: the same rows in the same order. */

const count = isQuick ? 5200 : 20_500
const at = '/api/v1/dataset/d/t'

let service: Service
beforeAll(async () => {
  const lines = Array.from({ length: count }, (_, n) => `${n},text ${(n * 7919) % 1000},${n % 3}`)
  const shop = await workshop(
    tinyCatalog({ fields: ['n:integer', 's:string', 'm:integer'], order: ['n'], filters: ['m'] }),
    { 'd/t.csv': `n,s,m\n${lines.join('\n')}\n` },
  )
  await shop.ingest()
  service = await serve(shop)
}, 60_000)

type Rows = readonly (readonly string[])[]
const fields = ['m', 'n', 's']

/** The rows of an answer, each with its values in the order of the names of its fields. */
const readers: Readonly<Record<string, (body: Buffer) => Rows>> = {
  json: (body) =>
    (JSON.parse(body.toString()) as { results: Record<string, unknown>[] }).results.map(valuesOf),
  ndjson: (body) =>
    body
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => valuesOf(JSON.parse(line) as Record<string, unknown>)),
  csv: (body) => parse<Record<string, unknown>>(body, { columns: true }).map(valuesOf),
  arrow: (body) =>
    tableFromIPC(body)
      .toArray()
      .map((row) => valuesOf((row as { toJSON: () => Record<string, unknown> }).toJSON())),
}

function valuesOf(row: Record<string, unknown>): string[] {
  return fields.map((name) => String(row[name]))
}

const expected = (isChosen: (n: number) => boolean): Rows =>
  Array.from({ length: count }, (_, n) => n)
    .filter(isChosen)
    .map((n) => [String(n % 3), String(n), `text ${(n * 7919) % 1000}`])

// Pages of 1,000 begin right before the boundaries of DuckDB's vectors of 2,048 rows; those of 683 anywhere.
const sizes = isQuick ? [1000 + (seed % 20)] : [683, 999, 1000, 2047, 4095, 10_000]

test.each(Object.keys(readers).flatMap((format) => sizes.map((size): [string, number] => [format, size])))(
  'pages as %s of %d rows have all rows in their order',
  async (format, size) => {
    for (const [query, due] of [
      ['', expected(() => true)],
      ['&m=1', expected((n) => n % 3 === 1)],
    ] as const) {
      const pages: Rows[] = []
      for (let page = 1; (page - 1) * size < due.length; page += 1) {
        const { status, body } = await rawGet(
          service.app,
          `${at}/data/?format=${format}&page_size=${size}&page=${page}${query}`,
        )
        expect([query, page, status]).toEqual([query, page, 200])
        pages.push(readers[format]?.(body) ?? [])
      }
      expect(pages.flat()).toEqual(due)
    }
  },
  120_000,
)

test.each(Object.keys(readers).filter((format) => format !== 'json'))(
  'an export as %s has all rows in their order',
  async (format) => {
    for (const [query, due] of [
      ['', expected(() => true)],
      ['&m=2', expected((n) => n % 3 === 2)],
    ] as const) {
      const { status, body } = await rawGet(service.app, `${at}/export/?format=${format}${query}`)
      expect([query, status]).toEqual([query, 200])
      expect(readers[format]?.(body)).toEqual(due)
    }
  },
)
