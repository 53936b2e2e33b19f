import { rm } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { layout } from '../../core/warehouse/layout.ts'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { sampled, testAll, testSampled } from '../support/runs.ts'
import { getPage, serve } from '../support/service.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop } from '../support/workshop.ts'
import { address, csv, onDay, refresh, rowsOf, shopWith, tableOf } from './support/refreshes.ts'

/** Sources that differ too much from the previous snapshot, or have no rows. */

const mayBeEmpty = 'if the table may be empty, declare may_be_empty: true for it in the catalog; '
const anyway = '`acervo ingest --accept-drift d/t` publishes it anyway'

test('a total below the rows of a refresh is reported, and the advised source.drop leaves it out', async () => {
  const shop = await shopWith(csv(10))
  const text = `${csv(10)},Total\n`
  const published = await refresh(shop, text, onDay(2))
  const drop = '{"s":["Total"]}'
  expect(outcomeLines(published)[0]).toMatch(/\(20260102\S+\); since 20260101\S+: 1 row added; 12 lines: /)
  expect(outcomeLines(published).slice(1)).toEqual([
    `  warning: line 12 of t.csv is published as a row, and sums up other rows, as "Total" suggests: source.drop: ${drop} leaves it out`,
  ])
  const table = { name: 't', order: ['n'], fields: ['n:integer', 's:string'].map(fieldOf) }
  const source = { drop: JSON.parse(drop) as object }
  const dropping = await workshop(catalogAround([{ ...table, source }]), {}, path.dirname(shop.warehouse))
  const dropped = await refresh(dropping, text, onDay(3))
  expect(outcomeLines(dropped)).toEqual([
    expect.stringMatching(/; since 20260102\S+: 1 row removed; 12 lines: /),
  ])
  expect(await rowsOf(dropping)).toBe(10)
  const counted = catalogAround([{ ...table, filters: ['s'], totals: { s: 'Total' } }])
  const counting = await workshop(counted, {}, path.dirname(shop.warehouse))
  const accepted = await refresh(counting, text, onDay(4))
  expect(outcomeLines(accepted).slice(1)).toEqual([])
  expect(await rowsOf(counting)).toBe(11)
})

test.each<[title: string, source: object, end: string, warning: string | null]>([
  [
    'a note alone in its row',
    {},
    'Source: IBGE,,',
    'line 6 of t.csv is published as a row, and has one value alone, "Source: IBGE", as a note has: source.drop or stop_at leaves it out',
  ],
  [
    'a row that skip_last leaves out',
    { skip_last: 1 },
    'd,4,y',
    'source.skip_last leaves out a line of t.csv that has a value in every column, as a row has: d,4,y',
  ],
  ['a total that skip_last leaves out', { skip_last: 1 }, 'Total,4,y', null],
  ['a note that skip_last leaves out', { skip_last: 1 }, 'Source: IBGE,,', null],
])('an ingest warns of %s', async (_title, source, end, warning) => {
  const table = { name: 't', order: [], source, fields: ['a:string', 'b:integer', 'c:string'].map(fieldOf) }
  const shop = await workshop(catalogAround([table]))
  const outcome = await refresh(shop, `a,b,c\na,1,x\nb,2,x\nc,3,\n,4,z\n${end}\n`)
  const lines = outcomeLines(outcome).filter((line) => line.includes('warning'))
  expect(lines).toEqual(warning === null ? [] : [`  warning: ${warning}`])
})

const firstLineOf = async (source: object, text: string): Promise<string> => {
  const table = { name: 't', order: [], source, fields: ['a:string', 'b:integer', 'c:string'].map(fieldOf) }
  return outcomeLines(await refresh(await workshop(catalogAround([table])), text))[0] ?? ''
}

test('a title that is added above the header, or removed, leads to the key of the catalog to change', async () => {
  const rows = 'a,b,c\nx,1,y\n'
  expect(await firstLineOf({}, `Report,,\n${rows}`)).toContain(
    'Line 1 may be a title: source.skip_lines: 1 leaves it out.',
  )
  expect(await firstLineOf({ skip_lines: 1 }, `Report,,\n${rows}`)).toContain('published 1 row')
  expect(await firstLineOf({ skip_lines: 1 }, `${rows}z,2,w\n`)).toContain(
    'source.skip_lines: 1 leaves out lines above it: check them.',
  )
})

describe('one of several files', () => {
  const january = 'n,s\n1,a\n2,b\n3,c\n'
  const february = 'n,s\n4,d\n'
  const months = async () => {
    const table = {
      name: 't',
      order: ['n'],
      source: { files: 'd/*.csv' },
      fields: ['n:integer', 's:string'].map(fieldOf),
    }
    const shop = await workshop(catalogAround([table]), { 'd/01.csv': january, 'd/02.csv': february })
    await shop.ingest(onDay(1))
    return shop
  }

  test('that has lost its rows is refused until it is accepted', async () => {
    const shop = await months()
    await shop.write('d/02.csv', 'n,s\n')
    const [refused] = await shop.ingest(onDay(2))
    expect(outcomeLines(refused as Outcome)[0]).toContain(
      'the file 02.csv of the source has no rows any more. Check it',
    )
    expect(await rowsOf(shop)).toBe(4)
    const [accepted] = await shop.ingest({ ...onDay(2), acceptsDrift: true })
    expect(outcomeLines(accepted as Outcome).slice(1)).toEqual([
      '  accepted: the file 02.csv of the source has no rows any more',
      '  warning: the file 02.csv of the source has no rows',
    ])
  })

  test('with the content of another one leads to a warning', async () => {
    const shop = await months()
    await shop.write('d/03.csv', january)
    const [outcome] = await shop.ingest(onDay(2))
    expect(outcomeLines(outcome as Outcome).slice(1)).toEqual([
      '  warning: 03.csv has the same content as 01.csv: its rows occur twice',
    ])
  })
})

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
