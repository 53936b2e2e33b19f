import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database } from '../../core/duckdb/database.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** Connections to DuckDB: the files they may read, and how queries are stopped. */

let database: Database
let connection: Connection
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
  await writeFile(path.join(folder, 'in.csv'), 'a\n1\n')
  database = await Database.open({
    memory: '100MB',
    threads: 2,
    scratch: await temporaryFolder(),
    folders: [folder],
  })
  connection = await database.connect()
  await database.lock()
})
afterAll(() => {
  connection.close()
  database.close()
})

test('a locked database reads files of its own folders', async () => {
  await expect(connection.rows(`select count(*) from read_csv('${folder}/in.csv')`)).resolves.toEqual([[1n]])
})

test.each<[title: string, sql: string, refusal: RegExp]>([
  ['another file', "select * from read_text('/etc/hostname')", /Permission Error/],
  ['a file by a detour', "select * from read_text('FOLDER/../../etc/hostname')", /Permission Error/],
  ['a listing of other folders', "select * from glob('/*')", /Permission Error/],
  ['the network', "select * from read_csv('http://127.0.0.1:1/x.csv')", /Permission Error|disabled/],
  ['a file to write', "copy (select 1) to 'FOLDER/../must-not-be.csv'", /Permission Error/],
  ['an extension', 'install httpfs', /Permission Error|disabled/],
  ['a setting', "set memory_limit = '1GB'", /locked/],
  ['an attempt to allow external access again', 'set enable_external_access = true', /locked|Cannot/],
  ['a second statement', 'select 1; select 2', /multiple statements/],
])('a locked database refuses %s', async (_what, sql, refusal) => {
  await expect(connection.rows(sql.replace('FOLDER', folder))).rejects.toThrow(refusal)
})

test('a query beyond its timeout is stopped, and the connection stays usable', async () => {
  const endless = 'select count(*) from range(100000000000) as t(x) where sqrt(x) * 2 = 3'
  await expect(connection.rows(endless, [], { timeoutMs: 30 })).rejects.toThrow(
    'the query took longer than 30 ms',
  )
  await expect(connection.rows('select $1 || $2', ['a', "'b"])).resolves.toEqual([["a'b"]])
})
