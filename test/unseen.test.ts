import fc from 'fast-check'
import { CatalogError } from '../core/catalog/load.ts'
import type { Catalog } from '../core/catalog/catalog.ts'
import { serve, walk } from './support/service.ts'
import { tinyCatalog, workshop } from './support/workshop.ts'
import { isNoRow } from './ingest/support/csv-texts.ts'
import { runsOf, seed } from './support/runs.ts'

/** Any fields, any order, any rows: what a catalog that nobody has seen declares comes back exactly and sorted. */

type Cell = string | number | boolean | null

const day = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
const cells: Readonly<Record<string, fc.Arbitrary<Cell>>> = {
  string: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !/[\0\r]/.test(text)),
  text: fc.string({
    unit: fc.constantFrom('a', 'b', 'Z', 'é', '\n', '"', ',', '0'),
    minLength: 1,
    maxLength: 4,
  }),
  integer: fc.integer(),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
  'decimal:9:3': fc.integer({ min: -999_999_999, max: 999_999_999 }).map((number) => number / 1000),
  bool: fc.boolean(),
  date: day.map((date) => date.toISOString().slice(0, 10)),
  datetime: day.map((date) => date.toISOString().slice(0, 19)),
}

// Integer-like names are refused by the loader; which others are is its own test.
const fieldName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter(
    (name) =>
      !/[:\p{Cc}]/u.test(name) && name === name.trim() && !/^[+-]?\d+([.,]\d*)?$| (asc|desc)$/.test(name),
  )

interface Case {
  readonly fields: readonly (readonly [name: string, type: string])[]
  readonly order: readonly (readonly [index: number, direction: 'asc' | 'desc'])[]
  /** Positions of the fields in the header of the source. */
  readonly header: readonly number[]
  readonly rows: readonly (readonly Cell[])[]
  readonly partRows: number
  readonly pageSize: number
}

const unseen: fc.Arbitrary<Case> = fc
  .uniqueArray(fieldName, { minLength: 1, maxLength: 7, selector: (name) => name.toLowerCase() })
  .chain((names) =>
    fc.tuple(
      fc.constant(names),
      fc.array(fc.constantFrom(...Object.keys(cells)), { minLength: names.length, maxLength: names.length }),
    ),
  )
  .chain(([names, types]) => {
    const row = fc
      .tuple(...types.map((type) => fc.option(cells[type] ?? fc.constant(null), { freq: 4 })))
      .filter((values) => names.length === 1 || !isNoRow(values.map((cell) => String(cell ?? ''))))
    const indexes = names.map((_, index) => index)
    return fc.record({
      fields: fc.constant(names.map((name, index) => [name, types[index] ?? ''] as const)),
      order: fc.uniqueArray(
        fc.tuple(fc.constantFrom(...indexes), fc.constantFrom('asc' as const, 'desc' as const)),
        { maxLength: 3, selector: ([index]) => index },
      ),
      header: fc.shuffledSubarray(indexes, { minLength: indexes.length }),
      rows: fc.array(row, { maxLength: 40 }),
      partRows: fc.integer({ min: 1, max: 50 }),
      pageSize: fc.integer({ min: 1, max: 50 }),
    })
  })

function compare(a: Cell, b: Cell): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a === b ? 0 : Number(a) < Number(b) ? -1 : 1
}

function sorted({ order, rows }: Case): readonly (readonly Cell[])[] {
  return rows.toSorted((left, right) => {
    for (const [index, direction] of order) {
      const [a = null, b = null] = [left[index], right[index]]
      if (a === null && b === null) continue
      if (a === null || b === null) return a === null ? 1 : -1
      const difference = compare(a, b) * (direction === 'asc' ? 1 : -1)
      if (difference !== 0) return difference
    }
    return 0
  })
}

function quoted(cell: Cell): string {
  return `"${(cell === null ? '' : String(cell)).replaceAll('"', '""')}"`
}

function csvOf({ fields, header, rows }: Case): string {
  const lines = [
    header.map((index) => fields[index]?.[0] ?? ''),
    ...rows.map((row) => header.map((index) => row[index] ?? null)),
  ]
  return `${lines.map((line) => line.map(quoted).join(',')).join('\n')}\n`
}

function catalogOf({ fields, order }: Case): Catalog | null {
  try {
    return tinyCatalog({
      fields: fields.map(([name, type]) => `${name}:${type}`),
      order: order.map(([index, direction]) => `${fields[index]?.[0] ?? ''} ${direction}`),
      may_be_empty: true,
    })
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

test('a random catalog and source give the rows that an independent reader computes', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(unseen, async (example) => {
      const catalog = catalogOf(example)
      if (catalog === null) {
        refused += 1
        return
      }
      const shop = await workshop(catalog, { 'd/t.csv': csvOf(example) })
      expect(await shop.ingest({ partRows: example.partRows })).toMatchObject([{ status: 'published' }])
      const { app, close } = await serve(shop)
      const pages = await walk(app, `/api/v1/dataset/d/t/data/?page_size=${example.pageSize}`)
      await close()
      const names = example.fields.map(([name]) => name)
      const rows = sorted(example).map((row) =>
        names.map((name, index) => [name, row[index]] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      )
      expect(pages.flatMap((page) => page.results.map((row) => Object.entries(row)))).toEqual(rows)
      expect(new Set(pages.map((page) => page.count))).toEqual(new Set([example.rows.length]))
    }),
    { seed, numRuns: runsOf('UNSEEN') },
  )
  expect(refused).toBeLessThan(10)
}, 120_000)
