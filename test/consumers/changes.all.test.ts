import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { describeWith, pythonClients } from '../support/needs.ts'
import { rawGet, serve } from '../support/service.ts'
import { catalogAround, fieldOf, importDate, workshop } from '../support/workshop.ts'

/** Files of changes, read by the libraries of analysts. */

const clients = process.env['ACERVO_CLIENTS'] ?? ''

/** The row with an id in a version: a tenth of the rows change, and the first and last ones come and go. */
function lineOf(id: number, version: number): string {
  const changes = id % 10 === 3 ? version : 0
  const city = id % 7 === 0 ? '' : `"São ""João"", ${id % 5}"`
  return `${id},2024-0${1 + (id % 9)}-1${changes},${city},${id + changes}.50`
}

describeWith(clients !== '' && existsSync(clients), pythonClients)('a file of changes', () => {
  test('leads from the earlier to the later rows in pandas, and opens in polars, pyarrow and DuckDB', async () => {
    const fields = ['id:integer', 'day:date', 'city:string', 'amount:decimal:9:2'].map(fieldOf)
    const shop = await workshop(catalogAround([{ name: 't', order: ['day', 'id'], key: ['id'], fields }]))
    const parts: string[] = []
    for (const version of [0, 1]) {
      const lines = Array.from({ length: 990 }, (_, n) => lineOf(n + 10 * version, version))
      await shop.write('d/t.csv', `id,day,city,amount\n${lines.join('\n')}\n`)
      const now = (): Date => new Date(importDate.getTime() + version * 60_000)
      const [outcome] = await shop.ingest({ now })
      if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
      const folder = path.join(shop.warehouse, 'd', 't', outcome.manifest.snapshot)
      parts.push(path.join(folder, outcome.manifest.parts[0]?.file ?? ''))
    }
    const [old = '', latest = ''] = parts
    const { app } = await serve(shop)
    const csv = path.join(shop.warehouse, '..', 'changes.csv')
    const { body } = await rawGet(app, '/api/v1/dataset/d/t/changes/?format=csv&page_size=10000')
    await writeFile(csv, body)
    const changes = path.join(path.dirname(latest), 'changes.parquet')
    const { stdout } = await promisify(execFile)(path.join(clients, 'python'), [
      'test/consumers/changes.py',
      old,
      changes,
      latest,
      csv,
    ])
    expect(JSON.parse(stdout)).toEqual({ added: 10, removed: 10, changed: 98 })
  }, 120_000)
})
