import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import http from 'node:http'
import path from 'node:path'
import { firstMember } from './support/gzip.ts'
import { sealed } from './support/manifests.ts'
import { oneTable } from './support/one-table.ts'
import { run, startServer } from './support/programs.ts'
import { temporaryFolder } from './support/workshop.ts'
import { testAll } from './support/runs.ts'

/**
 * Warehouses of released versions, each with its catalog and recorded answers, are served with the same rows. Before a
 * release, `UPDATE_WAREHOUSE=yes npm run jest -- test/warehouses` adds one of this version.
 */

const home = path.resolve('test/warehouses')

const catalog = `
title: Open data
description: Open data.
notice: Use this API sparingly.
limits: { rows: [{ requests: 1000, per: 1m }], catalog: [{ requests: 1000, per: 1m }] }
families: { v1: { prefix: /api/v1, scheme: public, trailing_slash: true } }
datasets:
  - slug: d
    name: D
    description: All types of fields.
    listed_in: [v1]
    collected_at: 2026-01-31
    links: []
    tables:
      - name: types
        order: [day desc, "n"]
        orders: [[-amount]]
        filters: ["n", day, city, is_open, amount]
        search: [city, note]
        fields:
          - { name: "n", type: integer }
          - { name: city, type: string }
          - { name: note, type: text }
          - { name: ratio, type: float }
          - { name: amount, type: decimal, precision: 9, scale: 2 }
          - { name: is_open, type: bool }
          - { name: day, type: date }
          - { name: at, type: datetime }
          - { name: hour, type: time }
          - { name: tags, type: list }
          - { name: data, type: json }
          - { name: place, type: point }
      - name: months
        order: [month, "n"]
        partition: month
        filters: ["n"]
        source: { files: 'd/months-*.csv', from_name: 'months-{month}.csv' }
        fields: [{ name: month, type: string }, { name: "n", type: integer }]
`

const queries = [
  'types/data/?page_size=30&page=last',
  'types/data/?city=Bel%C3%A9m&page_size=20',
  'types/data/?search=sao&ordering=-amount&page_size=20',
  'types/data/?day__gte=2026-01-10&is_open=True&page_size=20',
  'months/data/?n__gte=7&page_size=100',
]

function typesCsv(): string {
  const lines = Array.from({ length: 400 }, (_, n) => {
    const day = String((n % 28) + 1).padStart(2, '0')
    const city = ['Belém', 'São Paulo', 'Ilhéus'][n % 3] ?? ''
    const note = n % 7 === 0 ? '' : `note ${n}`
    const [at, hour] = [`2026-01-${day}T10:00:${String(n % 60).padStart(2, '0')}`, `${n % 26}:30:00`]
    return `${n},${city},${note},${n / 8},${n}.25,${n % 2 === 0},2026-01-${day},${at},${hour.padStart(8, '0')},"[""a"",""${n}""]","{""n"": ${n}}","-12.${n},-38.5"`
  })
  return `n,city,note,ratio,amount,is_open,day,at,hour,tags,data,place\n${lines.join('\n')}\n`
}

