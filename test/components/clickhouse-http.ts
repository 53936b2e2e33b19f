import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'

/*
 * The HTTP interface of ClickHouse, as far as its own client asks it, before the engine itself (chdb is ClickHouse in a process):
 * statements with parameters and settings, and Parquet that is sent. One statement at a time.
 *
 *   node clickhouse-http.js CHDB PORT FOLDER
 */

/** The used part of chdb, which `npm install` does not fetch, since it is half a gigabyte. */
interface Chdb {
  readonly Session: new (folder: string) => {
    queryBindAsync(
      sql: string,
      values: Readonly<Record<string, string>>,
      options: { readonly format: string },
    ): Promise<{ bytes(): Uint8Array }>
  }
}

const [chdb = '', port = '', folder = ''] = process.argv.slice(2)
const { Session } = createRequire(import.meta.url)(chdb) as Chdb
await mkdir(folder, { recursive: true })
const session = new Session(path.join(folder, 'data'))
await asked('create database if not exists acervo')
await asked('use acervo')

async function asked(
  sql: string,
  values: Readonly<Record<string, string>> = {},
  format = 'TabSeparated',
): Promise<Uint8Array> {
  return (await session.queryBindAsync(sql, values, { format })).bytes()
}

const parameter = 'param_'
/** Parameters of HTTP that are no settings of the engine. */
const ofHttp = new Set([
  'query',
  'query_id',
  'database',
  'wait_end_of_query',
  'cancel_http_readonly_queries_on_client_close',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
])
const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' }
/** Values come as a cell of TabSeparated is written. */
const unescaped = (text: string): string => text.replaceAll(/\\(.)/gs, (_, of: string) => escapes[of] ?? of)

let files = 0

async function answer(request: IncomingMessage): Promise<Uint8Array> {
  const options = new URL(request.url ?? '/', 'http://localhost').searchParams
  const body = await buffer(request)
  if (request.method === 'GET') return Buffer.from('Ok.\n')
  const statement = options.get('query') ?? body.toString()
  const insert = /^\s*insert\s+into\s+(`(?:[^`\\]|\\.)*`)\s*\((.+)\)\s+format\s+Parquet\s*$/is.exec(statement)
  if (insert !== null) {
    const [, table = '', columns = ''] = insert
    const file = path.join(folder, `${(files += 1)}.parquet`)
    await writeFile(file, body)
    await asked(`insert into ${table} (${columns}) select ${columns} from file('${file}', Parquet)`)
    await rm(file)
    return Buffer.alloc(0)
  }
  const [, text = statement, format] = /^(.*)\s+format\s+(\w+)\s*$/is.exec(statement) ?? []
  const entries = [...options]
  const settings = entries.filter(([name]) => !ofHttp.has(name) && !name.startsWith(parameter))
  const isRead = /^\s*select/i.test(text) && settings.length > 0
  const set = isRead ? ` settings ${settings.map(([name, value]) => `${name} = '${value}'`).join(', ')}` : ''
  const values = entries
    .filter(([name]) => name.startsWith(parameter))
    .map(([name, value]) => [name.slice(parameter.length), unescaped(value)] as const)
  return asked(text + set, Object.fromEntries(values), format)
}

createServer((request, response) => {
  answer(request).then(
    (bytes) => response.end(bytes),
    (error: unknown) => {
      // Sends the engine's error in the form of ClickHouse.
      const text = String(error)
      const [, code = '1'] = /Code: (\d+)/.exec(text) ?? []
      response.writeHead(500, { 'X-ClickHouse-Exception-Code': code }).end(text)
    },
  )
}).listen(Number(port), '127.0.0.1')
