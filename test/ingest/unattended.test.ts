import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { allTables, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import type { IngestOptions } from '../../ingest/run/options.ts'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { publishViews } from '../../ingest/publish/views.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { sourceEndings } from '../../ingest/source/packings.ts'
import { silentProgress, type Progress } from '../../ingest/base/progress.ts'
import { faultOfSummed, verify, type Verified } from '../../ingest/verify/verify.ts'
import { getPage, serve } from '../support/service.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import { runsOf, sampled, testAll, testSampled } from '../support/runs.ts'

/** Ingests without an operator: drift, rollbacks and what is held back. */

const catalog = tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] })
const address = '/api/v1/dataset/d/t/data/'

const csv = (rows: number, text = 'x'): string =>
  `n,s\n${Array.from({ length: rows }, (_, n) => `${n},${text}\n`).join('')}`
const onDay = (day: number) => ({ now: () => new Date(Date.UTC(2026, 0, day)) })
const tableOf = ({ catalog: otherCatalog }: Workshop): Table => allTables(otherCatalog)[0] as Table

async function shopWith(...texts: readonly string[]): Promise<Workshop> {
  const shop = await workshop(catalog)
  for (const [index, text] of texts.entries()) await refresh(shop, text, { ...onDay(index + 1) })
  return shop
}

async function refresh(shop: Workshop, text: string, options: Partial<IngestOptions> = {}): Promise<Outcome> {
  await shop.write('d/t.csv', text)
  const [outcome] = await shop.ingest(options)
  return outcome as Outcome
}

const rowsOf = async (shop: Workshop): Promise<number | undefined> =>
  (await publishedOf(shop.store, tableOf(shop)))?.rows

const mayBeEmpty = 'if the table may be empty, declare may_be_empty: true for it in the catalog; '
const anyway = '`acervo ingest --accept-drift d/t` publishes it anyway'

describe('a source unlike the previous one', () => {
  testSampled<[title: string, text: string, differences: string, always: string]>([
    ['with far fewer rows', csv(4), 'there are 4 rows instead of 10', ''],
    ['with a header alone', 'n,s\n', 'there are 0 rows instead of 10; there is no row in t.csv', mayBeEmpty],
    ['whose field is empty', csv(10, ''), 'all values of "s" are null, but 10 rows had one before', ''],
  ])('%s is refused, with the difference, until it is accepted', async (_what, text, differences, always) => {
    const shop = await shopWith(csv(10))
    const outcome = await refresh(shop, text, onDay(2))
    expect(outcomeLines(outcome)[0]).toBe(
      `d/t: FAILED, the source differs too much from the snapshot of 2026-01-01T00:00:00.000Z: ${differences}. Check it; ${always}${anyway}`,
    )
    expect(await rowsOf(shop)).toBe(10)
    const accepted = await refresh(shop, text, { ...onDay(2), acceptsDrift: true })
    expect(outcomeLines(accepted).slice(1)).toEqual(
      differences.split('; ').map((line) => `  accepted: ${line}`),
    )
    expect(await rowsOf(shop)).toBe(text.split('\n').length - 2)
  })

  testSampled<[title: string, text: string, differences: string, row: object]>([
    [
      'with a missing column',
      'n\n0\n1\n2\n3\n4\n5\n',
      'the column "s" is missing; all values of "s" are null, but 10 rows had one before',
      { n: 0, s: null },
    ],
    [
      'with a new column',
      'n,s,extra\n0,x,y\n1,x,y\n2,x,y\n3,x,y\n4,x,y\n',
      'the column "extra" is not a field of d/t',
      { n: 0, s: 'x' },
    ],
  ])('%s is refused until it is accepted', async (_what, text, differences, row) => {
    const shop = await shopWith(csv(10))
    const refused = await refresh(shop, text, onDay(2))
    expect(outcomeLines(refused)[0]).toMatch(
      /^d\/t: FAILED, the header in line 1 does not match the catalog: the column/,
    )
    const accepted = await refresh(shop, text, { ...onDay(2), acceptsDrift: true })
    expect(outcomeLines(accepted).slice(1)).toEqual(
      differences.split('; ').map((line) => `  accepted: ${line}`),
    )
    const { app } = await serve(shop)
    expect((await getPage(app, address)).results[0]).toEqual(row)
  })

  test('with one file fewer is refused until it is accepted', async () => {
    const parts = tinyCatalog({ fields: ['n:integer', 's:string'], source: { files: 'd/t*.csv' } })
    const shop = await workshop(parts, { 'd/t1.csv': csv(10), 'd/t2.csv': csv(3) })
    await shop.ingest(onDay(1))
    await rm(path.join(shop.sources, 'd', 't2.csv'))
    const [refused] = await shop.ingest(onDay(2))
    expect(outcomeLines(refused as Outcome)[0]).toContain('the file t2.csv of the source is missing')
    const [accepted] = await shop.ingest({ ...onDay(2), acceptsDrift: true })
    expect(accepted?.status).toBe('published')
  })

  testAll('is noticed even without a pointer: it is compared with the newest snapshot on disk', async () => {
    const shop = await shopWith(csv(10), csv(11))
    await rm(path.join(shop.warehouse, layout.pointer(tableOf(shop))))
    const service = await serve(shop)
    expect((await getPage(service.app, address)).count).toBe(11)
    expect(service.snapshots.statuses).toMatchObject([
      {
        table: 'd/t',
        snapshot: expect.stringMatching(/^20260102/),
        fault: expect.stringContaining('is missing'),
      },
    ])
    const refused = await refresh(shop, csv(2), onDay(3))
    expect(outcomeLines(refused)[0]).toContain('there are 2 rows instead of 11')
    const healed = await refresh(shop, csv(12), onDay(4))
    expect(healed.status).toBe('published')
    expect((await rollback(shop.store, tableOf(shop), new Date())).rows).toBe(11)
  })

  test('with a new field, or values in a field that had none, is no drift', async () => {
    const shop = await shopWith(csv(10, ''))
    expect((await refresh(shop, csv(11, ''), onDay(2))).status).toBe('published')
    expect((await refresh(shop, csv(6, 'x'), onDay(3))).status).toBe('published')
  })
})

