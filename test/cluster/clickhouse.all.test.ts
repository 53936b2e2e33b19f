import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { ClickHouse } from '../../core/clickhouse/link.ts'
import { createStatements, dropStatements, quotedTable } from '../../core/clickhouse/tables.ts'
import { copySamples } from '../../ingest/sample/copy.ts'
import { parseRowQuery } from '../../server/query/query.ts'
import { startClickHouse } from '../components/clickhouse.ts'
import { hasClickHouse } from '../components/clickhouse-process.ts'
import { randomQuery, readRows, type Row } from '../evaluator/rows.ts'
import { hostileCsv, hostileTable } from '../evaluator/hostile-texts.ts'
import { compareOne, randomFrom } from '../evaluator/random-queries.ts'
import { runsOf, seed } from '../support/runs.ts'
import { getPage, rawGet, serve, type Service } from '../support/service.ts'
import { catalogAround, fieldOf, importDate, workshop, type Workshop } from '../support/workshop.ts'
import { clickHouse, describeWith } from '../support/needs.ts'

/** Which rows a query chooses, in which order and how many, as a ClickHouse says it, against DuckDB and a second reading. */

const describeWithClickHouse = describeWith(hasClickHouse, clickHouse)

/** The catalog with all of its tables given to ClickHouse. */
function given(catalog: Catalog): Catalog {
  const datasets = [...catalog.datasets].map(([slug, dataset]) => {
    const tables = [...dataset.tables].map(([name, table]): [string, Table] => [
      name,
      { ...table, engine: 'clickhouse' },
    ])
    return [slug, { ...dataset, tables: new Map(tables) }] as const
  })
  return { ...catalog, datasets: new Map(datasets) }
}

const asking = {
  client: 'reader',
  pageBytesMax: 1e8,
  signal: () => new AbortController().signal,
  pay: async () => undefined,
}

const cleanups: (() => void)[] = []
afterAll(() => {
  for (const cleanup of cleanups) cleanup()
})

let address: string
let link: ClickHouse
beforeAll(async () => {
  if (!hasClickHouse) return
  address = (await startClickHouse()).address
  const opened = await ClickHouse.open(address)
  if (opened === null) throw new Error('expected a ClickHouse')
  link = opened
}, 60_000)
afterAll(async () => {
  if (hasClickHouse) await link.close()
})

