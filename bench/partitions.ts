import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { Database } from '../core/duckdb/database.ts'
import { quotedText } from '../core/sql.ts'
import { fileNames, layout } from '../core/warehouse/layout.ts'
import { filesOf, type Manifest } from '../core/warehouse/manifest.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { bareLine, type Bench, type Line } from './cases.ts'

const firstNames = words(
  'MARIA ANA FRANCISCA ADRIANA JULIANA FERNANDA PATRÍCIA ALINE SANDRA CAMILA BRUNA LETÍCIA LUCIANA JOSÉ JOÃO CARLOS PAULO PEDRO LUCAS LUIZ MARCOS GABRIEL RAFAEL DANIEL BRUNO EDUARDO RAIMUNDO ANDRÉ',
)
const surnames = words(
  'SILVA SANTOS OLIVEIRA SOUZA RODRIGUES FERREIRA ALVES PEREIRA LIMA GOMES COSTA RIBEIRO MARTINS CARVALHO ALMEIDA LOPES SOARES VIEIRA BARBOSA ROCHA DIAS ANDRADE NUNES MACHADO MENDES RAMOS ARAÚJO',
)
const states = words('RO AC AM RR PA AP TO MA PI CE RN PB PE AL SE BA MG ES RJ SP PR SC RS MS MT GO DF')

function words(text: string): string[] {
  return text.split(' ')
}

const months = 36
const changedMonths = 3
const rowsOfMonth = 1_000_000
const table = { dataset: 'bench', name: 'payroll' }
const reportShape = z.object({ seconds: z.record(z.string(), z.number()) })

/**
 * Compares a refresh of 3 of 36 monthly partitions with an ingest of all of them, from the start of each
 * program to its end.
 */
export async function partitions(bench: Bench, scale: number): Promise<Line[]> {
  const folder = path.join(bench.folder, 'partitions')
  const [refreshed, anew] = [path.join(folder, 'refreshed'), path.join(folder, 'anew')]
  const environment = { CATALOG: path.join(folder, 'catalog.yaml'), SOURCES: path.join(folder, 'sources') }
  await mkdir(path.join(environment.SOURCES, table.dataset, table.name), { recursive: true })
  await writeFile(environment.CATALOG, catalog)
  const monthNumbers = Array.from({ length: months }, (_, month) => month)
  const changedNumbers = monthNumbers.slice(-changedMonths)
  try {
    await writeMonths(environment.SOURCES, monthNumbers, 0, scale)
    const first = await runIngest({ ...environment, WAREHOUSE: refreshed })
    await writeMonths(environment.SOURCES, changedNumbers, 1, scale)
    const refresh = await runIngest({ ...environment, WAREHOUSE: refreshed })
    const full = await runIngest({ ...environment, WAREHOUSE: anew })
    const isSame = JSON.stringify(bytesOf(refresh.manifest)) === JSON.stringify(bytesOf(full.manifest))
    const name = `${changedMonths} of ${months} partitions changed, ${(full.manifest.rows / 1e6).toFixed(1)} M rows`
    return [
      bareLine(
        `${name}: the refresh to an ingest of all`,
        's',
        refresh.seconds,
        Math.min(first.seconds, full.seconds),
        ['<=', 1 / 4],
        `refresh: ${stepsOf(refresh)}\n    all: ${stepsOf(full)}\n    ${megabytesOf(full)}`,
      ),
      bareLine(
        'its parts, indexes and download as of an ingest of all',
        '',
        isSame ? 1 : 0,
        null,
        ['>=', 1],
        '',
      ),
    ]
  } finally {
    for (const warehouse of [refreshed, anew]) await rm(warehouse, { recursive: true, force: true })
  }
}

interface Ingested {
  readonly seconds: number
  readonly steps: Readonly<Record<string, number>>
  readonly manifest: Manifest
}

async function runIngest(environment: Readonly<Record<string, string>>): Promise<Ingested> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--enable-source-maps', 'dist/ingest/main.js', 'ingest'], {
    env: { ...process.env, ...environment, UV_THREADPOOL_SIZE: '16' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error('the table was not published')
  const seconds = (performance.now() - began) / 1000
  const store = openStore(String(environment['WAREHOUSE']))
  const manifest = await publishedOf(store, table)
  if (manifest === null) throw new Error('nothing was published')
  const report = await store.get(`${layout.snapshot(table, manifest.snapshot)}/${fileNames.report}`)
  return { seconds, manifest, steps: reportShape.parse(JSON.parse(String(report))).seconds }
}

const megabytes = (files: readonly { readonly bytes: number }[]): string =>
  `${(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(0)} MB`

const megabytesOf = ({ manifest: { parts, codes, files, sources } }: Ingested): string =>
  `parts ${megabytes(parts)}, codes ${megabytes(codes ? [codes] : [])}, download ${megabytes(files)}, text ${megabytes(sources)}`