async function answersOf(settings: Record<string, string>): Promise<unknown[]> {
  const server = await startServer(settings)
  const answers: unknown[] = []
  await expectExport(server.port)
  for (const query of queries) {
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/dataset/d/${query}`)
    const { count, results } = (await response.json()) as { count: number; results: unknown }
    answers.push({ query, status: response.status, count, results })
  }
  process.kill(server.pid, 'SIGTERM')
  await server.ended
  return answers
}

/** Earlier versions wrote downloads of several gzip members, of which many clients read the first alone. */
async function expectExport(port: number): Promise<void> {
  const target = `/api/v1/dataset/d/types/export/?format=csv`
  const [asked] = (await once(
    http.get({ port, path: target, headers: { 'Accept-Encoding': 'gzip' } }),
    'response',
  )) as [http.IncomingMessage]
  const body = Buffer.concat(await asked.toArray())
  const text = asked.headers['content-encoding'] === 'gzip' ? firstMember(body).text : body
  expect(text.toString().match(/^\d+,(Belém|São Paulo|Ilhéus),/gm)).toHaveLength(400)
}

const settingsIn = (folder: string): Record<string, string> => ({
  CATALOG: path.join(folder, 'catalog.yaml'),
  SOURCES: path.join(folder, 'sources'),
  WAREHOUSE: path.join(folder, 'warehouse'),
})

async function recordThisVersion(): Promise<void> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  const folder = await temporaryFolder()
  await writeFile(path.join(folder, 'catalog.yaml'), catalog)
  await mkdir(path.join(folder, 'sources/d'), { recursive: true })
  await writeFile(path.join(folder, 'sources/d/types.csv'), typesCsv())
  for (const month of ['2026-01', '2026-02'])
    await writeFile(path.join(folder, `sources/d/months-${month}.csv`), `n\n${[3, 7, 9].join('\n')}\n`)
  const { code, out, err } = await run('ingest', [], settingsIn(folder))
  if (code !== 0) throw new Error(out + err)
  await mkdir(home, { recursive: true })
  await writeFile(
    path.join(home, `${version}.json`),
    `${JSON.stringify(await answersOf(settingsIn(folder)))}\n`,
  )
  spawnSync('tar', ['-czf', path.join(home, `${version}.tar.gz`), '-C', folder, 'catalog.yaml', 'warehouse'])
}

test('warehouses of all released versions are served with their rows, and are intact', async () => {
  if (process.env['UPDATE_WAREHOUSE'] === 'yes') await recordThisVersion()
  const archives = (await readdir(home)).filter((name) => name.endsWith('.tar.gz'))
  expect(archives).toContain('0.2.0.tar.gz')
  for (const archive of archives) {
    const folder = await temporaryFolder()
    expect(spawnSync('tar', ['-xzf', path.join(home, archive), '-C', folder]).status).toBe(0)
    const recorded = await readFile(path.join(home, archive.replace('.tar.gz', '.json')), 'utf8')
    expect(await answersOf(settingsIn(folder))).toEqual(JSON.parse(recorded))
    expect(await run('verify', [], settingsIn(folder))).toMatchObject({
      code: 0,
      // The conversion has changed since.
      out: expect.stringMatching(
        /^the next `acervo ingest` writes these again.*: d\/types, d\/months\n2 snapshots read \(0\.\d MB in total\), 0 damaged\n$/,
      ),
    })
  }
}, 60_000)

testAll('the command verify names the tables that the next ingest rewrites', async () => {
  const { settings } = await oneTable('n\n1\n', ['n:integer'])
  expect(await run('verify', [], settings)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^1 snapshots read/),
  })
  const text = await readFile(settings['CATALOG'] ?? '', 'utf8')
  await writeFile(settings['CATALOG'] ?? '', text.replace('"order":["n"]', '"order":["n desc"]'))
  const { code, out } = await run('verify', [], settings)
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^the next `acervo ingest` writes these again.*: d\/t\n/),
  ])
})

testAll(
  'an ingest and verify name a renamed table under its old name, until its folder is removed',
  async () => {
    const { settings } = await oneTable('n\n1\n', ['n:integer'])
    const { CATALOG = '', SOURCES = '', WAREHOUSE = '' } = settings
    await writeFile(CATALOG, (await readFile(CATALOG, 'utf8')).replace('"name":"t"', '"name":"u"'))
    await rename(path.join(SOURCES, 'd/t.csv'), path.join(SOURCES, 'd/u.csv'))
    const text = `published, but not in the catalog, so that their addresses answer 404: d/t; declare them again, or remove their folders from ${WAREHOUSE}\n`
    const outputs = async (): Promise<readonly boolean[]> => {
      const ended = [await run('ingest', [], settings), await run('verify', [], settings)]
      expect(ended.map(({ code }) => code)).toEqual([0, 0])
      return ended.map(({ out }) => out.includes(text))
    }
    expect(await outputs()).toEqual([true, true])
    expect((await run('ingest', ['d/u'], settings)).out).not.toContain('not in the catalog')
    await rm(path.join(WAREHOUSE, 'd/t'), { recursive: true })
    expect(await outputs()).toEqual([false, false])
  },
)

testAll('the command verify names no table whose source an ingest holds back after a rollback', async () => {
  const { settings } = await oneTable('n\n1\n2\n', ['n:integer'])
  const { CATALOG = '' } = settings
  const text = await readFile(CATALOG, 'utf8')
  await writeFile(CATALOG, text.replace('"order":["n"]', '"order":["n desc"]'))
  expect((await run('ingest', [], settings)).out).toContain('published 2 rows')
  expect(await run('rollback', ['d/t'], settings)).toMatchObject({ code: 0 })
  expect((await run('ingest', [], settings)).out).toContain('held back')
  expect((await run('verify', [], settings)).out).toMatch(/^2 snapshots read/)
})

test('a snapshot of a newer format is not replaced by an older version', async () => {
  const folder = await temporaryFolder()
  spawnSync('tar', ['-xzf', path.join(home, '0.2.0.tar.gz'), '-C', folder])
  const settings = settingsIn(folder)
  const pointer = path.join(folder, 'warehouse/d/types/current.json')
  const manifest = JSON.parse(await readFile(pointer, 'utf8')) as object
  const newer = sealed({ ...manifest, format: 99 })
  await writeFile(pointer, newer)
  await mkdir(path.join(folder, 'sources/d'), { recursive: true })
  await writeFile(path.join(folder, 'sources/d/types.csv'), typesCsv())
  const { code, out } = await run('ingest', ['d/types'], settings)
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(
      /^d\/types: FAILED, d\/types\/current\.json has the format 99 of a newer Acervo, .*: upgrade Acervo/,
    ),
  ])
  expect(await readFile(pointer, 'utf8')).toBe(newer)
})
