import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { once } from 'node:events'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import type { Connection } from '../core/duckdb/connection.ts'
import { Database } from '../core/duckdb/database.ts'
import { layout } from '../core/warehouse/layout.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { quotedText } from '../core/sql.ts'
import { bareLine, type Bench, type Line } from './cases.ts'
import { startService, type Server } from './servers.ts'
import { median } from './median.ts'

export async function selections(bench: Bench): Promise<Line[]> {
  const scratch = await mkdtemp(path.join(bench.folder, 'selections-'))
  const database = await Database.open({
    memory: '1GB',
    threads: os.availableParallelism(),
    scratch,
    folders: [String(bench.environment['WAREHOUSE']), scratch],
  })
  const db = await database.connect()
  const service = await startService(bench.environment)
  try {
    return [...(await pages(bench, service, db)), ...(await exportsOf(bench, service, db, scratch))]
  } finally {
    await service.stop()
    db.close()
    database.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

const base = '/api/v1/dataset/bench'
const states = ['SP', 'RJ', 'MG', 'BA', 'PR', 'RS', 'PE']

function figure(title: string, ms: number, limit: number, detail: string): Line {
  return bareLine(title, 'ms', ms, null, ['<=', limit], detail)
}

interface Told {
  readonly ms: number
  readonly count: number
  readonly bytes: number
}

async function get({ port }: Server, target: string): Promise<Told> {
  const began = performance.now()
  const request = http.get({ host: '127.0.0.1', port, path: `${base}/${target}`, agent: false })
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  let bytes = 0
  answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(answer, 'end')
  if (answer.statusCode !== 200 || !answer.complete) throw new Error(`${target}: ${answer.statusCode ?? 0}`)
  return { ms: performance.now() - began, count: Number(answer.headers['acervo-count']), bytes }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** SQL of the current rows of a table of the benchmark. */
export async function tableSql({ environment }: Bench, name: string): Promise<string> {
  const store = openStore(String(environment['WAREHOUSE']))
  const table = { dataset: 'bench', name }
  const manifest = await publishedOf(store, table)
  if (manifest === null) throw new Error(`${name} is not published`)
  const folder = store.place(layout.snapshot(table, manifest.snapshot))
  return `read_parquet([${manifest.parts.map(({ file }) => quotedText(path.join(folder, file))).join(', ')}])`
}

async function pages(bench: Bench, service: Server, db: Connection): Promise<Line[]> {
  const large = await tableSql(bench, 'large')
  const people = await tableSql(bench, 'people')
  const rows = (await get(service, 'large/data/?page_size=1')).count
  // Warm-up: footers are read only once.
  await db.rows(`select count(*) from ${large} where state = $1`, ['AC'])
  await get(service, 'large/data/?state=AC&page_size=100')
  const cold: number[] = []
  for (let pagesLeft = 15; pagesLeft > 0; pagesLeft -= 1)
    cold.push(
      (await get(service, `large/data/?page_size=100&page=${randomInt(1, 1 + Math.floor(rows / 100))}`)).ms,
    )
  const [first, duckdb, deep, warm]: number[][] = [[], [], [], []]
  for (const state of states) {
    duckdb?.push(
      await timed(async () => {
        await db.rows(`select count(*) from ${large} where state = $1`, [state])
        await db.rows(`select * from ${large} where state = $1 limit 100`, [state])
      }),
    )
    const response = await get(service, `large/data/?state=${state}&page_size=100`)
    first?.push(response.ms)
    const last = Math.max(1, Math.floor(response.count / 100))
    deep?.push(
      (await get(service, `large/data/?state=${state}&page_size=100&page=${randomInt(1, 1 + last)}`)).ms,
    )
    warm?.push(
      (await get(service, `large/data/?state=${state}&page_size=100&page=${randomInt(1, 1 + last)}`)).ms,
    )
  }
  const unfiltered = median(cold)
  const cnpjs = await db.rows(`select cnpj from ${people} using sample 9 rows`)
  const [lookups, scanned]: number[][] = [[], []]
  await get(service, 'people/data/?cnpj=0')
  for (const [cnpj] of cnpjs) {
    lookups?.push((await get(service, `people/data/?cnpj=${String(cnpj)}&page_size=1`)).ms)
    scanned?.push(
      await timed(() => db.rows(`select * from ${people} where cnpj = $1 limit 1`, [String(cnpj)])),
    )
  }
  const words: number[] = []
  for (const word of ['maria', 'silva%20ana', 'padaria', 'jos%C3%A9%20souza'])
    words.push((await get(service, `people/data/?search=${word}&page_size=100`)).ms)
  const middle = Math.max(1, Math.floor(rows / 200))
  const order = 'large/data/?ordering=-order_for_place&page_size=100'
  const firstOrdered = (await get(service, order)).ms
  const deepOrdered = (await get(service, `${order}&page=${middle}`)).ms
  const nextOrdered = (await get(service, `${order}&page=${middle + 1 > rows / 100 ? 1 : middle + 1}`)).ms
  return [
    bareLine(
      'first page of a filter, to count(*) and page by DuckDB',
      'ms',
      median(first ?? []),
      median(duckdb ?? []),
      ['<=', 1.5],
      '',
    ),
    bareLine(
      'any page of a filter after it, to an unfiltered cold page',
      'ms',
      median([...(deep ?? []), ...(warm ?? [])]),
      unfiltered,
      ['<=', 1.5],
      '',
    ),
    bareLine(
      'a row by its cnpj, to an unfiltered cold page',
      'ms',
      median(lookups ?? []),
      unfiltered,
      ['<=', 3],
      `a scan by DuckDB takes ${median(scanned ?? []).toFixed(0)} ms`,
    ),
    figure('search of all rows, the slowest of four', Math.max(...words), 1000, ''),
    figure('first page in another order', firstOrdered, 1000, ''),
    figure(
      `page ${middle} in another order`,
      deepOrdered,
      10_000,
      `the next page ${nextOrdered.toFixed(0)} ms`,
    ),
  ]
}

async function exportsOf(bench: Bench, service: Server, db: Connection, scratch: string): Promise<Line[]> {
  const large = await tableSql(bench, 'large')
  const rows = (await get(service, 'large/data/?page_size=1')).count
  // Stays below the default limit of an export, a million rows.
  const exportRows = Math.min(990_000, Math.floor(rows / 2))
  const [[endDate] = []] = await db.rows(`select date from ${large} limit 1 offset ${exportRows}`)
  const lines: Line[] = []
  for (const [format, copyOptions] of [
    ['csv', 'format csv, header'],
    ['ndjson', 'format json'],
  ] as const) {
    const file = path.join(scratch, `copy.${format}`)
    const fromWhere = `from ${large} where date < ${quotedText(String(endDate))}`
    const duckdbMs = await timed(() =>
      db.rows(`copy (select * ${fromWhere}) to ${quotedText(file)} (${copyOptions})`),
    )
    const before = await service.usage()
    const result = await get(service, `large/export/?format=${format}&date__lt=${String(endDate)}`)
    const { rssMaxBytes } = await service.usage()
    const rssGrowthMb = (rssMaxBytes - before.rssBytes) / 1e6
    const detail = `${result.count.toLocaleString('en')} rows, ${(result.bytes / 1e6).toFixed(0)} MB, RSS grew ${rssGrowthMb.toFixed(0)} MB`
    lines.push(
      bareLine(`export as ${format}, to a COPY by DuckDB`, 'ms', result.ms, duckdbMs, ['<=', 2], detail),
    )
  }
  return lines
}