describeWithClickHouse('tables that are given to ClickHouse', () => {
  let sampled: Workshop
  let service: Service
  let plainService: Service

  beforeAll(async () => {
    const catalog = given(await loadCatalog('catalog.yaml'))
    sampled = await workshop(catalog)
    await copySamples(sampled.sources, allTables(catalog))
    const outcomes = await sampled.ingest({ partRows: 128, codedDistinctMax: 40, clickHouse: link })
    if (outcomes.some(({ status }) => status !== 'published'))
      throw new Error(JSON.stringify(outcomes.map(({ status }) => status)))
    service = await serve(sampled, { clickHouse: link })
    plainService = await serve(sampled, {})
  }, 240_000)

  test('answer random queries with the same bytes as DuckDB, and with the rows of an independent evaluator', async () => {
    const random = randomFrom(seed)
    const tables = allTables(sampled.catalog)
    const sources = new Map<Table, readonly Row[]>()
    for (const table of tables)
      sources.set(table, await readRows(path.join(sampled.sources, `${tableId(table)}.csv`), table))
    const differences: string[] = []
    for (let ask = 0; ask < runsOf('CLICKHOUSE_QUERIES'); ask += 1) {
      const table = tables[ask % tables.length]
      const rows = table === undefined ? undefined : sources.get(table)
      if (table === undefined || rows === undefined) continue
      if (ask % 10 === 0) {
        const difference = await compareOne(service, table, rows, random)
        if (difference !== null) differences.push(difference)
        continue
      }
      const { query } = randomQuery(random, table, rows)
      const asked = `/api/v1/dataset/${tableId(table)}/data/?${query.toString()}`
      const first = await rawGet(service.app, asked)
      const two = await rawGet(plainService.app, asked)
      const counts = [first, two].map(({ headers }) => headers['acervo-count'])
      const isSame = first.status === two.status && first.body.equals(two.body) && counts[0] === counts[1]
      if (!isSame) differences.push(asked)
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  }, 3_600_000)

  test('are filtered and ordered by ClickHouse, not by DuckDB', async () => {
    const table = allTables(sampled.catalog).find(({ name }) => name === 'caso_full')
    if (table === undefined) throw new Error('expected caso_full')
    const snapshot = service.snapshots.current(table)
    if (snapshot === null) throw new Error('expected a snapshot')
    const before = service.scans.statements
    const filter = parseRowQuery(table, '?city__contains=a&state=SP&ordering=-date', ['page'])
    const selection = await service.engine.selections.find({ snapshot, filter, requester: asking })
    await selection.slice(0, 10, asking)
    expect(service.scans.statements).toBe(before)
  })
})

describeWithClickHouse('hostile texts', () => {
  test('are found in ClickHouse exactly as an independent evaluator finds them', async () => {
    const catalog = given(catalogAround([{ name: 't', ...hostileTable }]))
    const shop = await workshop(catalog, { 'd/t.csv.gz': gzipSync(hostileCsv(randomFrom(seed), 600)) })
    await shop.ingest({ partRows: 64, clickHouse: link })
    const [table] = allTables(catalog)
    if (table === undefined) throw new Error('expected a table')
    const service = await serve(shop, { clickHouse: link })
    const rows = await readRows(path.join(shop.sources, 'd/t.csv.gz'), table)
    const random = randomFrom(seed)
    const differences: string[] = []
    for (let ask = 0; ask < Math.max(100, runsOf('CLICKHOUSE_QUERIES') / 5); ask += 1) {
      const difference = await compareOne(service, table, rows, random)
      if (difference !== null) differences.push(difference)
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  }, 3_600_000)
})

const small = {
  name: 't',
  order: ['n asc'],
  engine: 'clickhouse',
  filters: ['n', 'day', 'at', 'is', 'price'],
  orders: [['-price']],
  fields: ['n:integer', 'day:date', 'at:datetime', 'is:bool', 'price:decimal'].map(fieldOf),
}
const smallCsv =
  'n,day,at,is,price\n1,0001-01-01,1815-06-18 11:30:00.000001,true,1.50\n2,9999-12-31,,false,\n3,,2020-02-29 00:00:00,,-7.25\n'

describeWithClickHouse('a snapshot', () => {
  test('is filtered and ordered correctly by dates beyond the calendar of ClickHouse', async () => {
    const shop = await workshop(catalogAround([small]), { 'd/t.csv': smallCsv })
    await shop.ingest({ clickHouse: link })
    const { app } = await serve(shop, { clickHouse: link })
    const asked = async (ask: string): Promise<unknown[]> =>
      (await getPage(app, `/api/v1/dataset/d/t/data/?${ask}`)).results.map(({ n }) => n)
    expect(await asked('day__lt=1900-01-01')).toEqual([1])
    expect(await asked('day__gte=2300-01-01')).toEqual([2])
    expect(await asked('at__range=1815-06-18T11:30:00,1815-06-18T11:31:00')).toEqual([1])
    expect(await asked('is=false')).toEqual([2])
    expect(await asked('is__ne=false')).toEqual([1, 3])
    expect(await asked('ordering=-price')).toEqual([1, 3, 2])
    expect(await asked('ordering=-day')).toEqual([2, 1, 3])
    expect(await asked('price__lte=-7.250')).toEqual([3])
  })

  test('is dropped from ClickHouse once it is no longer retained, and so is the remainder of a killed job', async () => {
    const shop = await workshop(catalogAround([{ ...small, name: 'kept' }]), { 'd/kept.csv': smallCsv })
    const names = async (): Promise<string[]> =>
      (
        await link.rows(
          "select name from system.tables where database = currentDatabase() and name like 'd/kept/%' order by name",
        )
      ).flat()
    await link.command(
      'create table `d/kept/20200101T000000Z-0123456789ab` (row UInt32) engine = MergeTree order by row',
    )
    const ingest = async (day: number): Promise<void> => {
      const now = new Date(importDate.getTime() + day * 86_400_000)
      await shop.ingest({ clickHouse: link, now: () => now, retention: { count: 2, graceMs: 0 } })
    }
    await ingest(0)
    expect(await names()).toEqual([expect.stringMatching(/^d\/kept\/20260102T/)])
    for (const day of [1, 2, 3]) {
      await shop.write('d/kept.csv', `${smallCsv}${day + 10},,,,\n`)
      await ingest(day)
    }
    const kept = await names()
    const there = (await shop.store.list('d/kept'))
      .filter((name) => /^\d{8}T/.test(name))
      .map((name) => `d/kept/${name}`)
    expect(kept).toEqual(there.toSorted())
    expect(kept.length).toBeLessThan(4)
  })

  test('is read by DuckDB if its table is missing in ClickHouse, but not while ClickHouse is unavailable', async () => {
    const shop = await workshop(catalogAround([{ ...small, name: 'gone' }]), { 'd/gone.csv': smallCsv })
    const [outcome] = await shop.ingest({ clickHouse: link })
    if (outcome?.status === 'failed') throw outcome.failure
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    const { app } = await serve(shop, { clickHouse: link })
    const rowsOf = async (ask: string): Promise<unknown[]> =>
      (await getPage(app, `/api/v1/dataset/d/gone/data/${ask}`)).results.map(({ n }) => n)
    for (const statement of dropStatements(`d/gone/${outcome.manifest.snapshot}`, null))
      await link.command(statement)
    expect((await getPage(app, '/api/v1/dataset/d/gone/data/?is=true')).count).toBe(1)
    const statements = jest.spyOn(link, 'numbers')
    expect((await getPage(app, '/api/v1/dataset/d/gone/data/?is=false')).count).toBe(1)
    expect(statements).toHaveBeenCalledTimes(1)
    // A job that finds nothing new brings it back, and what was half loaded is no table of it.
    for (const statement of createStatements(outcome.table, `d/gone/${outcome.manifest.snapshot}`, null))
      await link.command(statement)
    expect(await rowsOf('?is=false&ordering=-n')).toEqual([2])
    expect(await shop.ingest({ clickHouse: link })).toMatchObject([{ status: 'unchanged' }])
    expect(await rowsOf('?ordering=-n&is__ne=false')).toEqual([3, 1])
    // And so where rows of it are lost.
    await link.command(`truncate table ${quotedTable(`d/gone/${outcome.manifest.snapshot}`)}`)
    expect(await rowsOf('?n__lt=3')).toEqual([])
    await shop.ingest({ clickHouse: link })
    expect(await rowsOf('?n__lt=2')).toEqual([1])
    const names = await link.rows(
      "select name from system.tables where database = currentDatabase() and startsWith(name, 'd/gone/')",
    )
    expect(names).toEqual([[`d/gone/${outcome.manifest.snapshot}`]])
    const away = await ClickHouse.open('http://127.0.0.1:1/acervo')
    if (away === null) throw new Error('expected a link')
    const { app: without } = await serve(shop, { clickHouse: away })
    const refused = await rawGet(without, '/api/v1/dataset/d/gone/data/?is=true')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.any(String)])
    // All rows as they lie are asked of nobody.
    expect((await getPage(without, '/api/v1/dataset/d/gone/data/')).count).toBe(3)
    await away.close()
  })
})