describe('a source without rows', () => {
  const fields = ['n:integer', 's:string']
  const empty: [title: string, source: object, files: Record<string, string | Uint8Array>, where: string][] =
    [
      ['a header alone', {}, { 'd/t.csv': 'n,s\n' }, 't.csv'],
      ['a header that is not ended', {}, { 'd/t.csv': 'n,s' }, 't.csv'],
      ['a header and blank lines', {}, { 'd/t.csv': 'n,s\n\n\r\n' }, 't.csv'],
      ['a header after skipped lines', { skip_lines: 2 }, { 'd/t.csv': 'of\n2026\nn,s\n' }, 't.csv'],
      ['blank lines, the header being declared', { header: ['n', 's'] }, { 'd/t.csv': '\n\n' }, 't.csv'],
      ['a packed header', {}, { 'd/t.csv.gz': gzipSync('n,s\n') }, 't.csv.gz'],
      ['headers', { files: 'd/*.csv' }, { 'd/1.csv': 'n,s\n', 'd/2.csv': 'n,s\n' }, 'any of its 2 files'],
    ]

  test.each(sampled(empty))(
    'is refused, even in a first ingest, until it is accepted: %s',
    async (_what, source, files, where) => {
      const shop = await workshop(tinyCatalog({ fields, source }), files)
      const [refused] = await shop.ingest()
      expect(outcomeLines(refused as Outcome)[0]).toBe(
        `d/t: FAILED, there is no row in ${where}. Check it; ${mayBeEmpty}${anyway}`,
      )
      expect(await rowsOf(shop)).toBeUndefined()
      const [accepted] = await shop.ingest({ acceptsDrift: true })
      expect(outcomeLines(accepted as Outcome)).toContain(`  accepted: there is no row in ${where}`)
      expect(await rowsOf(shop)).toBe(0)
      const [again] = await shop.ingest(onDay(3))
      expect(again?.status).toBe('unchanged')
    },
  )

  test.each(sampled(empty))('is published if the catalog allows it: %s', async (_what, source, files) => {
    const shop = await workshop(tinyCatalog({ fields, source, may_be_empty: true }), files)
    const [outcome] = await shop.ingest()
    expect(outcome).toMatchObject({
      status: 'published',
      manifest: { rows: 0 },
      report: { accepted_drift: [] },
    })
  })

  test('is refused after a snapshot with rows, even if the catalog allows an empty table', async () => {
    const shop = await workshop(tinyCatalog({ fields, may_be_empty: true }))
    await refresh(shop, csv(10), onDay(1))
    expect(outcomeLines(await refresh(shop, 'n,s\n', onDay(2)))[0]).toBe(
      'd/t: FAILED, the source differs too much from the snapshot of 2026-01-01T00:00:00.000Z: there are 0 rows instead of 10. ' +
        `Check it; ${anyway}`,
    )
    expect(await rowsOf(shop)).toBe(10)
  })

  test('is refused, but a source is published if all of its rows are rejects that the catalog allows', async () => {
    const table = { name: 't', order: [], fields: fields.map(fieldOf), max_rejects: 2 }
    const shop = await workshop(catalogAround([table]), { 'd/t.csv': 'n,s\nx,y\n1\n' })
    const [outcome] = await shop.ingest()
    expect(outcome).toMatchObject({ status: 'published', report: { rejected_rows: 2, rows_out: 0 } })
  })
})

