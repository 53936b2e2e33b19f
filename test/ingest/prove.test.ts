import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { Database, type Connection } from '../../core/warehouse/duckdb.ts'
import { checkSource, type MatchedField } from '../../ingest/check.ts'
import { sort, stage, writeParts, type WrittenPart } from '../../ingest/convert.ts'
import { silentProgress } from '../../ingest/progress.ts'
import { provePublished, proveStaged } from '../../ingest/prove.ts'
import { findSource, readSource } from '../../ingest/source.ts'
import type { CsvScanner } from '../../ingest/scan.ts'
import { temporaryFolder, tinyCatalog } from '../support/workshop.ts'

/** The steps of an ingest up to the proof, so that what lies between them can be spoilt. */
interface Bench {
  readonly db: Connection
  readonly scanner: CsvScanner
  readonly fields: readonly MatchedField[]
  readonly folder: string
  readonly parts: readonly WrittenPart[]
}

const opened: (() => void)[] = []
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

async function bench(): Promise<Bench> {
  const scratch = await temporaryFolder()
  const table = tinyCatalog({ fields: ['n:integer', 's:string', 'v:decimal:10:2'], order: ['n'] })
    .datasets.get('d')
    ?.tables.get('t')
  if (table === undefined) throw new Error('no table')
  await mkdir(path.join(scratch, 'd'))
  await writeFile(path.join(scratch, 'd', 't.csv'), 'n,s,v\n1,aa,1.50\n2,bb,\n3,cc,-3\n4,dd,4.25\n')
  const database = await Database.open({
    file: path.join(scratch, 'work.duckdb'),
    memory: '200MB',
    threads: 2,
    scratch: path.join(scratch, 'spill'),
    folders: [scratch],
  })
  const db = await database.connect()
  opened.push(() => {
    db.close()
    database.close()
  })
  const source = await findSource(scratch, table)
  if (source === null) throw new Error('no source')
  const plain = path.join(scratch, 'plain.csv')
  const read = await readSource(source, table.source, silentProgress, plain)
  const fields = checkSource(table, read)
  await stage(db, plain, table, read.scanner.columns.length)
  await sort(db, table, fields)
  const parts = await writeParts(db, fields, scratch, read.scanner.records, 3, silentProgress)
  return { db, scanner: read.scanner, fields, folder: scratch, parts }
}

test('what was not spoilt is proved', async () => {
  const { db, scanner, fields, folder, parts } = await bench()
  await proveStaged(db, scanner)
  await expect(provePublished(db, fields, folder, parts, 4, silentProgress)).resolves.toEqual([
    { name: 'n', nulls: 0 },
    { name: 's', nulls: 0 },
    { name: 'v', nulls: 1 },
  ])
})

test.each<[what: string, spoil: string, differs: string]>([
  ['a row lost', 'delete from staged where c0 = 2', 'the rows differ (source 4, read back 3)'],
  [
    'a row doubled',
    'insert into staged select * from staged limit 1',
    'the rows differ (source 4, read back 5)',
  ],
  [
    'a value lost',
    "update staged set c1 = null where c0 = '1'",
    'the values of "s" differ (source 4, read back 3)',
  ],
  [
    'a value invented',
    "update staged set c2 = '0' where c0 = '2'",
    'the values of "v" differ (source 3, read back 4)',
  ],
  [
    'a value cut',
    "update staged set c1 = 'a' where c0 = '1'",
    'the bytes of "s" differ (source 8, read back 7)',
  ],
])('two readers that disagree on the source stop it: %s', async (_what, spoil, differs) => {
  const { db, scanner } = await bench()
  await db.rows(spoil)
  await expect(proveStaged(db, scanner)).rejects.toThrow(`the proof failed: ${differs}`)
})

const firstPart = '"part-00000.parquet"'

// Each spoils the first part, which holds the rows 1 to 3.
test.each<[what: string, spoilt: string, differs: string]>([
  [
    'a value changed',
    `select n, case n when 2 then 'bx' else s end as s, v from ${firstPart}`,
    'the values of "s" differ',
  ],
  [
    'an amount rounded',
    `select n, s, v::decimal(10,0)::decimal(10,2) as v from ${firstPart}`,
    'the values of "v" differ',
  ],
  [
    'a value turned to null',
    `select n, s, case n when 1 then null else v end as v from ${firstPart}`,
    'the number of values of "v" differ',
  ],
  [
    'a null turned to a value',
    `select n, s, coalesce(v, 0) as v from ${firstPart}`,
    'the number of values of "v" differ',
  ],
  [
    'values of a column in other rows',
    `select n, s, case n when 1 then -3 when 3 then 1.5 else v end::decimal(10,2) as v from ${firstPart}`,
    'the rows as wholes differ',
  ],
  ['rows in another order', `select * from ${firstPart} order by n desc`, 'the positions of the rows differ'],
  ['a row lost', `select * from ${firstPart} where n <> 2`, 'the rows differ (source 4, read back 3)'],
  [
    'a row doubled',
    `select * from ${firstPart} union all select * from ${firstPart} where n = 1`,
    'the rows differ (source 4, read back 5)',
  ],
])('Parquet that is not what the source says is not published: %s', async (_what, spoilt, differs) => {
  const { db, fields, folder, parts } = await bench()
  const file = path.join(folder, 'part-00000.parquet')
  const spoiling = spoilt.replaceAll(firstPart, `'${file}'`)
  await db.rows(`copy (${spoiling}) to '${folder}/spoilt.parquet' (format parquet)`)
  const swapped = parts.map((part) => (part.firstRow === 0 ? { ...part, file: 'spoilt.parquet' } : part))
  const proof = provePublished(db, fields, folder, swapped, 4, silentProgress)
  await expect(proof).rejects.toThrow(`the proof failed: ${differs}`)
})

test('a cast that changes a value is found against the source, though sorted and written agree', async () => {
  const { db, fields, folder, parts } = await bench()
  await db.rows("update staged set c2 = '1.51' where c0 = '1'")
  await expect(provePublished(db, fields, folder, parts, 4, silentProgress)).rejects.toThrow(
    'the proof failed: the values of "v" differ',
  )
})