describeWithClickHouse('a ClickHouse that hangs', () => {
  test('keeps no request waiting, and answers once it resumes', async () => {
    const hungServer = await startClickHouse()
    const hanging = await ClickHouse.open(hungServer.address)
    if (hanging === null) throw new Error('expected a link')
    const shop = await workshop(catalogAround([{ ...small, name: 'hung' }]), { 'd/hung.csv': smallCsv })
    await shop.ingest({ clickHouse: hanging })
    const { app } = await serve(shop, { clickHouse: hanging, queryTimeoutMs: 500 })
    process.kill(hungServer.pid, 'SIGSTOP')
    const refused = await rawGet(app, '/api/v1/dataset/d/hung/data/?is=true')
    process.kill(hungServer.pid, 'SIGCONT')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.any(String)])
    expect((await getPage(app, '/api/v1/dataset/d/hung/data/?is=true')).count).toBe(1)
    await hanging.close()
  })
})

describeWithClickHouse('paging through a result', () => {
  const rows = 140_000
  const numbers = Array.from({ length: rows }, (_, n) => `${n},${(n * 7919) % 140_009},,,\n`).join('')
  const table = {
    ...small,
    name: 'long',
    filters: ['n', 'price', 'is'],
    fields: ['n:integer', 'price:decimal', 'day:date', 'at:datetime', 'is:bool'].map(fieldOf),
  }

  test('requests many row positions at once from ClickHouse, and serves pages from them', async () => {
    const shop = await workshop(catalogAround([table]), { 'd/long.csv': `n,price,day,at,is\n${numbers}` })
    await shop.ingest({ clickHouse: link })
    const [withLink, withoutLink] = [await serve(shop, { clickHouse: link }), await serve(shop, {})]
    const [long] = allTables(shop.catalog)
    if (long === undefined) throw new Error('expected a table')
    const filter = parseRowQuery(long, '?n__gte=10&ordering=-price', ['page'])
    const statements = jest.spyOn(link, 'numbers')
    const slices = await Promise.all(
      [withLink, withoutLink].map(async ({ engine, snapshots }) => {
        const snapshot = snapshots.current(long)
        if (snapshot === null) throw new Error('expected a snapshot')
        const selection = await engine.selections.find({ snapshot, filter, requester: asking })
        const positions: number[][] = []
        for (const [first, size] of [
          [0, 20],
          [4090, 20],
          [65_530, 20],
          [65_500, 70_000],
          [139_980, 20],
          [139_990, 1],
          [200_000, 5],
          [0, rows],
        ] as const)
          positions.push(Array.from(await selection.slice(first, size, asking)))
        return positions
      }),
    )
    expect(slices[0]).toEqual(slices[1])
    // Each position once, and how many there are.
    expect(statements).toHaveBeenCalledTimes(Math.ceil((rows - 10) / 65_536) + 2)
  }, 120_000)
})

