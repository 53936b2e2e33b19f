import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { tableFromIPC, Type, type Data } from 'apache-arrow'
import { allTables, type Table } from '../../../core/catalog/catalog.ts'
import { randomQuery, readRows, type Row } from '../../evaluator/rows.ts'
import { hostileCsv, hostileTable } from '../../evaluator/hostile-texts.ts'
import { startServer, type ServerProgram } from '../../support/programs.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { runsOf, seed } from '../../support/runs.ts'
import { catalogAround, catalogText, workshop } from '../../support/workshop.ts'
import { gzipSync } from 'node:zlib'

/** Equal names mean equal bytes, for any process and any earlier content of its memory. */

const queries = runsOf('ARROW_QUERIES')
const random = randomFrom(seed)

let servers: readonly ServerProgram[]
let table: Table
let rows: readonly Row[]
beforeAll(async () => {
  const tables = [{ name: 't', ...hostileTable, search: [] }]
  const shop = await workshop(catalogAround(tables), { 'd/t.csv.gz': gzipSync(hostileCsv(random, 3000)) })
  const [outcome] = await shop.ingest({ partRows: 512 })
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  const catalog = path.join(shop.sources, 'catalog.json')
  await writeFile(catalog, catalogText(tables))
  const settings = {
    CATALOG: catalog,
    WAREHOUSE: shop.warehouse,
    CACHE_MB: '0',
    PUBLIC_URL: 'http://localhost:8000',
  }
  servers = [await startServer(settings), await startServer(settings)]
  const [first] = allTables(shop.catalog)
  if (first === undefined) throw new Error('no table')
  table = first
  rows = await readRows(path.join(shop.sources, 'd/t.csv.gz'), table)
}, 120_000)

interface Got {
  readonly status: number
  readonly tag: string | null
  readonly bytes: Buffer
}

async function get({ port }: ServerProgram, target: string): Promise<Got> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/dataset/d/t/${target}`)
  // A broken transfer is no answer.
  const bytes = await response.arrayBuffer().catch(() => null)
  const tag = response.headers.get('etag')
  return { status: bytes === null ? 0 : response.status, tag, bytes: Buffer.from(bytes ?? new ArrayBuffer()) }
}

/** Returns bytes other than zero under nulls, and after the last value. */
function strayBytes(data: Data): string[] {
  const { length, nullCount, nullBitmap, children, dictionary } = data
  const [values, offsets] = [data.values, data.valueOffsets] as [NodeJS.TypedArray?, Int32Array?]
  const isNull = (index: number): boolean =>
    index >= length || (nullCount > 0 && ((nullBitmap[index >> 3] ?? 0) & (1 << (index & 7))) === 0)
  const stray = (index: number): string[] => (isNull(index) ? [`type ${data.typeId} at ${index}`] : [])
  const texts: string[] = []
  if (offsets !== undefined) {
    for (let index = 0; index < length; index += 1)
      if (offsets[index] !== offsets[index + 1]) texts.push(...stray(index))
  } else if (values !== undefined && data.typeId === Type.Bool) {
    for (let index = 0; index < values.length * 8; index += 1)
      if ((Number(values[index >> 3]) & (1 << (index & 7))) !== 0) texts.push(...stray(index))
  } else if (values !== undefined && length > 0) {
    const width = Math.round(values.length / length)
    for (let at = 0; at < values.length; at += 1)
      if (Number(values[at]) !== 0) texts.push(...stray(Math.floor(at / width)))
  }
  const below = [...children, ...((dictionary?.data ?? []) as Data[])]
  return [...texts, ...below.flatMap((child) => strayBytes(child))]
}

test('two processes send the same bytes of Arrow, with zeros in the place of every null', async () => {
  const faults: string[] = []
  for (let ask = 0; ask < queries; ask += 1) {
    const { query } = randomQuery(random, table, rows)
    const isExport = ask % 3 === 0
    query.set('format', 'arrow')
    if (!isExport) query.set('page_size', String(1 + Math.floor(random() * 700)))
    const target = `${isExport ? 'export' : 'data'}/?${query.toString()}`
    // Others' queries lie in the memory of one of the two.
    const others = Array.from({ length: 3 }, () => randomQuery(random, table, rows).query.toString())
    await Promise.all(
      servers
        .slice(1)
        .flatMap((server) => others.map((furtherQuery) => get(server, `data/?${furtherQuery}`))),
    )
    const [first, two] = await Promise.all(servers.map((server) => get(server, target)))
    if (first === undefined || two === undefined) throw new Error('two servers')
    if (first.status !== 200 || two.status !== 200) faults.push(`${target}: ${first.status} ${two.status}`)
    else if (first.tag !== two.tag || !first.bytes.equals(two.bytes))
      faults.push(`${target}: not the same bytes`)
    else {
      const stray = tableFromIPC(first.bytes).batches.flatMap(({ data }) => strayBytes(data))
      if (stray.length > 0) faults.push(`${target}: ${stray.slice(0, 3).join()}`)
    }
  }
  expect({ seed, faults: faults.slice(0, 5) }).toEqual({ seed, faults: [] })
}, 3_600_000)
