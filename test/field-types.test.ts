import { tableFromIPC } from 'apache-arrow'
import { parse } from 'csv-parse/sync'
import { fieldTypeNames, typeRow, type FieldType } from '../core/catalog/field-types.ts'
import { digitsDefault } from '../core/catalog/types/field-type.ts'
import { randomFrom } from '../ingest/sample/random.ts'
import { isQuick, seed, testAll } from './support/runs.ts'
import { getPage, rawGet, serve } from './support/service.ts'
import { catalogAround, workshop } from './support/workshop.ts'

/** What holds of a type, whatever it is: one that is added is tested here by itself, from a CSV to each format. */

const rowCount = 200
const valuesAsked = isQuick ? 4 : 12
const data = '/api/v1/dataset/d/t/data/'

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Values as a source writes them, every tenth null, in a table that was published and is served. */
async function served(type: FieldType) {
  const row = typeRow(type)
  const random = randomFrom(`${seed} ${type}`)
  const written = Array.from({ length: rowCount }, (_, n) =>
    n % 10 === 9 ? '' : row.sample(random, digitsDefault),
  )
  const catalog = catalogAround([
    {
      name: 't',
      order: ['n'],
      filters: ['v'],
      fields: [
        { name: 'n', type: 'integer' },
        { name: 'v', type },
      ],
    },
  ])
  const shop = await workshop(catalog, {
    'd/t.csv': `n,v\n${written.map((text, n) => `${n},${cell(text)}\n`).join('')}`,
  })
  const [outcome] = await shop.ingest({ partRows: 64, codedDistinctMax: 5 })
  expect([seed, outcome?.status]).toEqual([seed, 'published'])
  const values = written.map((text) =>
    text === '' ? null : row.parse(text.replace(' ', type === 'datetime' ? 'T' : ' '), digitsDefault),
  )
  return { row, values, shop, ...(await serve(shop)) }
}

const numbersOf = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ n }) => n)

describe.each(fieldTypeNames)('a field of type %s', (type) => {
  let table: Awaited<ReturnType<typeof served>>
  beforeAll(async () => {
    table = await served(type)
  })

  test('is what a source wrote, in every format', async () => {
    const { row, values, app } = table
    expect(values.filter((value) => value === null)).toHaveLength(rowCount / 10)
    const page = await getPage(app, `${data}?page_size=10000`)
    const texts = values.map((value) => (value === null ? null : row.wire.text(value)))
    const due = texts.map((text) =>
      text === null || row.wire.kind === 'text' ? text : (JSON.parse(text) as unknown),
    )
    expect(page.results.map(({ v }) => v)).toEqual(due)

    const { body: lines } = await rawGet(app, `${data}?page_size=10000&format=ndjson`)
    expect(
      lines
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(page.results)

    const { body: csv } = await rawGet(app, `${data}?page_size=10000&format=csv`)
    const records = parse(csv, { columns: true }) as { v: string }[]
    expect(records.map(({ v }) => (v === '' ? null : row.parse(v, digitsDefault)))).toEqual(values)

    const { body: arrow } = await rawGet(app, `${data}?page_size=10000&format=arrow`)
    const column = tableFromIPC(arrow).getChild('v')
    expect(Array.from({ length: rowCount }, (_, n) => column?.get(n) === null)).toEqual(
      values.map((value) => value === null),
    )
  })

  test('is found by each of its values, and by none that it has not', async () => {
    const { values, app } = table
    const positions = new Map<string | null, number[]>()
    for (const [n, value] of values.entries()) positions.set(value, [...(positions.get(value) ?? []), n])
    const found = new Map<string | null, unknown[]>()
    for (const value of [...positions.keys()].slice(0, valuesAsked)) {
      const condition = value === null ? 'v__isnull=true' : `v=${encodeURIComponent(value)}`
      found.set(value, numbersOf((await getPage(app, `${data}?${condition}&page_size=10000`)).results))
    }
    expect(found).toEqual(new Map([...positions].slice(0, valuesAsked)))
  })

  test('comes in its order, nulls last, and is compared by it', async () => {
    const { row, values, app } = table
    const numbers = values.map((_, n) => n)
    const before = (a: number, b: number): number => {
      const [one, other] = [values[a] ?? null, values[b] ?? null]
      if (one === null || other === null) return Number(one === null) - Number(other === null)
      return row.compare(one, other)
    }
    const { results } = await getPage(app, `${data}?ordering=v&page_size=10000`)
    expect(numbersOf(results)).toEqual(numbers.toSorted((a, b) => before(a, b) || a - b))
    const [middle] = values.filter((value) => value !== null).slice(50)
    const above = await rawGet(app, `${data}?v__gt=${encodeURIComponent(middle ?? '')}&page_size=10000`)
    const due = numbers.filter((n) => values[n] !== null && row.compare(values[n] ?? '', middle ?? '') > 0)
    const answer = JSON.parse(above.body.toString()) as { results?: Record<string, unknown>[] }
    expect(row.isOrdered ? numbersOf(answer.results ?? []) : above.status).toEqual(row.isOrdered ? due : 400)
  })

  const testOnce = type === 'list' ? test : testAll
  testOnce('is the same after its published CSV is ingested anew', async () => {
    const { app, shop } = table
    const { body } = await rawGet(app, '/api/v1/dataset/d/t/export/?format=csv', {
      'Accept-Encoding': 'identity',
    })
    const again = await workshop(shop.catalog, { 'd/t.csv': body })
    const [outcome] = await again.ingest()
    expect(outcome?.status).toBe('published')
    const other = await serve(again)
    const page = `${data}?page_size=10000`
    expect((await getPage(other.app, page)).results).toEqual((await getPage(app, page)).results)
  })
})