const stepsOf = ({ steps }: Ingested): string =>
  Object.entries(steps)
    .map(([step, seconds]) => `${step} ${seconds.toFixed(1)}`)
    .join(', ')

const bytesOf = (manifest: Manifest): string[] =>
  filesOf(manifest)
    // Without changes, which a first ingest lacks, and reports, which have times.
    .filter(({ file }) => file !== fileNames.report && file !== fileNames.changes(null))
    .map(({ file, sha256 }) => `${file} ${sha256}`)
    .toSorted()

const catalog = `title: Benchmark
description: A table that grows by months.
notice: Use this API sparingly.
limits: { rows: [{ requests: 10, per: 1m }], catalog: [{ requests: 10, per: 1m }] }
families: { v1: { prefix: /api/v1, scheme: http, trailing_slash: true } }
datasets:
  - slug: ${table.dataset}
    name: Benchmark
    description: A synthetic table.
    author: { name: Acervo, url: 'https://example.org/' }
    source: { name: Acervo, url: 'https://example.org/' }
    license: { name: CC0, url: 'https://creativecommons.org/publicdomain/zero/1.0/' }
    code_url: https://example.org/
    listed_in: [v1]
    links: []
    collected_at: 2026-01-01
    tables:
      - name: ${table.name}
        source: { files: '${table.dataset}/${table.name}/*.csv' }
        order: [month asc, city asc]
        partition: month
        filters: [month, state, city, role, office, paid_at]
        search: [name]
        fields:
          - { name: month, type: string }
          - { name: id, type: integer }
          - { name: name, type: string }
          - { name: state, type: string }
          - { name: city, type: string }
          - { name: role, type: string }
          - { name: office, type: string }
          - { name: gross, type: decimal, scale: 2 }
          - { name: net, type: decimal, scale: 2 }
          - { name: deduction, type: decimal, scale: 2 }
          - { name: paid_at, type: date }
`

async function writeMonths(
  sources: string,
  monthNumbers: readonly number[],
  version: number,
  scale: number,
): Promise<void> {
  const folder = path.join(sources, table.dataset, table.name)
  const database = await Database.open({
    memory: '1GB',
    threads: 2,
    scratch: path.join(folder, 'spill'),
    folders: [folder],
  })
  const db = await database.connect()
  try {
    for (const month of monthNumbers) {
      const file = path.join(folder, `${monthOf(month)}.csv`)
      await db.rows(
        `copy (${rowsSql(month, Math.round(rowsOfMonth * scale), version)}) to ${quotedText(file)} (header)`,
      )
    }
  } finally {
    db.close()
    database.close()
    await rm(path.join(folder, 'spill'), { recursive: true, force: true })
  }
}

const monthOf = (month: number): string =>
  `${2022 + Math.floor(month / 12)}-${String(1 + (month % 12)).padStart(2, '0')}`

const listSql = (texts: readonly string[]): string => `[${texts.map(quotedText).join(', ')}]`

/** SQL: a person's random number for a seed, at least 0 and below 1. */
const randomOfPerson = (seed: number): string => `(hash(person, ${seed}) >> 11)::double / ${2 ** 53}`

/** Returns SQL for the rows of a month: the same people every month, with other pay. */
function rowsSql(month: number, people: number, version: number): string {
  const randomOfMonth = (seed: number): string =>
    `(hash(person, ${seed}, ${month}, ${version}) >> 11)::double / ${2 ** 53}`
  const pickSql = (texts: readonly string[], seed: number, skew = 2): string =>
    `${listSql(texts)}[1 + floor(pow(${randomOfPerson(seed)}, ${skew}) * ${texts.length})::integer]`
  return `select ${quotedText(monthOf(month))} as month, person as id,
      concat_ws(' ', ${pickSql(firstNames, 1)}, ${pickSql(firstNames, 2, 1.5)}, ${pickSql(surnames, 3)}, ${pickSql(surnames, 4, 1.5)}) as name,
      state, concat(state, ' ', 1 + floor(pow(${randomOfPerson(6)}, 2) * 200)::integer) as city,
      concat('ROLE ', floor(pow(${randomOfPerson(7)}, 3) * 400)::integer) as role,
      concat('OFFICE OF THE STATE ', floor(pow(${randomOfPerson(8)}, 2) * 120)::integer) as office,
      gross, (gross - deduction)::decimal(12, 2) as net, deduction,
      (${quotedText(`${monthOf(month)}-01`)}::date + floor(${randomOfMonth(1)} * 28)::integer)::date as paid_at
    from (select person, ${pickSql(states, 5)} as state, gross, (gross * ${randomOfMonth(2)} * 0.4)::decimal(12, 2) as deduction
      from (select person, (1000 + pow(${randomOfMonth(3)}, 4) * 40000)::decimal(12, 2) as gross
        from (select unnest(range(1, ${people + 1})) as person)))`
}
