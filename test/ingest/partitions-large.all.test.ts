import { byMonths, essence, publishedBy } from './support/partitions.ts'
import { workshop, type Workshop } from '../support/workshop.ts'

/** Partitioned tables of several row groups and sections of codes: an ingest of what changed writes what an ingest of all does. */

const numbered = (month: number, count: number, different = count): string =>
  `month,n\n${Array.from({ length: count }, (_, n) => `${month},${n % different}\n`).join('')}`

test('row groups of a partition do not depend on the rows before it', async () => {
  const plain = byMonths('n:integer')
  // Sorted rows lie in groups of 131,072, which no partition begins or ends with.
  const files = [numbered(1, 100_000), numbered(2, 120_777), numbered(3, 90_000)]
  const write = async (shop: Workshop): Promise<void> => {
    for (const [index, content] of files.entries()) await shop.write(`d/t-${index}.csv`, content)
  }
  const [shop, twin] = [await workshop(plain), await workshop(plain)]
  await write(shop)
  await publishedBy(shop, { partRows: 262_144 })
  files[0] = numbered(1, 77_001)
  await write(shop)
  await write(twin)
  const refreshed = await publishedBy(shop, { partRows: 262_144 })
  expect(refreshed.report.taken_over).toEqual(['2', '3'])
  expect(essence(refreshed)).toEqual(essence(await publishedBy(twin, { partRows: 262_144 })))
}, 120_000)

// Sections of codes have 262,144 rows, and two are written at once.
test.each<[title: string, changed: number, rows: number]>([
  ['the last month', 2, 80_000],
  ['the first month by fewer rows than a section of codes', 0, 300_001],
  ['the first month by as many rows as a section of codes', 0, 300_000 - 262_144],
])(
  'a refresh that changes %s writes the same codes as a full ingest',
  async (_what, changed, rows) => {
    const plain = byMonths('n:integer', ['month', 'n'])
    const counts = [300_000, 1_100_000, 90_000]
    const few = { partRows: 262_144, codedDistinctMax: 1000 }
    const [shop, twin] = [await workshop(plain), await workshop(plain)]
    const write = (shops: readonly Workshop[], month: number): Promise<unknown> =>
      Promise.all(
        shops.map((ownShop) => ownShop.write(`d/t-${month}.csv`, numbered(month, counts[month] ?? 0, 300))),
      )
    for (const month of counts.keys()) await write([shop, twin], month)
    await publishedBy(shop, few)
    counts[changed] = rows
    await write([shop, twin], changed)
    const published = await publishedBy(shop, few)
    expect(published.report.taken_over).toHaveLength(2)
    expect(essence(published)).toEqual(essence(await publishedBy(twin, few)))
  },
  120_000,
)
