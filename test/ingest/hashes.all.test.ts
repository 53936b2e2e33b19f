import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogAround, fieldOf, importDate, workshop, type Workshop } from '../support/workshop.ts'

/** A file of a source that is what it was when it was hashed is not hashed again, and any other is. */

const noted = (shop: Workshop): string => path.join(shop.warehouse, 'd/t/hashed.json')
const sumsIn = async (shop: Workshop): Promise<string[]> =>
  Object.values(JSON.parse(await readFile(noted(shop), 'utf8')) as Record<string, { sha256: string }>).map(
    ({ sha256 }) => sha256,
  )
/** However short a time ago it was written. */
const settledMs = -60_000
const later = (): Date => new Date(importDate.getTime() + 60_000)
const wrong = 'f'.repeat(64)

test('of a table of partitions it tells alone which files are read', async () => {
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
