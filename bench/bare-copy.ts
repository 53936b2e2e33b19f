import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { loadCatalog } from '../core/catalog/load.ts'
import { typeRow } from '../core/catalog/field-types.ts'
import { Database } from '../core/duckdb/database.ts'
import { orderTerms } from '../core/warehouse/manifest.ts'
import { quotedName, quotedText } from '../core/sql.ts'

/**
 * Lower bound for an ingest: a typed, sorted COPY of the source of `large` to Parquet, then a COPY from
 * Parquet to gzipped CSV. Sends the seconds of both over IPC.
 */
const { SOURCES = '', CATALOG = '' } = process.env
const catalog = await loadCatalog(CATALOG)
const table = catalog.datasets.get('bench')?.tables.get('large')
if (table === undefined) throw new Error('the catalog of the benchmark has no table large')

const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-bare-'))
const sources = path.resolve(SOURCES)
const database = await Database.open({
  memory: '1GB',
  threads: Math.min(4, os.availableParallelism()),
  scratch: path.join(scratch, 'spill'),
  folders: [scratch, sources],
})
const db = await database.connect()
const types = table.fields.map(
  (field) => `${quotedText(field.name)}: ${quotedText(typeRow(field.type).stored(field))}`,
)
const names = table.fields.map((field) => quotedName(field.name))
const began = performance.now()
await db.rows(`copy (select ${names.join(', ')}
  from read_csv(${quotedText(path.join(sources, 'bench', 'large.csv.gz'))}, header = true, columns = {${types.join(', ')}})
  order by ${orderTerms(table).join(', ')})
  to ${quotedText(path.join(scratch, 'bare.parquet'))} (format parquet, codec zstd)`)
const parquet = (performance.now() - began) / 1000
await db.rows(`copy (from ${quotedText(path.join(scratch, 'bare.parquet'))})
  to ${quotedText(path.join(scratch, 'bare.csv.gz'))} (format csv, compression gzip)`)
process.send?.({ parquet, sum: (performance.now() - began) / 1000 })
db.close()
database.close()
await rm(scratch, { recursive: true })
