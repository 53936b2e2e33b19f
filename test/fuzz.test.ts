import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as waited } from 'node:timers/promises'
import { operators } from '../server/query/operators.ts'
import { parameterRows } from '../server/query/query.ts'
import { numbered, oneTable } from './support/one-table.ts'
import { startServer, type ServerProgram } from './support/programs.ts'
import { randomFrom } from './evaluator/random-queries.ts'
import { runsOf, seed } from './support/runs.ts'

/**
 * Requests of every kind against the program itself: made from the addresses and parameters that its own reference
 * names, and bytes that are no requests at all. REQUESTS says how many.
 */

const requests = runsOf('REQUESTS')
const atOnce = 24
/** Host in requests that no answer may contain. */
const foreign = 'foreign-host.example'

const random = randomFrom(seed)
const upTo = (most: number): number => Math.floor(random() * most)
const pick = <T>(items: readonly T[]): T => items[upTo(items.length)] as T

let server: ServerProgram
let home: string
let paths: string[]
beforeAll(async () => {
  const source = numbered(5000, 'n,city,day,value', (n) => [
    `city ${n % 40}`,
    `2020-01-${String(1 + (n % 28)).padStart(2, '0')}`,
    n / 8,
  ])
  const table = await oneTable(source, ['n:integer', 'city:string', 'day:date', 'value:float'])
  home = table.folder
  // Small, so that they are full long before the end.
  const caches = { CACHE_MB: '16' }
  server = await startServer({ ...table.settings, ...caches, LOG_LEVEL: 'info' })
  const reference = await fetch(`http://127.0.0.1:${server.port}/api/v1/openapi.json`)
  const document = (await reference.json()) as { paths: Record<string, unknown> }
  const pages = [
    '/',
    '/en/',
    '/pt/dataset/{dataset}/',
    '/en/dataset/{dataset}/{table}/',
    '/en/dataset/{dataset}/{table}/chart/',
    '/en/dataset/{dataset}/{table}/row/1/',
    '/en/dataset/{dataset}/{table}/sql/',
    '/en/limits/',
    '/metrics',
  ]
  paths = [...Object.keys(document.paths), '/api/dataset/{dataset}/{table}/data', ...pages]
}, 60_000)

const junk = [
  '',
  ' ',
  '%',
  '%00',
  '%2f',
  '..',
  '../../etc/passwd',
  "'",
  '"',
  ';',
  '--',
  '\u{1F40D}',
  'null',
  '-1',
  '0',
  '1e9',
  '٣',
  'a'.repeat(300),
  '{{7*7}}',
  '<script>',
  '$1',
  '\\',
  'x\u0000y',
  '%F0%9F',
  '[]',
  '%C0%AF',
]
const knownNames = [
  'd',
  't',
  'n',
  'city',
  'current',
  'json',
  'csv',
  'arrow',
  'ndjson',
  '1',
  '2',
  'city 7',
  '2020-01-05',
  '3.5',
  'true',
  '-n',
  'n,city',
  'last',
]

function segment(): string {
  return random() < 0.6 ? pick(['d', 't']) : encodeURIComponent(pick([...knownNames, ...junk]))
}

function address(): string {
  const filled = pick(paths).replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    name === 'dataset' && random() < 0.8 ? 'd' : name === 'table' && random() < 0.8 ? 't' : segment(),
  )
  if (random() < 0.05) return `${filled}${pick(junk).replaceAll(/[^!-~]/g, '')}`
  if (random() < 0.05) return filled.replace(/^\//, '//')
  return filled
}

function value(): string {
  const text = pick([...knownNames, ...junk])
  return random() < 0.9 ? encodeURIComponent(text) : text.replaceAll(/[^!-~]/g, '')
}

function query(): string {
  const count = random() < 0.4 ? 0 : 1 + upTo(random() < 0.02 ? 60 : 4)
  const fields = ['n', 'city', 'day', 'value', 'nothing', '__proto__', 'constructor']
  const names = [
    ...Object.keys(parameterRows),
    ...fields,
    ...fields.map((field) => `${field}__${pick(Object.keys(operators))}`),
    ...junk,
  ]
  const pairs = Array.from({ length: count }, () => `${encodeURIComponent(pick(names))}=${value()}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function headers(): Record<string, string> {
  const headerList: [string, string][] = [
    ['Host', random() < 0.3 ? foreign : 'localhost'],
    ['X-Forwarded-Host', foreign],
    ['Forwarded', `host=${foreign}`],
    ['X-Forwarded-For', pick(['192.0.2.1', 'junk', `${foreign}, ::1`])],
    [
      'Accept',
      pick(['*/*', 'text/html', 'text/csv', 'application/json;q=0', 'image/png', ',;', 'a'.repeat(500)]),
    ],
    ['Accept-Encoding', pick(['gzip', 'br', 'zstd', 'identity;q=0', '*;q=0', 'gzip;q=2,,'])],
    ['Accept-Language', pick(['en', 'pt-BR', '*', ';;', 'x'.repeat(200)])],
    ['If-None-Match', pick(['*', '"x"', 'W/"y"', '"', 'x,,"'])],
    ['If-Range', pick(['"x"', 'Sat, 01 Jan 2022 00:00:00 GMT'])],
    ['Range', pick(['bytes=0-', 'bytes=-1', 'bytes=9999999999-', 'bytes=0-1,3-4', 'lines=1', 'bytes=5-1'])],
    ['Expect', '100-continue'],
    ['Connection', pick(['keep-alive', 'close', 'upgrade'])],
    ['Origin', `http://${foreign}`],
  ]
  return Object.fromEntries(headerList.filter(([name]) => name === 'Host' || random() < 0.25))
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function ask(agent: http.Agent): Promise<[asked: string, answer: Answer]> {
  const method =
    random() < 0.85 ? 'GET' : pick(['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE', 'PATCH'])
  const target = address() + query()
  const asked = `${method} ${target}`
  const request = http.request({
    host: '127.0.0.1',
    port: server.port,
    agent,
    method,
    path: target,
    headers: headers(),
  })
  if (method === 'POST' && random() < 0.5) request.write(pick(['{}', '{"id":1}', '[', 'x'.repeat(2000)]))
  request.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) if (chunks.length < 50) chunks.push(chunk as Buffer)
  const headerLines = Object.entries(response.headers).map(([name, cell]) => `${name}: ${String(cell)}`)
  return [
    asked,
    {
      status: response.statusCode ?? 0,
      text: `${headerLines.join('\n')}\n\n${Buffer.concat(chunks).toString('latin1')}`,
    },
  ]
}

