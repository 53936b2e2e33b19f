import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { oneTable, type OneTable } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { run, startServer } from './support/programs.ts'

/** What an operator sees of the programs, as Prometheus reads it. */

let table: OneTable
let settings: Readonly<Record<string, string>>
beforeAll(async () => {
  table = await oneTable('n\n1\n2\n', ['n:integer'], { table: { refreshed: 'daily' } })
  settings = table.settings
}, 60_000)

/** Samples by name and labels, such as `acervo_ready` or `up{job="x"}`. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

async function scraped(port: number): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return samplesOf(await answer.text())
}

test('a table whose files are damaged is told as faulty', async () => {
  const own = await oneTable('n\n1\n', ['n:integer'])
  const place = path.join(own.settings['WAREHOUSE'] ?? '', 'd', 't')
  const snapshot = (await readdir(place)).find((name) => name !== 'current.json') ?? ''
  await writeFile(path.join(place, snapshot, 'part-00000.parquet'), 'not what was written')
  const metrics = String(await freePort())
  await startServer({ ...own.settings, METRICS_PORT: metrics })
  expect(Object.fromEntries(await scraped(Number(metrics)))).toMatchObject({
    'acervo_table_faulty{table="d/t"}': 1,
    acervo_ready: 0,
  })
}, 60_000)

test('metrics have no port where none is set, and a taken one is told', async () => {
  const server = await startServer(settings)
  expect(server.log()).not.toContain('metrics')
  const { code, err } = await run('server/main', [], {
    ...settings,
    PORT: String(await freePort()),
    METRICS_PORT: String(server.port),
  })
  expect([code, err]).toEqual([
    1,
    `cannot listen on 127.0.0.1:${server.port}, the port is taken: set METRICS_PORT to another\n`,
  ])
}, 60_000)

describe('an ingest', () => {
  test('that cannot leave them says so, and fails', async () => {
    const { code, err } = await run('ingest/main', [], { ...settings, METRICS_FILE: '/nowhere/acervo.prom' })
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^the tables are as told above, but METRICS_FILE \(\/nowhere\/acervo\.prom\) was not written: ENOENT/,
      ),
    ])
  })
})
