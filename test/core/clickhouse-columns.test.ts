import { allTables } from '../../core/catalog/catalog.ts'
import { clickHouseColumns } from '../../core/clickhouse/tables.ts'
import { Database } from '../../core/duckdb/database.ts'
import { temporaryFolder, tinyCatalog } from '../support/workshop.ts'

/** A value of an address is looked for in ClickHouse as what DuckDB has written of it. */

test.each<[field: string, sql: string, values: string[]]>([
  ['integer', 'bigint', ['0', '-7', '9223372036854775807']],
  ['decimal:6:2', 'decimal(6, 2)', ['1234.50', '-0.25']],
  ['bool', 'boolean', ['true', 'false']],
  ['string', 'varchar', ['São', '']],
  ['date', 'date', ['1970-01-01', '1969-12-31', '0001-01-01', '9999-12-31']],
  [
    'datetime',
    'timestamp',
    [
      '1970-01-01 00:00:00',
      '2020-05-01 18:05:00.5',
      '2020-05-01 18:05:00.000001',
      '1899-12-31 23:59:59.999999',
      '0001-01-01 00:00:00.25',
    ],
  ],
])('a value of type %s is unchanged on its way to ClickHouse', async (type, sql, values) => {
  const [table] = allTables(tinyCatalog({ fields: [`v:${type}`], filters: ['v'] }))
  if (table === undefined) throw new Error('no table')
  const column = clickHouseColumns(table).get('v')
  const scratch = await temporaryFolder()
  const database = await Database.open({ memory: '100MB', threads: 1, scratch, folders: [scratch] })
  const db = await database.connect()
  const written = await Promise.all(
    values.map(async (value) => {
      const [[writtenText] = []] = await db.rows(
        `select (${column?.literalOf(`'${value}'::${sql}`) ?? ''})::varchar`,
      )
      return writtenText
    }),
  )
  db.close()
  database.close()
  expect(values.map((value) => column?.parameter(value))).toEqual(written)
})