/** Bytes of our own, on a connection of their own; what comes back is read as it is. */
async function askRaw(): Promise<[asked: string, answer: Answer]> {
  const line = `${pick(['GET', 'get', 'G\u0000T', 'HEAD', 'CONNECT', '', 'GET '])} ${pick([address(), `http://${foreign}/api/v1/datasets/`, '*', '', '/\u0001'])} ${pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', '', 'HTTP/1.1 x'])}`
  const fields = pick([
    `Host: ${foreign}`,
    'Host: a\r\nHost: b',
    'Host : x',
    '',
    `Host: x\r\nX: ${'y'.repeat(upTo(40_000))}`,
    'Host: x\r\nContent-Length: -1',
    'Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked',
    'Host: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'Host: x\r\n\tfolded: y',
  ])
  const bytes =
    random() < 0.1
      ? String.fromCodePoint(...Array.from({ length: 200 }, () => upTo(256)))
      : `${line}\r\n${fields}\r\n\r\n`
  const socket = net.connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes, 'latin1')
  // We end incomplete requests.
  const timer = setTimeout(() => socket.destroy(), 150)
  await once(socket, 'close')
  clearTimeout(timer)
  const text = Buffer.concat(chunks).toString('latin1')
  return [bytes.slice(0, 200), { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }]
}

/** Returns a fault of an answer. */
function faultIn(asked: string, { status, text }: Answer): string | null {
  // HTTP/1.0 exports are refused by 505, since their end is not marked.
  if (status >= 500 && status !== 503 && !(status === 505 && asked.includes('HTTP/1.0')))
    return `status ${status}`
  if (text.toLowerCase().includes(foreign)) return 'a foreign host'
  if (/\n\s+at \S+ \(|\bat file:\/\/|node_modules|\.[jt]s:\d+:\d+/.test(text)) return 'a stack'
  if (text.includes(home) || text.includes(process.cwd())) return 'a path'
  const isProblem = text.includes('application/problem+json')
  if (isProblem && /read_parquet|\b(Binder|Parser|Conversion|Catalog|IO|Invalid Input) Error/.test(text))
    return 'words of DuckDB'
  return null
}

/** The least of some seconds without a request, since what one answer takes for a moment is no leak. */
async function quietMemoryOf(pid: number): Promise<number> {
  // Too few requests to show a leak.
  if (requests < 10_000) return 0
  const samples: number[] = []
  for (let sample = 0; sample < 8; sample += 1) {
    await waited(500)
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    samples.push(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000)
  }
  return Math.min(...samples)
}

test(`${requests} random requests are answered as documented`, async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce })
  const statuses = new Map<number, number>()
  const faults: string[] = []
  let [left, broken] = [requests, 0]
  const work = async (): Promise<void> => {
    while (left > 0 && faults.length < 20) {
      left -= 1
      try {
        const [asked, answer] = await (random() < 0.08 ? askRaw() : ask(agent))
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const fault = faultIn(asked, answer)
        if (fault !== null) faults.push(`${fault}: ${asked.slice(0, 300)} -> ${answer.text.slice(0, 600)}`)
      } catch (error) {
        // A body that nobody waits for ends the connection.
        if (!/ECONNRESET|EPIPE|socket hang up|aborted|Parse Error/.test(String(error)))
          faults.push(String(error))
        broken += 1
      }
    }
  }
  const workers = (count: number): Promise<unknown> => Promise.all(Array.from({ length: count }, work))
  const whole = left
  left = Math.floor(whole / 2)
  await workers(atOnce)
  const half = await quietMemoryOf(server.pid)
  left = Math.ceil(whole / 2)
  await workers(atOnce)
  const end = await quietMemoryOf(server.pid)
  agent.destroy()
  const statusCounts = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(
    `fuzz of seed ${seed}: ${statusCounts.join(', ')}; broken off: ${broken}; ${half.toFixed(0)} and ${end.toFixed(0)} MB`,
  )
  expect({ seed, faults }).toEqual({ seed, faults: [] })
  expect(statuses.get(200)).toBeGreaterThan(requests / 20)
  expect(broken).toBeLessThan(requests / 20)
  // A heap and an allocator move by some 40 of themselves.
  expect(end).toBeLessThan(half + 100)
  // It still answers.
  const { status } = await fetch(`http://127.0.0.1:${server.port}/api/v1/dataset/d/t/data/`)
  expect(status).toBe(200)
}, 3_600_000)
