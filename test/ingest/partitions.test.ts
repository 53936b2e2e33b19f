import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { randomFrom } from '../evaluator/random-queries.ts'
import { byMonths, essence, options, publishedBy, type Published } from './support/partitions.ts'
import { isQuick, runsOf, seed, testAll } from '../support/runs.ts'
import { getPage, serve, walk } from '../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../support/workshop.ts'

/** Partitions with files of their own: only changed ones are read, and the published bytes are the same. */

const table = {
  name: 't',
  order: ['month desc', 'city asc'],
  partition: 'month',
  filters: ['month', 'city', 'state', 'key', 'value'],
  search: ['note'],
  orders: [['-value', 'city']],
  source: { files: 'd/t-*.csv' },
  fields: ['month:integer', 'city:string', 'state:string', 'key:string', 'value:decimal', 'note:text'].map(
    fieldOf,
  ),
}
const catalog = catalogAround([table])

interface Row {
  readonly city: string
  readonly state: string
  readonly key: string
  readonly value: string
  readonly note: string
}
type Files = Map<string, { readonly month: string; readonly rows: readonly Row[]; readonly header?: string }>

const usualHeader = 'month,city,state,key,value,note'

function csvOf({ month, rows, header = usualHeader }: NonNullable<ReturnType<Files['get']>>): string {
  const columns = header.split(',')
  const line = (row: Row): string =>
    columns
      .map((name) => (name === 'month' ? month : `"${row[name as keyof Row].replaceAll('"', '""')}"`))
      .join(',')
  return `${[header, ...rows.map(line)].join('\n')}\n`
}

function rowsOf(random: () => number, most = isQuick ? 50 : 120): Row[] {
  const pick = (items: readonly string[]): string => items[Math.floor(random() * items.length)] ?? ''
  return Array.from({ length: 1 + Math.floor(random() * most) }, () => ({
    city: pick(['Água Boa', 'Belém', 'Caçador', 'Jaú', `Vila ${Math.floor(random() * 40)}`]),
    state: pick(['SP', 'MG', 'PA', '']),
    key: String(Math.floor(random() * 1e6)).padStart(6, '0'),
    value: random() < 0.1 ? '' : (random() * 100).toFixed(2),
    note: pick(['', 'a "quoted" one', 'two\nlines', `São ${Math.floor(random() * 9)}`]),
  }))
}

/** Publishes files by an ingest with earlier ones, and by one without. */
async function both(shop: Workshop, files: Files): Promise<{ refreshed: Published; fresh: Published }> {
  const twin = await workshop(catalog)
  await rm(path.join(shop.sources, 'd'), { recursive: true, force: true })
  for (const [name, file] of files) {
    await shop.write(`d/t-${name}.csv`, csvOf(file))
    await twin.write(`d/t-${name}.csv`, csvOf(file))
  }
  return { refreshed: await publishedBy(shop), fresh: await publishedBy(twin) }
}

const changes = runsOf('PARTITION_CHANGES')

test(
  'refreshes after random changes of files give the same snapshots as full ingests',
  async () => {
    const random = randomFrom(seed)
    const shop = await workshop(catalog)
    const months = ['202001', '202002', '202003', '202004', '202005', '202006', '']
    const files: Files = new Map(
      months.slice(0, 5).map((month, index) => [`${index}`, { month, rows: rowsOf(random) }]),
    )
    const differences: unknown[] = []
    let takenOver = 0
    for (let round = 0; round < changes; round += 1) {
      const names = [...files.keys()]
      const name = names[Math.floor(random() * names.length)] ?? ''
      const month = months[Math.floor(random() * months.length)] ?? ''
      const content = files.get(name)
      const change = Math.floor(random() * 5)
      if (change === 0 && files.size > 3 && round > 0) files.delete(name)
      else if (change === 1) files.set(`${round}x`, { month, rows: rowsOf(random) })
      else if (change === 2) files.set(name, { month, rows: rowsOf(random) })
      else files.set(name, { month: content?.month ?? month, rows: rowsOf(random) })
      const results = await both(shop, files).catch((error: unknown) => {
        // A source that shrinks much, or loses a file, is refused unasked; what is refused changes nothing.
        if (!/is missing|there are .* rows instead|are null, but/.test(String(error))) throw error
        return null
      })
      if (results === null) {
        const [accepted] = await shop.ingest({ ...options, acceptsDrift: true })
        if (accepted?.status === 'failed') throw accepted.failure
        continue
      }
      const { refreshed, fresh } = results
      takenOver += refreshed.report.taken_over.length
      if (JSON.stringify(essence(refreshed)) !== JSON.stringify(essence(fresh)))
        differences.push({ round, refreshed: essence(refreshed), fresh: essence(fresh) })
    }
    expect({ seed, differences: differences.slice(0, 1) }).toEqual({ seed, differences: [] })
    // A few changes may all be of the kind that leaves nothing to reuse.
    expect(takenOver > 0 || changes < 8).toBe(true)
  },
  60_000 + 10_000 * changes,
)

