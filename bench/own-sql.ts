import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { loadCatalog } from '../core/catalog/load.ts'
import { Database } from '../core/duckdb/database.ts'
import { layout } from '../core/warehouse/layout.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { jsonFormat } from '../server/formats/json.ts'

/**
 * Measures the SQL of a page alone, through node-api: random pages of TABLE with ROWS rows, STATEMENTS times,
 * one thread a query. Sends the CPU time of one query, in ms, over IPC.
 */
const { CATALOG = '', WAREHOUSE = '', TABLE = 'large', ROWS = '100', STATEMENTS = '300' } = process.env
const [rows, statements] = [Number(ROWS), Number(STATEMENTS)]

const catalog = await loadCatalog(CATALOG)
const table = catalog.datasets.get('bench')?.tables.get(TABLE)
if (table === undefined) throw new Error(`there is no table ${TABLE}`)
const store = openStore(WAREHOUSE)
const manifest = await publishedOf(store, table)
if (manifest === null) throw new Error(`${TABLE} is not published`)
const folder = store.place(layout.snapshot(table, manifest.snapshot))
const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-bench-'))
const database = await Database.open({
  memory: '256MB',
  threads: 1,
  scratch,
  folders: [WAREHOUSE],
})
const connection = await database.connect()
await database.lock()
// Placeholders replace lengths and row numbers, which a page does not need.
const fields = table.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
const sql = `select encode(string_agg(line, ',' order by position)), encode('0'), encode('0')
  from (select part.file_row_number as position, ${jsonFormat.line(fields)} as line
    from read_parquet($1, file_row_number = true) as part where part.file_row_number between $2 and $3)`

async function page(): Promise<void> {
  const part = manifest?.parts[Math.floor(Math.random() * manifest.parts.length)]
  if (part === undefined) throw new Error('there is no part')
  const first = Math.floor(Math.random() * (Math.floor(part.rows / rows) - 1)) * rows
  await connection.texts(sql, [path.join(folder, part.file), first, first + rows - 1], {})
}

for (let warmUp = 0; warmUp < 30; warmUp += 1) await page()
const before = process.cpuUsage()
for (let run = 0; run < statements; run += 1) await page()
const { user, system } = process.cpuUsage(before)
process.send?.((user + system) / 1000 / statements)
connection.close()
database.close()
await rm(scratch, { recursive: true })
process.disconnect()