describe('a rollback', () => {
  test('restores the previous snapshot at once, and keeps an ingest from publishing the withdrawn source again', async () => {
    const shop = await shopWith(csv(10), csv(11), csv(12))
    const { app, snapshots } = await serve(shop, { snapshotsKept: 10, snapshotGraceMs: 0 })
    const count = async (): Promise<number> => {
      await snapshots.refresh()
      return (await getPage(app, address)).count
    }
    expect(await count()).toBe(12)
    const { from, to, rows } = await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 4)))
    expect([from.slice(0, 8), to.slice(0, 8), rows, await count()]).toEqual(['20260103', '20260102', 11, 11])

    const [held] = await shop.ingest(onDay(5))
    expect(outcomeLines(held as Outcome)).toEqual([
      `d/t: held back, since its source is that of the snapshot ${from}, which was rolled back; \`acervo ingest --accept-drift\` publishes it again`,
    ])
    expect(await count()).toBe(11)
    await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 6)))
    expect(await count()).toBe(10)
    for (const length of [11, 12]) {
      const again = await refresh(shop, csv(length), onDay(7))
      expect([length, again.status, await count()]).toEqual([length, 'held', 10])
    }
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      /^d\/t has no snapshot before 20260101/,
    )

    expect((await refresh(shop, csv(13), onDay(8))).status).toBe('published')
    expect(await count()).toBe(13)
    expect((await refresh(shop, csv(12), onDay(9))).status).toBe('published')
  })

  testAll('holds the source back for every version of the converter', async () => {
    const shop = await workshop(catalog)
    for (const rows of [10, 11]) await refresh(shop, csv(rows), { ...onDay(rows), converter: 1 })
    await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 12)))
    for (const converter of [1, 2, 3]) {
      expect((await refresh(shop, csv(11), { ...onDay(13), converter })).status).toBe('held')
      expect(await rowsOf(shop)).toBe(10)
    }
    expect((await refresh(shop, csv(10), { ...onDay(14), converter: 3 })).status).toBe('published')
  })

  test('to a damaged snapshot is refused, and changes nothing', async () => {
    const shop = await shopWith(csv(10), csv(11))
    const [, older] = await snapshotsIn(shop.store, tableOf(shop))
    const part = path.join(shop.warehouse, 'd', 't', String(older), 'part-00000.parquet')
    const bytes = await readFile(part)
    await writeFile(
      part,
      bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)),
    )
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      'part-00000.parquet is damaged',
    )
    expect(await rowsOf(shop)).toBe(11)
  })
})

/** The same sources and warehouse as another catalog has them. */
async function under(newCatalog: Catalog, shop: Workshop): Promise<Workshop> {
  const { ingest } = await workshop(newCatalog)
  const { sources, store } = shop
  return { ...shop, catalog: newCatalog, ingest: (options) => ingest({ sources, store, ...options }) }
}

