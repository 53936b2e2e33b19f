import request from 'supertest'
import { rowFormats } from '../../../server/formats/registry.ts'
import { dateParts } from '../../../server/query/date-parts.ts'
import { measureFunctions, measureMeaning } from '../../../server/query/measures.ts'
import { operators as operatorRows, operatorsOf } from '../../../server/query/operators.ts'
import { allTables, tableId } from '../../../core/catalog/catalog.ts'
import { serve, type Service } from '../../support/service.ts'
import { catalogAround, workshop } from '../../support/workshop.ts'
import { publishSamples } from '../../support/samples.ts'

/** The description of a table in the API. */

let service: Service
beforeAll(async () => {
  const catalog = catalogAround([
    {
      name: 't',
      description: 'Payments.',
      order: ['day desc', 'state asc'],
      filters: ['state', 'value', 'paid'],
      search: ['who'],
      export_rows: 5,
      fields: [
        { name: 'day', type: 'date', title: 'Day', description: 'Of the payment.' },
        { name: 'state', type: 'string' },
        { name: 'value', type: 'decimal', precision: 20, scale: 2 },
        { name: 'paid', type: 'bool' },
        { name: 'who', type: 'text' },
      ],
    },
    { name: 'empty', order: [], fields: [{ name: 'n', type: 'integer' }] },
  ])
  const shop = await workshop(catalog, {
    'd/t.csv': `day,state,value,paid,who
2020-01-02,SP,900719925474099312.50,true,Ana
2020-01-01,RJ,-1.00,false,Zé
2020-01-03,,,,
`,
  })
  await shop.ingest()
  service = await serve(shop)
})

interface Detail {
  readonly snapshot: string
  readonly examples: readonly { readonly address: string }[]
}

test('a table describes its fields and possible queries', async () => {
  const response = await request(service.app).get('/api/v1/dataset/d/t/').expect(200)
  const { snapshot, examples, operators, parameters, ...others } = response.body as Detail &
    Record<string, unknown>
  const base = 'http://localhost:8000'
  expect(others).toEqual({
    dataset: 'd',
    name: 't',
    description: 'Payments.',
    rows: 3,
    schema_change: null,
    import_date: '2026-01-02T03:04:05Z',
    collected_at: '2020-01-01',
    order: [
      { field: 'day', direction: 'desc' },
      { field: 'state', direction: 'asc' },
    ],
    search: ['who'],
    fields: [
      {
        name: 'day',
        type: 'date',
        title: 'Day',
        description: 'Of the payment.',
        nullable: false,
        nulls: 0,
        distinct_estimate: 3,
        min: '2020-01-01',
        max: '2020-01-03',
        choices: ['2020-01-01', '2020-01-02', '2020-01-03'],
        operators: [],
        parts: [...dateParts],
        measures: ['count', 'distinct', 'min', 'max'],
        ordering: true,
        search: false,
      },
      {
        name: 'state',
        type: 'string',
        title: null,
        description: null,
        nullable: true,
        nulls: 1,
        distinct_estimate: 2,
        min: 'RJ',
        max: 'SP',
        choices: ['RJ', 'SP'],
        operators: operatorsOf({ type: 'string' }),
        parts: [],
        measures: ['count', 'distinct', 'min', 'max'],
        ordering: true,
        search: false,
      },
      {
        name: 'value',
        type: 'decimal',
        precision: 20,
        scale: 2,
        title: null,
        description: null,
        nullable: true,
        nulls: 1,
        distinct_estimate: 2,
        min: -1,
        max: Number('900719925474099312.5'),
        choices: [-1, Number('900719925474099312.5')],
        operators: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'range', 'isnull'],
        parts: [],
        measures: [...measureFunctions],
        ordering: true,
        search: false,
      },
      {
        name: 'paid',
        type: 'bool',
        title: null,
        description: null,
        nullable: true,
        nulls: 1,
        distinct_estimate: 2,
        min: false,
        max: true,
        choices: [false, true],
        operators: ['eq', 'ne', 'in', 'isnull'],
        parts: [],
        measures: ['count', 'distinct', 'min', 'max'],
        ordering: true,
        search: false,
      },
      {
        name: 'who',
        type: 'text',
        title: null,
        description: null,
        nullable: true,
        nulls: 1,
        distinct_estimate: 2,
        min: 'Ana',
        max: 'Zé',
        choices: ['Ana', 'Zé'],
        operators: [],
        parts: [],
        measures: ['count', 'distinct', 'min', 'max'],
        ordering: true,
        search: true,
      },
    ],
    page_size: { default: 1000, max: 10_000 },
    formats: rowFormats.map(({ name, contentType }) => ({ name, media_type: contentType })),
    dataset_url: `${base}/api/v1/dataset/d/`,
    data_url: `${base}/api/v1/dataset/d/t/data/`,
    export_url: `${base}/api/v1/dataset/d/t/export/`,
    aggregate_url: `${base}/api/v1/dataset/d/t/aggregate/`,
    changes_url: `${base}/api/v1/dataset/d/t/changes/`,
    measures: Object.fromEntries(measureFunctions.map((name) => [name, measureMeaning(name)])),
    export_rows_max: 5,
    files: {
      download: `${base}/files/d/t.csv.gz`,
      listing: `${base}/files/d/t/`,
      sums: `${base}/files/d/SHA512SUMS`,
    },
  })
  // With all digits.
  expect(response.text).toContain('"max":900719925474099312.50,')
  expect(operators).toEqual(
    Object.fromEntries(
      Object.entries(operatorRows)
        // No field of the table is made of parts.
        .filter(([name]) => name !== 'has' && name !== 'within')
        .map(([name, { meaning }]) => [name, meaning]),
    ),
  )
  expect(Object.keys(parameters as object)).toContain('ordering')
  expect(snapshot).toBe(service.snapshots.statuses[0]?.snapshot)
  expect(examples.length).toBeGreaterThan(3)
})

test('both families of addresses describe a table, with an ETag', async () => {
  const { headers, body } = await request(service.app).get('/api/dataset/d/t').expect(200)
  expect((body as { data_url: string }).data_url).toBe('http://localhost:8000/api/dataset/d/t/data')
  await request(service.app).get('/api/dataset/d/t').set('If-None-Match', String(headers['etag'])).expect(304)
  await request(service.app).get('/api/v1/dataset/d/t').expect(301)
  await request(service.app).get('/api/v1/dataset/d/tt/').expect(404)
  await request(service.app).get('/api/v1/dataset/d/t/?state=SP').expect(400)
})

test('a table that is not published describes its declaration', async () => {
  const { body } = await request(service.app).get('/api/v1/dataset/d/empty/').expect(200)
  expect(body).toMatchObject({ rows: null, snapshot: null, import_date: null })
})

test('every example of every table finds rows', async () => {
  const shop = await publishSamples()
  const tables = allTables(shop.catalog)
  const { app } = await serve(shop)
  const asked: [string, number, boolean][] = []
  for (const table of tables) {
    const { body } = await request(app)
      .get(`/api/v1/dataset/${tableId(table)}/`)
      .expect(200)
    for (const { address } of (body as Detail).examples) {
      const { pathname, search } = new URL(address)
      const { status, headers } = await request(app).get(pathname + search)
      asked.push([address, status, Number(headers['acervo-count']) > 0])
    }
  }
  expect(asked.length).toBeGreaterThan(2 * tables.length)
  expect(asked.filter(([, status, hasRows]) => status !== 200 || !hasRows)).toEqual([])
}, 60_000)
