import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { snapshotsIn } from '../../core/warehouse/publish.ts'
import { publishViews } from '../../ingest/publish/views.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { faultOfSummed } from '../../ingest/verify/verify.ts'
import { runsOf, testAll, testSampled } from '../support/runs.ts'
import { getPage, serve } from '../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import {
  address,
  catalog,
  csv,
  faultsOf,
  flip,
  onDay,
  publishedFiles,
  refresh,
  rowsOf,
  shopWith,
  tableOf,
} from './support/refreshes.ts'

/** Damaged and missing files of a warehouse, found by verify and replaced by an ingest. */

const snapshotsOf = (shop: Workshop): Promise<string[]> => snapshotsIn(shop.store, tableOf(shop))
const days = (ids: readonly string[]): string[] => ids.map((id) => id.slice(6, 8))
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

test('a table with a missing part gets no view, and other tables keep their views', async () => {
  const both = tinyCatalog({ fields: ['n:integer'] }, { name: 'u', fields: ['n:integer'] })
  const shop = await workshop(both, { 'd/t.csv': 'n\n1\n', 'd/u.csv': 'n\n1\n' })
  const [first] = await shop.ingest()
  if (first?.status !== 'published') throw new Error('expected a snapshot')
  await rm(path.join(shop.warehouse, 'd', 't', first.manifest.snapshot, 'part-00000.parquet'))
  const leftOut = await publishViews(shop.store, both)
  expect(leftOut.map(({ published }) => published.table.name)).toEqual(['t'])
})

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
    await flip(file, 5000)
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