describe('a rollback across a change of the catalog', () => {
  const wide = tinyCatalog({ fields: ['n:integer', 's:text'], order: ['n'] })

  test('to other fields is refused before anything changes, with a remedy', async () => {
    const narrow = await shopWith(csv(10))
    const shop = await under(wide, narrow)
    expect((await refresh(shop, csv(11), onDay(2))).status).toBe('published')
    const files = await publishedFiles(shop)
    const pointer = await readFile(path.join(shop.warehouse, layout.pointer(tableOf(shop))))
    const [, before] = await snapshotsIn(shop.store, tableOf(shop))
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      `the snapshot before, ${before}, has other fields than the catalog now declares for d/t, so it could not be ` +
        'served; nothing was changed. Declare its fields in the catalog again (n integer, s string) and ' +
        'roll back again, or provide a correct source and run `acervo ingest`',
    )
    expect(await publishedFiles(shop)).toEqual(files)
    expect(await readFile(path.join(shop.warehouse, layout.pointer(tableOf(shop))))).toEqual(pointer)
    // With the fields of then it is one.
    expect((await rollback(shop.store, tableOf(narrow), new Date())).rows).toBe(10)
  })

  testSampled<[title: string, isSourceGone: boolean, message: (withdrawn: string) => string]>([
    [
      'a source that a rollback holds back',
      false,
      (withdrawn) =>
        'd/t: FAILED, the fields of the published snapshot differ from the catalog, so it is not served, and the ' +
        `source is that of the snapshot ${withdrawn}, which was rolled back; \`acervo ingest --accept-drift d/t\` publishes it again`,
    ],
    [
      'a source that is gone',
      true,
      () =>
        `d/t: FAILED, the source is missing: there is no SOURCES/d/t.csv (or ${sourceEndings.slice(1).join(', ')}); ` +
        'and the fields of the published snapshot differ from the catalog, so it is not served',
    ],
  ])(
    'makes an ingest of %s fail, since no snapshot can be served, until the drift is accepted',
    async (_what, isSourceGone, message) => {
      const narrow = await shopWith(csv(10))
      const shop = await under(wide, narrow)
      await refresh(shop, csv(11), onDay(2))
      const { from } = await rollback(shop.store, tableOf(narrow), new Date())
      const service = await serve(shop)
      expect(service.snapshots.statuses).toEqual([expect.objectContaining({ snapshot: null })])
      await service.close()
      if (isSourceGone) await rm(path.join(shop.sources, 'd', 't.csv'))
      const [failed] = await shop.ingest(onDay(3))
      const [line = ''] = outcomeLines(failed as Outcome)
      expect(line.replace(shop.sources, 'SOURCES')).toBe(message(from))
      const published = await refresh(shop, csv(11), { ...onDay(4), acceptsDrift: true })
      expect([published.status, await rowsOf(shop)]).toEqual(['published', 11])
    },
  )
})

const snapshotsOf = (shop: Workshop): Promise<string[]> => snapshotsIn(shop.store, tableOf(shop))
const days = (ids: readonly string[]): string[] => ids.map((id) => id.slice(6, 8))
const flip = async (file: string): Promise<void> => {
  const bytes = await readFile(file)
  bytes[40] = (bytes[40] ?? 0) ^ 1
  await writeFile(file, bytes)
}
/** A file of a snapshot of a day (`08`), or of the table. */
const placeOf = async (shop: Workshop, name: string): Promise<string> => {
  const [day = '', file] = name.split('/')
  const id = (await snapshotsOf(shop)).find((snapshotName) => snapshotName.slice(6, 8) === day)
  const home = path.join(shop.warehouse, 'd', 't')
  return file === undefined ? path.join(home, name) : path.join(home, String(id), file)
}

