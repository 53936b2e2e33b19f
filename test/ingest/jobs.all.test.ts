import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { layout } from '../../core/warehouse/layout.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { readVerified, versionsIn } from '../../core/warehouse/state-files.ts'
import type { IngestOptions } from '../../ingest/run/options.ts'
import { outcomeLines } from '../../ingest/job/report.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop } from '../support/workshop.ts'
import { testSampled } from '../support/runs.ts'

/** Records of ingest jobs: what the next job converts again. */

const two = tinyCatalog({ name: 'good', fields: ['n:integer'] }, { name: 'bad', fields: ['n:integer'] })
const later = () => new Date('2027-01-01T00:00:00Z')

describe('a job', () => {
  test('records the versions of the files that it verified, and does so again after the files were copied', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error('it was not published')
    const { table, manifest } = outcome
    const noted = () => readVerified(shop.store, table, manifest.snapshot)
    const now = () => versionsIn(shop.store, table, manifest)
    expect([...(await noted()).keys()]).toEqual([
      'part-00000.parquet',
      't.csv.gz',
      'report.json',
      'rows-00000.bin',
    ])
    expect(await noted()).toEqual(await now())

    const home = path.join(shop.warehouse, layout.snapshot(table, manifest.snapshot))
    await cp(home, `${home}.copy`, { recursive: true })
    await rm(home, { recursive: true })
    await rename(`${home}.copy`, home)
    expect(await noted()).not.toEqual(await now())
    expect((await shop.ingest())[0]?.status).toBe('unchanged')
    expect(await noted()).toEqual(await now())

    await truncate(path.join(home, 't.csv.gz'), 3)
    await rm(path.join(shop.sources, 'd'), { recursive: true })
    const before = await noted()
    await shop.ingest()
    expect(await noted()).toEqual(before)
  })

  test('publishes an unchanged source again if the converter has another version', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const run = async (options: Partial<IngestOptions>) => {
      const [outcome] = await shop.ingest({ now: later, ...options })
      return outcome?.status
    }
    const runs = [{ converter: 1 }, { converter: 1 }, {}, { onlyUnpublished: true }, {}, { converter: 99 }]
    const statuses: unknown[] = []
    for (const options of runs) statuses.push(await run(options))
    expect(statuses).toEqual(['published', 'unchanged', 'published', 'kept', 'unchanged', 'published'])
    await expect(run({ converter: 98, onlyUnpublished: true })).resolves.toBe('published')
  })

  test('for unpublished tables also publishes a table again if its declaration has changed', async () => {
    const fields = ['a:string', 'b:string']
    const shop = await workshop(tinyCatalog({ fields, source: { rename: { x: 'a', y: 'b' } } }), {
      'd/t.csv': 'x,y\n1,2\n',
    })
    await shop.ingest()
    const corrected = await workshop(tinyCatalog({ fields, source: { rename: { x: 'b', y: 'a' } } }))
    const { sources, store } = shop
    const [outcome] = await corrected.ingest({ sources, store, onlyUnpublished: true, now: later })
    expect(outcome?.status).toBe('published')
  })

  test('continues with the other tables even if a failure report cannot be written', async () => {
    const shop = await workshop(two, { 'd/good.csv': 'n\n1\n', 'd/bad.csv': 'n\nx\n' })
    await mkdir(path.join(shop.warehouse, 'd'), { recursive: true })
    await writeFile(path.join(shop.warehouse, 'd', 'bad'), 'a file in the way')
    const outcomes = await shop.ingest()
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['published', 'failed'])
    expect(outcomes.flatMap((outcome) => outcomeLines(outcome, true)).at(-1)).toMatch(/^ {2}report: none, E/)
  })

  test('reports that the warehouse is not writable', async () => {
    const shop = await workshop(two, { 'd/good.csv': 'n\n1\n' })
    await writeFile(shop.warehouse, 'a file in the way')
    await expect(shop.ingest()).rejects.toThrow(/^cannot write to the warehouse .*: E/)
  })

  test('removes the failure report once the table succeeds', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    await shop.ingest()
    await shop.write('d/t.csv', 'n\nx\n')
    await shop.ingest()
    const failure = path.join(shop.warehouse, 'd', 't', 'failure.json')
    expect(existsSync(failure)).toBe(true)
    await shop.write('d/t.csv', 'n\n1\n')
    await shop.ingest()
    expect(existsSync(failure)).toBe(false)
  })

  test('replaces a snapshot with a flipped bit, though its source is unchanged', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const [first] = await shop.ingest()
    if (first?.status !== 'published') throw new Error('expected a snapshot')
    const part = path.join(shop.warehouse, 'd', 't', first.manifest.snapshot, 'part-00000.parquet')
    const bytes = await readFile(part)
    bytes[10] = (bytes[10] ?? 0) ^ 4
    await writeFile(part, bytes)
    const [again] = await shop.ingest({ now: later })
    expect(again?.status).toBe('published')
  })

  test('replaces a damaged manifest', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    await shop.ingest()
    const pointer = path.join(shop.warehouse, 'd', 't', 'current.json')
    await writeFile(pointer, '{"format": 1')
    const [outcome] = await shop.ingest({ now: later })
    expect(outcome?.status).toBe('published')
    expect((await publishedOf(shop.store, { dataset: 'd', name: 't' }))?.import_date).toBe(
      '2027-01-01T00:00:00.000Z',
    )
  })
})

testSampled<[title: string, often: number]>([
  ['more than a hundred occur often', 120],
  ['only twenty occur often, and all others equally often', 20],
])(
  'the most frequent of very many values are counted exactly if %s',
  async (_what, often) => {
    const counts = new Map<string, number>()
    for (let k = 0; k < 90_000; k += 1)
      counts.set(`value ${(k * 7919) % 90_001}`, k < often ? 4 + 2 * Math.floor((often - k) / 2) : 3)
    const lines = [...counts].flatMap(([value, rows]) => Array.from({ length: rows }, () => value))
    const table = { name: 't', order: ['n asc'], fields: ['n:integer', 's:string'].map(fieldOf) }
    const csv = `n,s\n${lines.map((value, n) => `${n},${value}`).join('\n')}\n`
    const shop = await workshop(catalogAround([table]), { 'd/t.csv': csv })
    const [outcome] = await shop.ingest()
    const report = outcome?.status === 'published' ? outcome.report : null
    const due = [...counts]
      .map(([value, rows]) => ({ value, rows }))
      .toSorted((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1))
    expect(report?.fields[1]).toMatchObject({ name: 's', top: due.slice(0, 10) })
  },
  60_000,
)
