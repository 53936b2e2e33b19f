import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { getPage, serve } from '../support/service.ts'
import {
  catalogAround,
  fieldOf,
  importDate,
  tinyCatalog,
  workshop,
  type Workshop,
} from '../support/workshop.ts'
import { sampled, testAll, testSampled } from '../support/runs.ts'

/** A file of a source that is what it was when it was hashed is not hashed again, and any other is. */

const catalog = tinyCatalog({ fields: ['n:integer'], source: { files: 'd/t-*.csv' } })
const noted = (shop: Workshop): string => path.join(shop.warehouse, 'd/t/hashed.json')
const sumsIn = async (shop: Workshop): Promise<string[]> =>
  Object.values(JSON.parse(await readFile(noted(shop), 'utf8')) as Record<string, { sha256: string }>).map(
    ({ sha256 }) => sha256,
  )
/** However short a time ago it was written. */
const settledMs = -60_000
const later = (): Date => new Date(importDate.getTime() + 60_000)
const aDayLater = (): Date => new Date(importDate.getTime() + 86_400_000)
/** A time that file systems store exactly. */
const aSecond = 1_500_000_000
const wrong = 'f'.repeat(64)

async function published(): Promise<Workshop> {
  const shop = await workshop(catalog, { 'd/t-1.csv': 'n\n1\n', 'd/t-2.csv': 'n\n2\n' })
  await utimes(path.join(shop.sources, 'd/t-2.csv'), aSecond, aSecond)
  expect((await shop.ingest({ settledMs }))[0]?.status).toBe('published')
  return shop
}

test('an ingest records the hash of each source file, and a later ingest trusts it', async () => {
  const shop = await published()
  const [outcome] = await shop.ingest({ settledMs })
  expect(outcome?.status).toBe('unchanged')
  const sums = outcome && 'manifest' in outcome ? outcome.manifest.sources.map(({ sha256 }) => sha256) : []
  expect(await sumsIn(shop)).toEqual(sums)
  // Were the file read, it would be the one that is published.
  await writeFile(noted(shop), (await readFile(noted(shop), 'utf8')).replaceAll(sums[1] ?? '', wrong))
  expect((await shop.ingest({ settledMs, now: later }))[0]?.status).toBe('published')
  expect(await sumsIn(shop)).toEqual(sums)
})

testSampled<[title: string, change: (shop: Workshop) => Promise<void>]>([
  [
    'as many other bytes, with the old modification time',
    async (shop) => {
      const file = path.join(shop.sources, 'd/t-2.csv')
      const { mtimeMs } = await stat(file)
      await writeFile(file, 'n\n3\n')
      await utimes(file, aSecond, aSecond)
      expect((await stat(file)).mtimeMs).toBe(mtimeMs)
    },
  ],
  ['another file in its place', (shop) => shop.write('d/t-2.csv', 'n\n3\n')],
])('a file is hashed again, despite its recorded hash, after a change: %s', async (_what, change) => {
  const shop = await published()
  await change(shop)
  expect((await shop.ingest({ settledMs }))[0]?.status).toBe('published')
  const { app } = await serve(shop)
  const { results } = await getPage(app, '/api/v1/dataset/d/t/data/')
  expect(results).toEqual([{ n: 1 }, { n: 3 }])
})

test('hashes recorded a day ago are not trusted', async () => {
  const shop = await published()
  const [before] = await sumsIn(shop)
  await writeFile(noted(shop), (await readFile(noted(shop), 'utf8')).replaceAll(before ?? '', wrong))
  expect((await shop.ingest({ settledMs, now: aDayLater }))[0]?.status).toBe('unchanged')
  expect(await sumsIn(shop)).toContain(before)
})

test('a file that was written a moment ago is not recorded, since a later change could be invisible', async () => {
  const shop = await workshop(catalog, { 'd/t-1.csv': 'n\n1\n' })
  await shop.ingest({ settledMs: 60_000 })
  await expect(readFile(noted(shop))).rejects.toThrow('ENOENT')
})

test.each(sampled(['', '{', '[]', '{"a": 1}', '{"a": {"sha256": "b", "at": "2026-01-01T00:00:00Z"}}']))(
  'a file of recorded hashes that contains %j is not trusted',
  async (text) => {
    const shop = await published()
    const before = await readFile(noted(shop), 'utf8')
    await writeFile(noted(shop), text)
    expect((await shop.ingest({ settledMs }))[0]?.status).toBe('unchanged')
    expect(await readFile(noted(shop), 'utf8')).toBe(before)
  },
)

testAll('hashes of a partitioned table determine which files are read', async () => {
  const shop = await workshop(
    catalogAround([
      {
        name: 't',
        order: ['n asc'],
        partition: 'n',
        source: { files: 'd/t-*.csv' },
        fields: [fieldOf('n:integer')],
      },
    ]),
    { 'd/t-1.csv': 'n\n1\n', 'd/t-2.csv': 'n\n2\n', 'd/t-3.csv': 'n\n3\n' },
  )
  await shop.ingest({ settledMs })
  const [first] = await sumsIn(shop)
  await shop.write('d/t-3.csv', 'n\n3\n3\n')
  await writeFile(noted(shop), (await readFile(noted(shop), 'utf8')).replaceAll(first ?? '', wrong))
  // The first is as it was, but said to be another.
  expect(await shop.ingest({ settledMs, now: later })).toMatchObject([
    { status: 'published', report: { taken_over: ['2'], rows_out: 4 } },
  ])
})