describe('a damaged file', () => {
  testSampled<
    [title: string, flipped: string[], gone: string[], came: string, whole: string[], before: number | string]
  >([
    ['a part', ['03/part-00000.parquet'], [], 'published', ['01', '02'], 11],
    ['a missing download', [], ['03/t.csv.gz'], 'published', ['01', '02'], 11],
    ['files of the last two snapshots', ['03/t.csv.gz', '02/report.json'], [], 'published', ['01'], 10],
    [
      'files of the first and the last snapshot',
      ['03/t.csv.gz', '01/report.json'],
      [],
      'published',
      ['02'],
      11,
    ],
    [
      'a file of the last snapshot and the manifest of the previous one',
      ['03/t.csv.gz', '02/manifest.json'],
      [],
      'published',
      ['01'],
      10,
    ],
    [
      'a file of each snapshot',
      ['03/t.csv.gz', '02/t.csv.gz', '01/t.csv.gz'],
      [],
      'published',
      [],
      'd/t has no snapshot',
    ],
    ['the pointer', ['current.json'], [], 'published', ['01', '02', '03'], 12],
    ['the pointer and a part', ['03/part-00000.parquet'], ['current.json'], 'published', ['01', '02'], 11],
    ['the manifest beside the parts', ['03/manifest.json'], [], 'unchanged', ['01', '02', '03'], 11],
    ['the missing manifest beside the parts', [], ['03/manifest.json'], 'unchanged', ['01', '02', '03'], 11],
  ])(
    'is replaced by an ingest, and its snapshot is quarantined until it expires: %s',
    async (_what, flipped, gone, came, whole, before) => {
      const shop = await shopWith(csv(10), csv(11), csv(12))
      for (const name of flipped) await flip(await placeOf(shop, name))
      for (const name of gone) await rm(await placeOf(shop, name))
      expect(await faultsOf(shop)).not.toEqual([])
      const retention = { count: 10, graceMs: 24 * 3_600_000 }
      const [outcome] = await shop.ingest({ ...onDay(4), retention })
      expect([outcome?.status, await faultsOf(shop), await rowsOf(shop)]).toEqual([came, [], 12])
      const retainedDays = came === 'published' ? ['04', '03', '02', '01'] : ['03', '02', '01']
      expect(days(await snapshotsOf(shop))).toEqual(retainedDays)

      await shop.ingest({ ...onDay(6), retention })
      const left = [...(came === 'published' ? ['04'] : []), ...whole.toReversed()]
      expect([days(await snapshotsOf(shop)), await faultsOf(shop)]).toEqual([left, []])
      const back = await rollback(shop.store, tableOf(shop), new Date()).catch(messageOf)
      expect(typeof back === 'string' ? back.replace(/ before .*/, '') : back.rows).toBe(before)
    },
  )

  testAll('is not removed with its expired snapshot if it is intact by then', async () => {
    const shop = await shopWith(csv(10), csv(11))
    const part = await placeOf(shop, '02/part-00000.parquet')
    await flip(part)
    const retention = { count: 10, graceMs: 0 }
    await shop.ingest({ ...onDay(3), retention })
    await flip(part)
    await shop.ingest({ ...onDay(4), retention })
    expect([days(await snapshotsOf(shop)), await faultsOf(shop)]).toEqual([['03', '02', '01'], []])
    // The pointer, the last check, and the files of three snapshots, two of which have changes.
    expect(await publishedFiles(shop)).toHaveLength(2 + 3 * 5 + 2)
  })

  testAll('is reported until it is replaced', async () => {
    const shop = await shopWith(csv(10), csv(11))
    await flip(await placeOf(shop, '02/part-00000.parquet'))
    const refused = await refresh(shop, csv(1), onDay(3))
    expect([refused.status, (await faultsOf(shop)).length]).toEqual(['failed', 1])
  })
})

describe('old snapshots', () => {
  const retention = { count: 2, graceMs: 24 * 3_600_000 }

  test('are removed by a job when they expire, except for the last two', async () => {
    const shop = await shopWith(csv(10), csv(11), csv(12), csv(13))
    await shop.ingest({ ...onDay(6), retention })
    const left = await snapshotsIn(shop.store, tableOf(shop))
    expect(left.map((id) => id.slice(6, 8))).toEqual(['04', '03'])
  })

  test('of a job that was killed before it published them are removed, but rolled-back ones stay', async () => {
    const shop = await shopWith(csv(10), csv(11))
    await rollback(shop.store, tableOf(shop), new Date())
    const home = path.join(shop.warehouse, 'd', 't')
    const [newest = ''] = await snapshotsIn(shop.store, tableOf(shop))
    await cp(path.join(home, newest), path.join(home, '20260105T000000Z-0123456789ab'), { recursive: true })
    await refresh(shop, csv(10), { ...onDay(6), retention })
    const left = await snapshotsIn(shop.store, tableOf(shop))
    expect(left.map((id) => id.slice(6, 8))).toEqual(['02', '01'])
  })
})

