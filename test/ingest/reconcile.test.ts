import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { messageOf } from '../../core/errors.ts'
import { Database } from '../../core/duckdb/database.ts'
import { conversionOf } from '../../ingest/convert/cast/plain.ts'
import { sort, writeParts } from '../../ingest/convert/parts/parts.ts'
import { stage } from '../../ingest/convert/cast/stage.ts'
import type { DuePart, Staged, Conversion } from '../../ingest/convert/conversion.ts'
import { matchHeader } from '../../ingest/convert/cast/match.ts'
import { reconcilePublished } from '../../ingest/convert/parts/reconcile.ts'
import { reconcileStaged } from '../../ingest/convert/cast/agreement.ts'
import { silentProgress } from '../../ingest/base/progress.ts'
import type { Batch } from '../../ingest/source/batches.ts'
import { planParts } from '../../ingest/convert/parts/reused-partitions.ts'
import { readSource } from '../../ingest/source/read.ts'
import { temporaryFolder, tinyCatalog, placed } from '../support/workshop.ts'
import { isQuick, seed } from '../support/runs.ts'

/** Steps of an ingest, so that a test can spoil the data between them. */
interface Bench {
  readonly conversion: Conversion
  readonly batch: Batch
}

const opened: (() => void)[] = []
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

async function bench(order = ['n']): Promise<Bench> {
  const scratch = await temporaryFolder()
  const table = tinyCatalog({ fields: ['n:integer', 's:string', 'v:decimal:10:2'], order })
    .datasets.get('d')
    ?.tables.get('t')
  if (table === undefined) throw new Error('no table')
  const text = 'n,s,v\n1,aa,1.50\n2,bb,\n3,cc,-3\n4,dd,4.25\n'
  const source = path.join(scratch, 't.csv')
  await writeFile(source, text)
  const database = await Database.open({
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
  const batches: Batch[] = []
  const take = (batch: Batch): Promise<void> => Promise.resolve(void batches.push(batch))
  await readSource([placed(source, 't.csv', text.length)], {
    table,
    progress: silentProgress,
    limits: { unpackedBytesMax: 1e6 },
    taker: { folder: scratch, bytes: 1e6, take },
  })
  const [batch] = batches
  if (batch === undefined) throw new Error('no batch')
  const { fields } = matchHeader(table, batch, new Set(), false)
  return {
    conversion: conversionOf({ db, table, scratch }, fields, 3),
    batch,
  }
}

async function written(conversion: Conversion, batch: Batch): Promise<{ staged: Staged; parts: DuePart[] }> {
  const staged = await reconcileStaged(conversion, batch, await stage(conversion, batch))
  await sort(conversion, staged)
  return { staged, parts: await inThrees(conversion, staged.goodRows) }
}

async function inThrees(conversion: Conversion, rows: number): Promise<DuePart[]> {
  const { parts } = planParts(conversion.table, null, [{ value: null, rows, files: [] }], 3)
  const due = parts.filter((part): part is DuePart => 'sortedRow' in part)
  await writeParts(conversion, conversion.scratch, due, silentProgress)
  return due
}

test('an undamaged conversion passes its verification', async () => {
  const { conversion, batch } = await bench()
  const { staged, parts } = await written(conversion, batch)
  expect([staged.goodRows, staged.badRows]).toEqual([4, 0])
  await expect(reconcilePublished(conversion, conversion.scratch, parts, staged)).resolves.toBeUndefined()
})

test.each<[title: string, spoil: (plain: string) => string, failure: string]>([
  ['a row lost', (plain) => plain.replace('2,bb,\n', ''), 'rows failed (source 4, read back 3)'],
  ['a row doubled', (plain) => `${plain}4,dd,4.25\n`, 'rows failed (source 4, read back 5)'],
  ['a value lost', (plain) => plain.replace('aa', ''), 'values of "s" failed (source 4, read back 3)'],
  [
    'a value invented',
    (plain) => plain.replace('bb,', 'bb,0'),
    'values of "v" failed (source 3, read back 4)',
  ],
  ['a value cut', (plain) => plain.replace('aa', 'a'), 'bytes of "s" failed (source 8, read back 7)'],
  [
    'a byte in another column',
    (plain) => plain.replace('1,aa', '11,a'),
    'bytes of "n" failed (source 4, read back 5)',
  ],
  [
    'two bytes for one of the next column',
    (plain) => plain.replace('1,aa', '111,a'),
    'bytes of "n" failed (source 4, read back 6)',
  ],
])(
  'a disagreement between the CSV scanner and DuckDB stops the ingest: %s',
  async (_what, spoil, failure) => {
    const { conversion, batch } = await bench()
    const plain = batch.pieces[0]?.file ?? ''
    await writeFile(plain, spoil(await readFile(plain, 'utf8')))
    const file = await stage(conversion, batch)
    await expect(reconcileStaged(conversion, batch, file)).rejects.toThrow(`verification of the ${failure}`)
  },
)

test('verification fails if values move between columns, although all sums agree', async () => {
  const { conversion, batch } = await bench()
  const file = await stage(conversion, batch)
  const none = fc.constant(0)
  const few = fc.integer({ min: -3, max: 3 })
  const many = fc.integer({ min: -1e6, max: 1e6 })
  const changes = fc.oneof(
    // Many that differ by a little would add up under weights of 1, 2 and 3.
    changesOf(none, few),
    changesOf(few, none),
    changesOf(few, many),
  )
  await fc.assert(
    fc.asyncProperty(changes, async (by) => {
      const columns = batch.columns.map(({ filled, bytes }, index) => ({
        filled: filled + (by[index]?.filled ?? 0),
        bytes: bytes + (by[index]?.bytes ?? 0),
      }))
      const areRight = by.every(({ filled, bytes }) => filled === 0 && bytes === 0)
      const fault = await reconcileStaged(conversion, { ...batch, columns }, file).then(() => '', messageOf)
      expect(fault.startsWith('verification of the ')).toBe(!areRight)
    }),
    { seed, numRuns: isQuick ? 60 : 300 },
  )
})

function changesOf(filled: fc.Arbitrary<number>, bytes: fc.Arbitrary<number>) {
  return fc.array(fc.record({ filled, bytes }), { minLength: 3, maxLength: 3 })
}

const firstPart = '"part-00000.parquet"'

// Each spoils the first part, which holds the rows 1 to 3.
test.each<[title: string, spoilt: string, failure: string]>([
  [
    'a value changed',
    `select n, case n when 2 then 'bx' else s end as s, v from ${firstPart}`,
    'values of "s" failed',
  ],
  [
    'an amount rounded',
    `select n, s, v::decimal(10,0)::decimal(10,2) as v from ${firstPart}`,
    'values of "v" failed',
  ],
  [
    'a value turned to null',
    `select n, s, case n when 1 then null else v end as v from ${firstPart}`,
    'values of "v" failed',
  ],
  ['a null turned to a value', `select n, s, coalesce(v, 0) as v from ${firstPart}`, 'values of "v" failed'],
  [
    'values of a column in other rows',
    `select n, s, case n when 1 then -3 when 3 then 1.5 else v end::decimal(10,2) as v from ${firstPart}`,
    'whole rows failed',
  ],
  ['rows in another order', `select * from ${firstPart} order by n desc`, 'row positions failed'],
  ['a row lost', `select * from ${firstPart} where n <> 2`, 'rows failed (source 4, read back 3)'],
  [
    'a row doubled',
    `select * from ${firstPart} union all select * from ${firstPart} where n = 1`,
    'rows failed (source 4, read back 5)',
  ],
])('Parquet that differs from the source is not published: %s', async (_what, spoilt, failure) => {
  const { conversion, batch } = await bench()
  const { staged, parts } = await written(conversion, batch)
  const file = path.join(conversion.scratch, 'part-00000.parquet')
  const spoiling = spoilt.replaceAll(firstPart, `'${file}'`)
  await conversion.db.rows(`copy (${spoiling}) to '${conversion.scratch}/spoilt.parquet' (format parquet)`)
  const swapped = parts.map((part) => (part.firstRow === 0 ? { ...part, file: 'spoilt.parquet' } : part))
  const proof = reconcilePublished(conversion, conversion.scratch, swapped, staged)
  await expect(proof).rejects.toThrow(`verification of the ${failure}`)
})

test.each([
  ['staged', 'whole rows failed'],
  ['sorted', 'values of "v" failed'],
])(
  'a value that changes in the %s file is found, though all later files agree with it',
  async (where, failure) => {
    const { conversion, batch } = await bench()
    const staged = await reconcileStaged(conversion, batch, await stage(conversion, batch))
    const spoilFile = async (file: string): Promise<void> => {
      const to = path.join(conversion.scratch, 'spoilt.parquet')
      await conversion.db
        .rows(`copy (select * replace (case f0 when 1 then 1.51 else f2 end::decimal(10,2) as f2)
        from '${file}') to '${to}' (format parquet)`)
      await rename(to, file)
    }
    if (where === 'staged') await spoilFile(staged.files[0] ?? '')
    await sort(conversion, staged)
    if (where === 'sorted') await spoilFile(path.join(conversion.scratch, 'sorted.parquet'))
    const parts = await inThrees(conversion, 4)
    await expect(reconcilePublished(conversion, conversion.scratch, parts, staged)).rejects.toThrow(
      `verification of the ${failure}`,
    )
  },
)

test.each([
  ['n asc', 'n desc', 3],
  ['n desc', 'n asc', 3],
  // 1.50, null, -3.00 and 4.25 become -3.00, 1.50, 4.25, null.
  ['v asc', 'v asc nulls first', 1],
  ['v desc', 'v desc nulls first', 1],
  ['v asc', 'v desc', 2],
])(
  'a table in the declared order %s is not published if its rows are sorted by %s',
  async (order, wrong, count) => {
    const { conversion, batch } = await bench([order])
    const staged = await reconcileStaged(conversion, batch, await stage(conversion, batch))
    await sort(conversion, staged)
    const [from, to] = [
      path.join(conversion.scratch, 'sorted.parquet'),
      path.join(conversion.scratch, 'spoilt.parquet'),
    ]
    const spoilt = wrong.replace('n ', 'f0 ').replace('v ', 'f2 ')
    await conversion.db.rows(`copy (from '${from}' order by ${spoilt}) to '${to}' (format parquet)`)
    await rename(to, from)
    const parts = await inThrees(conversion, 4)
    await expect(reconcilePublished(conversion, conversion.scratch, parts, staged)).rejects.toThrow(
      `verification of the number of rows out of the declared order failed (source 0, read back ${count})`,
    )
  },
)
