import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { describeWith, pythonClients } from '../support/needs.ts'
import { rawGet, serve, type Service } from '../support/service.ts'
import { catalogAround, fieldOf, importDate, temporaryFolder, workshop } from '../support/workshop.ts'

/** Files of changes, read by the libraries of analysts. */

const clients = process.env['ACERVO_CLIENTS'] ?? ''

/** The row with an id in a version: a tenth of the rows change, and the first and last ones come and go. */
function lineOf(id: number, version: number): string {
  const changes = id % 10 === 3 ? version : 0
  const city = id % 7 === 0 ? '' : `"São ""João"", ${id % 5}"`
  return `${id},2024-0${1 + (id % 9)}-1${changes},${city},${id + changes}.50`
}

/** Rows of a table before and after an ingest, and the changes between them. */
interface Versions {
  readonly app: Service['app']
  /** Parquet files of the rows. */
  readonly parts: readonly [old: string, latest: string]
  readonly snapshots: readonly string[]
}

async function publishedTwice(): Promise<Versions> {
  const fields = ['id:integer', 'day:date', 'city:string', 'amount:decimal:9:2'].map(fieldOf)
  const shop = await workshop(catalogAround([{ name: 't', order: ['day', 'id'], key: ['id'], fields }]))
  const parts: string[] = []
  const snapshots: string[] = []
  for (const version of [0, 1]) {
    const lines = Array.from({ length: 990 }, (_, n) => lineOf(n + 10 * version, version))
    await shop.write('d/t.csv', `id,day,city,amount\n${lines.join('\n')}\n`)
    const now = (): Date => new Date(importDate.getTime() + version * 60_000)
    const [outcome] = await shop.ingest({ now })
    if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
    const {
      snapshot,
      parts: [part],
    } = outcome.manifest
    parts.push(path.join(shop.warehouse, 'd', 't', snapshot, part?.file ?? ''))
    snapshots.push(snapshot)
  }
  const { app } = await serve(shop)
  return { app, parts: [parts[0] ?? '', parts[1] ?? ''], snapshots }
}

/** Saves an answer as a file, as `curl -o` does. */
async function saved(app: Service['app'], address: string): Promise<string> {
  const file = path.join(await temporaryFolder(), 'rows.csv')
  const { status, body } = await rawGet(app, `/api/v1/dataset/d/t/${address}`)
  expect([address, status]).toEqual([address, 200])
  await writeFile(file, body)
  return file
}

const run = promisify(execFile)
const due = { added: 10, removed: 10, changed: 98 }

describeWith(clients !== '' && existsSync(clients), pythonClients)('a file of changes', () => {
  test('leads from the earlier to the later rows in pandas, and opens in polars, pyarrow and DuckDB', async () => {
    const {
      app,
      parts: [old, latest],
    } = await publishedTwice()
    const csv = await saved(app, 'changes/?format=csv&page_size=10000')
    const changes = path.join(path.dirname(latest), 'changes.parquet')
    const { stdout } = await run(path.join(clients, 'python'), [
      'test/consumers/changes.py',
      old,
      changes,
      latest,
      csv,
    ])
    expect(JSON.parse(stdout)).toEqual(due)
  }, 120_000)
})

const hasR = spawnSync('Rscript', ['--version']).status === 0

describeWith(hasR, 'Rscript')('changes as CSV', () => {
  test('lead from the earlier to the later rows in R', async () => {
    const {
      app,
      snapshots: [old, latest],
    } = await publishedTwice()
    const changes = await saved(app, 'changes/?format=csv&page_size=10000')
    const [before, after] = [
      await saved(app, `export/?snapshot=${old}`),
      await saved(app, `export/?snapshot=${latest}`),
    ]
    const { stdout } = await run('Rscript', ['test/consumers/changes.R', before, changes, after])
    expect(stdout.trim()).toBe(`${due.added} ${due.removed} ${due.changed}`)
  }, 120_000)
})