test('an ingest leaves one complete lock file for each table, and the next ingest reuses it', async () => {
  const shop = await shopWith(csv(10))
  const names = await readdir(path.join(shop.warehouse, '.locks'))
  expect(names).toEqual(['d.t'])
  expect((await refresh(shop, csv(11), onDay(2))).status).toBe('published')
  expect(await readdir(path.join(shop.warehouse, '.locks'))).toEqual(['d.t'])
})

test('a table with a missing part gets no view, and other tables keep their views', async () => {
  const both = tinyCatalog({ fields: ['n:integer'] }, { name: 'u', fields: ['n:integer'] })
  const shop = await workshop(both, { 'd/t.csv': 'n\n1\n', 'd/u.csv': 'n\n1\n' })
  const [first] = await shop.ingest()
  if (first?.status !== 'published') throw new Error('expected a snapshot')
  await rm(path.join(shop.warehouse, 'd', 't', first.manifest.snapshot, 'part-00000.parquet'))
  const leftOut = await publishViews(shop.store, both)
  expect(leftOut.map(({ published }) => published.table.name)).toEqual(['t'])
})

test('a job that works on a table excludes other jobs until it ends', async () => {
  const shop = await shopWith(csv(10))
  await shop.write('d/t.csv', csv(11))
  const others: Promise<Outcome[]>[] = []
  // Begun at each step of the first.
  const step = (): void => void others.push(shop.ingest(onDay(2)))
  const progress = (): Progress => ({ ...silentProgress, step })
  const [first] = await shop.ingest({ ...onDay(2), progress })
  expect([first?.status, others.length > 3]).toEqual(['published', true])
  const lines = (await Promise.all(others)).map(([outcome]) => outcomeLines(outcome as Outcome)[0])
  expect(new Set(lines)).toEqual(
    new Set([
      `d/t: FAILED, process ${process.pid} is already working on d/t: nothing was done; run this again when it has finished`,
    ]),
  )
  expect((await shop.ingest(onDay(3)))[0]?.status).toBe('unchanged')
})

