import { tableFromIPC } from 'apache-arrow'
import { parse } from 'csv-parse/sync'
import { fieldTypeNames, typeRow, type FieldType } from '../core/catalog/field-types.ts'
import { digitsDefault } from '../core/catalog/types/field-type.ts'
import { randomFrom } from '../bench/random.ts'
import { randomValue } from '../bench/values.ts'
import { isQuick, seed } from './support/runs.ts'
import { getPage, rawGet, serve } from './support/service.ts'
import { catalogAround, workshop } from './support/workshop.ts'

/** Contract of every field type: a new type is tested by itself, from a CSV to each format. */

const rowCount = 200
const valuesAsked = isQuick ? 4 : 12
const data = '/api/v1/dataset/d/t/data/'

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Name of the field of a type. */
const fieldOfType = (type: FieldType): string => `v_${type}`

/** Values of each type as a source writes them, every tenth null: a field a type. */
const written = new Map(
  fieldTypeNames.map((type) => {
    const random = randomFrom(`${seed} ${type}`)
    const sample = (): string => randomValue[type](random, digitsDefault)
    return [type, Array.from({ length: rowCount }, (_, n) => (n % 10 === 9 ? '' : sample()))] as const
  }),
)

/** A published table of all types, which is served. */
async function served() {
  const fields = fieldTypeNames.map((type) => ({ name: fieldOfType(type), type }))
  const filters = fields.map(({ name }) => name)
  const catalog = catalogAround([
    { name: 't', order: ['n'], filters, fields: [{ name: 'n', type: 'integer' }, ...fields] },
  ])
  const lines = Array.from({ length: rowCount }, (_, n) =>
    [String(n), ...[...written.values()].map((texts) => cell(texts[n] ?? ''))].join(','),
  )
  const shop = await workshop(catalog, { 'd/t.csv': `${['n', ...filters].join(',')}\n${lines.join('\n')}\n` })
  const [outcome] = await shop.ingest({ partRows: 64, codedDistinctMax: 5 })
  expect([seed, outcome?.status]).toEqual([seed, 'published'])
  return { shop, ...(await serve(shop)) }
}

let table: Awaited<ReturnType<typeof served>>
beforeAll(async () => {
  table = await served()
})

const numbersOf = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ n }) => n)

describe.each(fieldTypeNames)('a field of type %s', (type) => {
  const row = typeRow(type)
  const v = fieldOfType(type)
  const target = `${data}?page_size=10000&fields=n,${v}`
  const values = (written.get(type) ?? []).map((text) =>
    text === '' ? null : row.parse(text.replace(' ', type === 'datetime' ? 'T' : ' '), digitsDefault),
  )

  test('is rendered as its source wrote it, in every format', async () => {
    const { app } = table
    expect(values.filter((value) => value === null)).toHaveLength(rowCount / 10)
    const page = await getPage(app, target)
    const texts = values.map((value) => (value === null ? null : row.wire.text(value)))
    const due = texts.map((text) =>
      text === null || row.wire.kind === 'text' ? text : (JSON.parse(text) as unknown),
    )
    expect(page.results.map((result) => result[v])).toEqual(due)

    const { body: lines } = await rawGet(app, `${target}&format=ndjson`)
    expect(
      lines
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(page.results)

    const { body: csv } = await rawGet(app, `${target}&format=csv`)
    const records = parse(csv, { columns: true }) as Record<string, string>[]
    const cells = records.map((record) => record[v] ?? '')
    expect(cells.map((text) => (text === '' ? null : row.parse(text, digitsDefault)))).toEqual(values)

    const { body: arrow } = await rawGet(app, `${target}&format=arrow`)
    const column = tableFromIPC(arrow).getChild(v)
    expect(Array.from({ length: rowCount }, (_, n) => column?.get(n) === null)).toEqual(
      values.map((value) => value === null),
    )
  })

  test('finds exactly the rows that have the requested value', async () => {
    const { app } = table
    const positions = new Map<string | null, number[]>()
    for (const [n, value] of values.entries()) positions.set(value, [...(positions.get(value) ?? []), n])
    const expected = new Map<string | null, unknown[]>()
    for (const value of [...positions.keys()].slice(0, valuesAsked)) {
      const condition = value === null ? `${v}__isnull=true` : `${v}=${encodeURIComponent(value)}`
      expected.set(value, numbersOf((await getPage(app, `${target}&${condition}`)).results))
    }
    expect(expected).toEqual(new Map([...positions].slice(0, valuesAsked)))
  })

  test('is ordered with nulls last, and compared in this order', async () => {
    const { app } = table
    const numbers = values.map((_, n) => n)
    const before = (a: number, b: number): number => {
      const [left, right] = [values[a] ?? null, values[b] ?? null]
      if (left === null || right === null) return Number(left === null) - Number(right === null)
      return row.compare(left, right)
    }
    const { results } = await getPage(app, `${target}&ordering=${v}`)
    expect(numbersOf(results)).toEqual(numbers.toSorted((a, b) => before(a, b) || a - b))
    const [middle] = values.filter((value) => value !== null).slice(50)
    const above = await rawGet(app, `${target}&${v}__gt=${encodeURIComponent(middle ?? '')}`)
    const due = numbers.filter((n) => values[n] !== null && row.compare(values[n] ?? '', middle ?? '') > 0)
    const answer = JSON.parse(above.body.toString()) as { results?: Record<string, unknown>[] }
    expect(row.isOrdered ? numbersOf(answer.results ?? []) : above.status).toEqual(row.isOrdered ? due : 400)
  })
})

test('a table of all types is equal after its published CSV is ingested again', async () => {
  const { app, shop } = table
  const { body } = await rawGet(app, '/api/v1/dataset/d/t/export/?format=csv', {
    'Accept-Encoding': 'identity',
  })
  const again = await workshop(shop.catalog, { 'd/t.csv': body })
  const [outcome] = await again.ingest()
  expect(outcome?.status).toBe('published')
  const rebuilt = await serve(again)
  const page = `${data}?page_size=10000`
  expect((await getPage(rebuilt.app, page)).results).toEqual((await getPage(app, page)).results)
})