/** Three months, in the order of the table. */
function quarter(): Files {
  const random = randomFrom(7)
  return new Map(['202001', '202002', '202003'].map((month) => [month, { month, rows: rowsOf(random) }]))
}

test('only changed partitions are read, and served together with the others', async () => {
  const shop = await workshop(catalog)
  const files = quarter()
  await both(shop, files)
  files.set('202002', { month: '202002', rows: rowsOf(randomFrom(9)) })
  const { refreshed, fresh } = await both(shop, files)
  expect(refreshed.report.taken_over).toEqual(['202003', '202001'])
  expect(essence(refreshed)).toEqual(essence(fresh))
  const { app } = await serve(shop)
  const pages = await walk(app, '/api/v1/dataset/d/t/data/?page_size=50')
  const due = ['202003', '202002', '202001'].flatMap((month) =>
    (files.get(month)?.rows ?? [])
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.city), Buffer.from(b.city)))
      .map(({ key }) => [Number(month), key]),
  )
  expect(pages.flatMap(({ results }) => results.map((row) => [row['month'], row['key']]))).toEqual(due)
  expect((await getPage(app, '/api/v1/dataset/d/t/data/?state=SP')).count).toBe(
    [...files.values()].flatMap(({ rows }) => rows).filter(({ state }) => state === 'SP').length,
  )
})

/** The first name has as many rows as there are names, the second half as many, and so on. */
const namesOf = (month: number, count: number, extra: Readonly<Record<string, number>> = {}): string => {
  const rows = Array.from({ length: count }, (_, n): [string, number] => [
    `name ${n}`,
    Math.ceil(count / (n + 1)),
  ])
  const names = [...rows, ...Object.entries(extra)].flatMap(([name, often]) =>
    Array<string>(often).fill(name),
  )
  return `month,name\n${names.map((name) => `${month},${name}\n`).join('')}`
}

testAll.each<[title: string, changed: string]>([
  ['one name becomes more frequent', namesOf(3, 300, { 'name 0': 1 })],
  ['two names change places', namesOf(3, 300, { 'name 9': 20, 'name 10': 26 })],
  ['a rare name becomes more frequent', namesOf(3, 300, { 'name 250': 82 })],
  ['a new name becomes the most frequent', namesOf(3, 300, { another: 2000 })],
  ['the changed month has few names', namesOf(3, 30)],
])('a refresh finds the same most frequent names as a full ingest: %s', async (_what, changed) => {
  const plain = byMonths('name:string')
  const [shop, twin] = [await workshop(plain), await workshop(plain)]
  for (const month of [1, 2, 3]) await shop.write(`d/t-${month}.csv`, namesOf(month, 300))
  const large = { partRows: 262_144 }
  await publishedBy(shop, large)
  for (const target of [shop, twin]) await target.write('d/t-3.csv', changed)
  for (const month of [1, 2]) await twin.write(`d/t-${month}.csv`, namesOf(month, 300))
  const [refreshed, fresh] = [await publishedBy(shop, large), await publishedBy(twin, large)]
  expect(refreshed.report.taken_over).toEqual(['1', '2'])
  expect(essence(refreshed)).toEqual(essence(fresh))
})

testAll.each<[title: string, change: (files: Files) => void, taken: string[]]>([
  [
    'an additional month',
    (files) => files.set('202004', { month: '202004', rows: rowsOf(randomFrom(1)) }),
    ['202003', '202002', '202001'],
  ],
  [
    'an additional file of a month',
    (files) => files.set('x', { month: '202002', rows: rowsOf(randomFrom(2)) }),
    ['202003', '202001'],
  ],
  [
    'a file that changes to another month',
    (files) => files.set('202003', { month: '202001', rows: rowsOf(randomFrom(3)) }),
    ['202002'],
  ],
  [
    'columns in another place in all files',
    (files) => {
      for (const [name, file] of files)
        files.set(name, { ...file, header: 'city,month,state,key,value,note' })
    },
    [],
  ],
])('a refresh with %s gives the same snapshot as a full ingest', async (_what, change, taken) => {
  const shop = await workshop(catalog)
  const files = quarter()
  await both(shop, files)
  change(files)
  const { refreshed, fresh } = await both(shop, files)
  expect(refreshed.report.taken_over).toEqual(taken)
  expect(essence(refreshed)).toEqual(essence(fresh))
})

test.each<[title: string, change: (files: Files) => void, says: RegExp]>([
  [
    'columns of one file in another place',
    (files) =>
      files.set('202002', { ...quarter().get('202002')!, header: 'city,month,state,key,value,note' }),
    /the header of t-202002\.csv differs from that of t-202001\.csv/,
  ],
])(
  'a refresh with %s is refused like a full ingest, and the old snapshot stays',
  async (_what, change, says) => {
    const shop = await workshop(catalog)
    const files = quarter()
    const { refreshed } = await both(shop, files)
    change(files)
    await expect(both(shop, files)).rejects.toThrow(says)
    const current = JSON.parse(String(await shop.store.get('d/t/current.json'))) as Manifest
    expect(current.snapshot).toBe(refreshed.manifest.snapshot)
  },
)