test('the second of two concurrent jobs names the first one, and does nothing', async () => {
  const shop = await shopWith(csv(10))
  const holder = `
    import { openStore } from './dist/core/warehouse/stores/open.js'
    await openStore(${JSON.stringify(shop.warehouse)}).lock('d/t')
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', holder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(child.stdout, 'data')
    const outcome = await refresh(shop, csv(11), onDay(2))
    expect(outcomeLines(outcome)[0]).toBe(
      `d/t: FAILED, process ${child.pid} is already working on d/t: nothing was done; run this again when it has finished`,
    )
    expect([await rowsOf(shop), await readdir(path.join(shop.warehouse, 'd', 't'))]).toEqual([
      10,
      expect.not.arrayContaining(['failure.json']),
    ])
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const [after] = await shop.ingest(onDay(3))
  expect(after?.status).toBe('published')
})

/** Each file of the warehouse that a job published, locks, scratch and what it noted for itself aside. */
async function publishedFiles(shop: Workshop): Promise<string[]> {
  const entries = await readdir(path.join(shop.warehouse, 'd'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !['verified.json', 'hashed.json'].includes(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
}

const faultsOf = async (shop: Workshop): Promise<Verified[]> => {
  const checks: Verified[] = []
  for await (const check of verify(shop.store, [tableOf(shop)])) checks.push(check)
  return checks.filter(({ fault }) => fault !== null)
}

/** A text with another character at each of its places in turn. */
const changed = (text: string): string[] =>
  Array.from(
    text,
    (character, at) =>
      text.slice(0, at) + String.fromCodePoint((character.codePointAt(0) ?? 0) ^ 1) + text.slice(at + 1),
  )

describe('flipped bits', () => {
  const flips = runsOf('FLIPS')

  test(`in ${flips} published files are all found by verify, and none is served after a restart`, async () => {
    const shop = await shopWith(csv(300, 'older'), csv(301, 'newer'))
    expect(await faultsOf(shop)).toEqual([])
    const files = await publishedFiles(shop)
    expect(files.map((file) => path.basename(file)).toSorted()).toEqual(
      [
        'changes.parquet',
        'current.json',
        ...['manifest.json', 'part-00000.parquet', 'report.json', 'rows-00000.bin', 't.csv.gz'].flatMap(
          (name) => [name, name],
        ),
      ].toSorted(),
    )
    const right = [
      Array.from({ length: 300 }, (_, n) => ({ n, s: 'older' })),
      Array.from({ length: 301 }, (_, n) => ({ n, s: 'newer' })),
    ]
    for (let count = 0; count < flips; count += 1) {
      const file = files[count % files.length] ?? ''
      const bytes = await readFile(file)
      const at = Math.floor(Math.random() * bytes.length)
      const damaged = Buffer.from(bytes)
      damaged[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
      await writeFile(file, damaged)
      expect([file, at, (await faultsOf(shop)).length]).toEqual([file, at, 1])
      const service = await serve(shop)
      const { results } = await getPage(service.app, `${address}?page_size=1000`)
      expect(right).toContainEqual(results)
      await service.close()
      await writeFile(file, bytes)
    }
    expect(await faultsOf(shop)).toEqual([])
  }, 600_000)

  testAll('in the views are found too', async () => {
    const shop = await shopWith(csv(10))
    expect(await faultOfSummed(shop.store, layout.views)).toBe(null)
    await publishViews(shop.store, catalog)
    expect(await faultOfSummed(shop.store, layout.views)).toBe(null)
    const file = path.join(shop.warehouse, layout.views)
    const bytes = await readFile(file)
    await writeFile(
      file,
      bytes.map((byte, at) => (at === 5000 ? byte ^ 1 : byte)),
    )
    expect(await faultOfSummed(shop.store, layout.views)).toBe(
      'it is damaged: `acervo ingest` writes it again',
    )
    await rm(file)
    expect(await faultOfSummed(shop.store, layout.views)).toBe(
      'it is damaged: `acervo ingest` writes it again',
    )
    await publishViews(shop.store, catalog)
    expect(await faultOfSummed(shop.store, layout.views)).toBe(null)
    // A job that was killed between the sum and the views leaves the sums of both.
    const sums = `${file}.sha256`
    const line = await readFile(sums, 'utf8')
    const both = `${'0'.repeat(64)}  warehouse.duckdb\n${line}`
    await writeFile(sums, both)
    expect(await faultOfSummed(shop.store, layout.views)).toBe(null)
    const others = [
      ...changed(line),
      // A digit of the old sum makes another sum, which is not used any more.
      ...changed(both).slice(64),
      both.replace('0', 'g'),
      `${line}\n`,
      ` ${line}`,
      line.trimEnd(),
      line.toUpperCase(),
      '\n',
      '',
    ]
    const missed: string[] = []
    for (const text of others) {
      await writeFile(sums, text)
      if ((await faultOfSummed(shop.store, layout.views)) === null) missed.push(text)
    }
    expect(missed).toEqual([])
  })

  test('are reported by verify, and so are missing files', async () => {
    const shop = await shopWith(csv(10))
    const [id = ''] = await snapshotsIn(shop.store, tableOf(shop))
    await rm(path.join(shop.warehouse, 'd', 't', id, 't.csv.gz'))
    expect((await faultsOf(shop)).map(({ subject, fault }) => [subject, fault])).toEqual([
      [id, 't.csv.gz is missing'],
    ])
    await rm(path.join(shop.warehouse, layout.pointer(tableOf(shop))))
    await mkdir(path.join(shop.warehouse, 'd', 't', '20260105T000000Z-0123456789ab'))
    expect((await faultsOf(shop)).map(({ subject, fault }) => [subject, fault])).toEqual([
      ['current.json', 'current.json is missing, although there are snapshots'],
      ['20260105T000000Z-0123456789ab', 'it has no manifest: remove its folder, or publish the table again'],
      [id, 't.csv.gz is missing'],
    ])
  })
})