/** Answers each ask alike, as no ClickHouse can be brought to. */
async function answering(answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/acervo`
}

const said =
  (code: number): http.RequestListener =>
  (_, response) => {
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': code })
    response.end(`Code: ${code}. DB::Exception: No. (SOME_ERROR) (version 26.7)`)
  }

describeWithClickHouse('a fault of ClickHouse fails the request, or has DuckDB answer it', () => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await workshop(catalogAround([{ ...small, name: 'ill' }]), { 'd/ill.csv': smallCsv })
    await shop.ingest({ clickHouse: link })
  })
  test.each<[title: string, answer: http.RequestListener, status: number]>([
    ['too many simultaneous queries', said(202), 503],
    ['a server of the cluster hangs', said(209), 503],
    ['a server of the cluster has gone', said(210), 503],
    ['no server of a shard can be reached', said(279), 503],
    ['nothing after the beginning of an answer', (_, response) => response.writeHead(200).write('x'), 503],
    ['a timeout', said(159), 503],
    ['more rows than it may read', said(158), 422],
    ['a missing table', said(60), 200],
    ['a missing column', said(47), 200],
  ])('%s', async (_what, answer, status) => {
    const away = await ClickHouse.open(await answering(answer))
    if (away === null) throw new Error('expected a link')
    const { app } = await serve(shop, { clickHouse: away, queryTimeoutMs: 300 })
    const answered = await rawGet(app, '/api/v1/dataset/d/ill/data/?is=true')
    expect(answered.status).toBe(status)
    expect(answered.headers['retry-after'] !== undefined).toBe(status === 503)
    await away.close()
  })
})

test('a table that needs ClickHouse is not published if none is configured', async () => {
  const shop = await workshop(catalogAround([small]), { 'd/t.csv': smallCsv })
  expect(await shop.ingest()).toMatchObject([
    { status: 'failed', failure: { message: expect.stringContaining('CLICKHOUSE_URL is not set') } },
  ])
})

test('in a cluster, tables are replicated, distributed by position, and read under one name', () => {
  const [table] = allTables(catalogAround([small]))
  if (table === undefined) throw new Error('expected a table')
  const [local = '', spread = ''] = createStatements(table, "d/t/it's", 'main')
  expect(local).toContain("create table `d/t/it's/local` on cluster `main` (row UInt32, f0 Nullable(Int64)")
  expect(local).toContain(
    "ReplicatedMergeTree('/clickhouse/tables/{shard}/d/t/it\\'s', '{replica}') order by row",
  )
  expect(spread).toContain("Distributed('main', currentDatabase(), 'd/t/it\\'s/local', intDiv(row, 1000000))")
  expect(dropStatements('d/t/x', 'main')).toEqual([
    'drop table if exists `d/t/x` on cluster `main` sync',
    'drop table if exists `d/t/x/loading` on cluster `main` sync',
    'drop table if exists `d/t/x/local` on cluster `main` sync',
  ])
})