/** Two rows of a month, whose last values are given. */
const file = (month: number, first: number | string, two: number | string = first): string =>
  `month,name,n\n${month},a,${first}\n${month},b,${two}\n`
const keyed = (tableKeys: object = {}) =>
  catalogAround([
    {
      name: 't',
      order: ['month asc', 'name asc'],
      partition: 'month',
      source: { files: 'd/t-*.csv' },
      fields: ['month:integer', 'name:string', 'n:integer'].map(fieldOf),
      ...tableKeys,
    },
  ])

testAll('equal rows keep the present order of their files', async () => {
  const [shop, twin] = [await workshop(keyed()), await workshop(keyed())]
  for (const [name, text] of [
    ['1', file(1, 1)],
    ['2', file(1, 2)],
    ['3', file(2, 3)],
  ] as const)
    await shop.write(`d/t-${name}.csv`, text)
  await publishedBy(shop)
  // The two of a month change places.
  for (const target of [shop, twin]) {
    await target.write('d/t-1.csv', file(1, 2))
    await target.write('d/t-2.csv', file(1, 1))
    await target.write('d/t-3.csv', file(2, 3))
  }
  const [refreshed, fresh] = [await publishedBy(shop), await publishedBy(twin)]
  expect(refreshed.report.taken_over).toEqual(['2'])
  expect(essence(refreshed)).toEqual(essence(fresh))
  const { results } = await getPage((await serve(shop)).app, '/api/v1/dataset/d/t/data/')
  expect(results.map(({ name, n }) => `${String(name)}${String(n)}`)).toEqual([
    'a2',
    'a1',
    'b2',
    'b1',
    'a3',
    'b3',
  ])
})

const keyedOf = (...names: readonly string[]): Catalog =>
  keyed({ source: { files: names.map((name) => `d/t-${name}.csv`) } })

testAll('equal rows keep the order in which the catalog names their files', async () => {
  const shop = await workshop(keyedOf('1', '2', '3'))
  const files = [file(1, 1), file(1, 2), file(2, 3)]
  for (const [index, text] of files.entries()) await shop.write(`d/t-${index + 1}.csv`, text)
  await publishedBy(shop)
  const { sources, store } = shop
  const third = await workshop(keyedOf('2', '1', '3'))
  await shop.write('d/t-3.csv', file(2, 4))
  const { report } = await publishedBy(third, { sources, store })
  expect(report.taken_over).toEqual([])
  const { results } = await getPage((await serve(shop)).app, '/api/v1/dataset/d/t/data/')
  expect(results.map(({ n }) => n)).toEqual([2, 1, 2, 1, 4, 4])
})

const inRanges = ({ report }: Published): unknown =>
  report.fields.find(({ name }) => name === 'n')?.histogram?.map(({ from, to, rows }) => [from, to, rows])

/** Whole numbers, the first of them so often: of 21 and more, each range of a histogram ends at one of them. */
const numbers = (month: number, often: number): string =>
  `month,n\n${`${month},0\n`.repeat(often)}${Array.from({ length: 40 }, (_, n) => `${month},${n + 1}\n`).join('')}`

/** Returns the histogram of the files of three months together, for a number of zeros. */
const rangesDue = (often: number): unknown =>
  Array.from({ length: 20 }, (_, range) => [`${2 * range}`, `${2 * range + 2}`, range === 0 ? often + 6 : 6])

test('ranges of a histogram include their upper end, in full ingests and refreshes', async () => {
  const shop = await workshop(byMonths('n:integer', ['month', 'n']))
  for (const month of [1, 2, 3]) await shop.write(`d/t-${month}.csv`, numbers(month, month))
  expect(inRanges(await publishedBy(shop))).toEqual(rangesDue(6))
  await shop.write('d/t-2.csv', numbers(2, 7))
  const second = await publishedBy(shop)
  expect(second.report.taken_over).toEqual(['1', '3'])
  expect(inRanges(second)).toEqual(rangesDue(11))
})

testAll('rejects of reused partitions count toward the allowed number', async () => {
  const shop = await workshop(keyed({ max_rejects: 1 }))
  for (const month of [1, 2]) await shop.write(`d/t-${month}.csv`, file(month, 1, month === 1 ? 'x' : 2))
  await publishedBy(shop)
  await shop.write('d/t-2.csv', file(2, 1, 'y'))
  await expect(publishedBy(shop)).rejects.toThrow(/^2 rows do not match the catalog/)
  await shop.write('d/t-1.csv', file(1, 1))
  expect((await publishedBy(shop)).report.rejected_rows).toBe(1)
})

test('a file with rows of two partitions is refused, with both values', async () => {
  const shop = await workshop(catalog, {
    'd/t-a.csv': `${usualHeader}\n202001,A,SP,1,1,\n202002,A,SP,1,1,\n`,
  })
  const [outcome] = await shop.ingest(options)
  expect(outcome).toMatchObject({
    status: 'failed',
    failure: {
      message:
        't-a.csv has several values of "month": 202001 and 202002; the table is partitioned by it, so all rows of a file need the same value',
    },
  })
})
