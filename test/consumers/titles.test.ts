import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { jsonAt, rawGet, serve, textAt, type Service } from '../support/service.ts'
import { catalogAround, temporaryFolder, workshop } from '../support/workshop.ts'

/** Titles and units of the catalog in everything that describes or carries the fields of a table. */

const table = {
  name: 't',
  title: { pt: 'Chuva', en: 'Rain' },
  order: ['day'],
  filters: ['day'],
  measures: ['mm'],
  fields: [
    { name: 'day', type: 'date', title: { pt: 'Dia', en: 'Day' } },
    { name: 'mm', type: 'integer', title: 'Volume', unit: 'mm', description: 'Sum of a day' },
    { name: 'note', type: 'string' },
  ],
}

let service: Service
let part: string
beforeAll(async () => {
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': 'day,mm,note\n2024-01-01,3,a\n' })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('not published')
  const { manifest } = outcome
  part = path.join(shop.warehouse, 'd/t', manifest.snapshot, manifest.parts[0]?.file ?? '')
  service = await serve(shop)
})

/** Runs SQL as an analyst does, and returns its rows. */
async function rowsOf(sql: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson()
  connection.closeSync()
  instance.closeSync()
  return rows
}

const fields = async (target: string, pick: (document: never) => unknown): Promise<unknown> =>
  pick((await jsonAt(service.app, target)) as never)

test('documents name fields by their titles', async () => {
  type Field = Record<string, unknown>
  const documents = {
    csvw: await fields('/metadata/d/t/csv-metadata.json', (document: { tableSchema: { columns: Field[] } }) =>
      document.tableSchema.columns.map((column) => [column['name'], column['titles'], column['dc:title']]),
    ),
    croissant: await fields('/metadata/d/croissant.json', (document: { recordSet: { field: Field[] }[] }) =>
      document.recordSet[0]?.field.map(({ description }) => description),
    ),
    schema: await fields('/metadata/d/t/schema.json', (document: { properties: Record<string, Field> }) =>
      Object.values(document.properties).map(({ title, description }) => [title, description]),
    ),
    package: await fields(
      '/metadata/d/datapackage.json',
      (document: { resources: { title: string; schema: { fields: Field[] } }[] }) =>
        document.resources.map(({ title, schema }) => [
          title,
          ...schema.fields.map((field) => field['title']),
        ]),
    ),
    sql: [...(await textAt(service.app, '/metadata/d/t/schema.sql')).matchAll(/^comment on (.*)$/gm)].map(
      ([, comment]) => comment,
    ),
    llms: (await textAt(service.app, '/llms.txt')).includes(
      '[d/t](http://localhost:8000/api/v1/dataset/d/t/): Chuva; fields',
    ),
  }
  expect(documents).toEqual({
    csvw: [
      ['day', 'day', 'Dia'],
      ['mm', 'mm', 'Volume'],
      ['note', 'note', undefined],
    ],
    croissant: ['Dia', 'Volume: Sum of a day (mm)', 'note'],
    schema: [
      ['Dia', undefined],
      ['Volume', 'Sum of a day Unit: mm.'],
      [undefined, undefined],
    ],
    package: [['Chuva', 'Dia', 'Volume', undefined]],
    sql: [
      `table "d"."t" is 'D: Chuva.';`,
      `column "d"."t"."day" is 'Dia';`,
      `column "d"."t"."mm" is 'Volume: Sum of a day (mm)';`,
    ],
    llms: true,
  })
})

async function metadataAt(target: string): Promise<unknown> {
  const { schema } = tableFromIPC((await rawGet(service.app, target)).body)
  return Object.fromEntries(schema.fields.map(({ name, metadata }) => [name, Object.fromEntries(metadata)]))
}

test('Arrow streams carry the titles and units of fields, but none for the measures of aggregates', async () => {
  expect([
    await metadataAt('/api/v1/dataset/d/t/export/?format=arrow'),
    await metadataAt('/api/v1/dataset/d/t/aggregate/?group=day&measure=mm__sum,rows&format=arrow'),
  ]).toEqual([
    { day: { title: 'Dia' }, mm: { title: 'Volume', unit: 'mm', description: 'Sum of a day' }, note: {} },
    { day: { title: 'Dia' }, mm__sum: {}, rows: {} },
  ])
})

test('Parquet files carry the titles and units of fields, and views have them in the comments of columns', async () => {
  const metadata = await rowsOf(
    `select decode(key) as key, decode(value) as value from parquet_kv_metadata('${part}') order by key`,
  )
  expect(metadata).toEqual([
    { key: 'fields', value: '{"day":{"title":"Dia"},"mm":{"title":"Volume","unit":"mm"}}' },
    { key: 'title', value: 'Chuva' },
  ])
  const file = path.join(await temporaryFolder(), 'warehouse.duckdb')
  await writeFile(file, (await rawGet(service.app, '/files/warehouse.duckdb')).body)
  const comments = await rowsOf(
    `attach '${file}' as w (read_only); select comment from duckdb_columns() where database_name = 'w' and table_name = 't'`,
  )
  expect(comments).toEqual([
    { comment: 'Dia (date)' },
    { comment: 'Volume: Sum of a day (mm) (integer)' },
    { comment: 'string' },
  ])
})
