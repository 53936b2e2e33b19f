import http, {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Source } from '../../../core/warehouse/manifest.ts'
import type { Store } from '../../../core/warehouse/stores/store.ts'
import type { IngestOptions } from '../../../ingest/run/options.ts'
import type { Progress } from '../../../ingest/base/progress.ts'
import { rejectLine } from '../../../ingest/base/rejects.ts'
import type { Outcome } from '../../../ingest/job/report.ts'
import { getPage, serve } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { endWithFile } from '../../support/each-file.ts'
import { until } from '../../support/until.ts'

/** Answers one request of the web. */
export type Act = (request: IncomingMessage, response: ServerResponse) => unknown

/** A local web server with scripted answers. */
export interface Web {
  /** In what tests write and compare it is `http://web`, since its port is known only when it runs. */
  readonly origin: string
  readonly port: number
  /** Requests so far, with their conditions: `/t.csv range: bytes=5-`. */
  readonly asked: readonly string[]
  readonly connections: () => number
  /** Scripts the answers of a path: one for each request in turn, the last for all further ones. */
  readonly at: (path: string, ...acts: readonly Act[]) => void
}

const conditions = ['if-none-match', 'if-modified-since', 'range', 'if-range'] as const

export async function startWeb(
  acts: Record<string, Act | readonly Act[]> = {},
  port = 0,
  host = '127.0.0.1',
) {
  const waiting = new Map<string, readonly Act[]>()
  const asked: string[] = []
  let connections = 0
  const answer: RequestListener = (request, response) => {
    const path = request.url ?? ''
    const asks = conditions.flatMap((name) => {
      const value = request.headers[name]
      return value === undefined ? [] : [`${name}: ${String(value)}`]
    })
    asked.push([path, ...asks].join(' '))
    const [act = status(404), ...others] = waiting.get(path) ?? []
    if (others.length > 0) waiting.set(path, others)
    act(request, response)
  }
  const server = http.createServer(answer).on('connection', () => (connections += 1))
  // Announced to clients, so that a client which does not close its connections ends a minute late.
  server.keepAliveTimeout = 60_000
  endWithFile(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  const web: Web = {
    origin: `http://127.0.0.1:${bound}`,
    port: bound,
    asked,
    connections: () => connections,
    at: (path, ...next) => waiting.set(path, next),
  }
  for (const [path, act] of Object.entries(acts)) web.at(path, ...[act].flat())
  return web
}

/** A file as a good server sends it: on conditions, and in part, where it is asked to. */
export function file(content: string | Uint8Array, headers: OutgoingHttpHeaders = {}): Act {
  const body = Buffer.from(content)
  const { etag, 'last-modified': modified } = headers
  return ({ headers: asked }, response) => {
    const isKnown =
      asked['if-none-match'] === undefined
        ? modified !== undefined && asked['if-modified-since'] === modified
        : asked['if-none-match'] === etag
    if (isKnown) return response.writeHead(304, headers).end()
    const from = Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? Number.NaN)
    const isSame = [undefined, etag, modified].includes(asked['if-range'] as string | undefined)
    if (Number.isNaN(from) || !isSame) {
      return response.writeHead(200, { 'content-length': body.length, ...headers }).end(body)
    }
    return rest(body, headers)({ headers: asked } as IncomingMessage, response)
  }
}

/** Sends the rest of a file under any condition, with only the given headers. */
export function rest(content: string | Uint8Array, headers: OutgoingHttpHeaders = {}): Act {
  const body = Buffer.from(content)
  return ({ headers: { range = '' } }, response) => {
    const from = Number(/\d+/.exec(range)?.[0])
    if (from >= body.length) return status(416, { 'content-range': `bytes */${body.length}` })(null, response)
    const part = body.subarray(from)
    const facts = {
      'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
      'content-length': part.length,
    }
    return response.writeHead(206, { ...facts, ...headers }).end(part)
  }
}

export function status(
  code: number,
  headers: OutgoingHttpHeaders = {},
  body: string | Uint8Array = '',
): (request: unknown, response: ServerResponse) => unknown {
  return (_request, response) => response.writeHead(code, headers).end(body)
}

/**
 * Sends the head, and the bytes before `end`, then cuts the line. By then the bytes are on disk, as far as the progress of
 * the shop tells.
 */
export function cut(content: string | Uint8Array, end: number, headers: OutgoingHttpHeaders = {}): Act {
  const body = Buffer.from(content)
  return async ({ headers: { range } }, response) => {
    const from = Number(/\d+/.exec(range ?? '')?.[0] ?? 0)
    const facts = {
      // Without a length the body is sent in chunks.
      ...(headers['transfer-encoding'] !== 'chunked' && { 'content-length': body.length - from }),
      ...(range !== undefined && { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }),
    }
    response.writeHead(range === undefined ? 200 : 206, { ...facts, ...headers })
    fetchedBytes = 0
    response.write(body.subarray(from, end))
    // A body without a length has no progress, and one that is not wanted is not read.
    await until(() => fetchedBytes >= end, cutMs).catch(() => undefined)
    response.destroy()
  }
}

const cutMs = 1000

/** Bytes on disk of the file that is fetched, by the progress of the last shop. */
let fetchedBytes = 0

/** Sends a few bytes at a time. */
export function slow(content: string, bytes: number, everyMs: number): Act {
  return async (_request, response) => {
    response.writeHead(200, { 'content-length': Buffer.byteLength(content) })
    for (let at = 0; at < content.length && !response.destroyed; at += bytes) {
      response.write(content.slice(at, at + bytes))
      await wait(everyMs)
    }
    response.end()
  }
}

/** A zip of one file, stored as it is. */
export function zipOf(name: string, content: string): Buffer {
  const [title, body] = [Buffer.from(name), Buffer.from(content)]
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(20, 0)
  facts.writeUInt32LE(crc32(body), 10)
  facts.writeUInt32LE(body.length, 14)
  facts.writeUInt32LE(body.length, 18)
  facts.writeUInt16LE(title.length, 22)
  const head = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, title, body])
  const entry = Buffer.concat([
    Buffer.from('PK\u0001\u0002'),
    Buffer.from([20, 0]),
    facts,
    Buffer.alloc(14),
    title,
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(head.length, 12)
  return Buffer.concat([head, entry, Buffer.from('PK\u0005\u0006'), end])
}

/** A workshop whose sources are on the web. */
export interface WebShop extends Workshop {
  /** Ingests once: `published`, or `failed: ` and why. */
  readonly run: (options?: Partial<IngestOptions>) => Promise<string>
  /** The steps and lines of progress so far. */
  readonly said: readonly string[]
  readonly rows: () => Promise<readonly unknown[][]>
  /** Returns the sources of the published snapshot. */
  readonly published: () => readonly Source[]
  readonly warnings: () => readonly string[]
}

/** @param source of the one table d/t of the fields a and b, in which `http://web` is the web */
export async function webShop(
  web: Web,
  source: object = {},
  files: Record<string, string> = {},
): Promise<WebShop> {
  const form = JSON.parse(JSON.stringify(source).replaceAll('http://web', web.origin)) as object
  const shop = await workshop(tinyCatalog({ fields: ['a:string', 'b:integer'], source: form }), files)
  const said: string[] = []
  const withoutPort = (text: string): string => text.replaceAll(web.origin, 'http://web')
  const progress: Progress = {
    step: (name) => said.push(name),
    advance: ({ bytes = 0 }) => (fetchedBytes = Math.max(fetchedBytes, bytes)),
    log: (line) => said.push(withoutPort(line)),
    end: () => {},
  }
  let last: Outcome | undefined
  return {
    ...shop,
    said,
    run: async (options) => {
      const sources = `${web.origin}/base`
      const [outcome] = await shop.ingest({ sources, retryMs: 1, progress: () => progress, ...options })
      await requireNoScratch(shop.store)
      if (outcome?.status !== 'failed') {
        last = outcome
        return outcome?.status ?? 'nothing'
      }
      const { message, rejects } = outcome.failure
      return withoutPort([`failed: ${message}`, ...rejects.map(rejectLine)].join('\n'))
    },
    rows: async () => {
      const { app, close } = await serve(shop)
      const page = await getPage(app, '/api/v1/dataset/d/t/data/?page_size=10000')
      await close()
      return page.results.map((row) => Object.values(row))
    },
    warnings: () => (last?.status === 'published' ? last.report.warnings : []),
    published: () => {
      if (last?.status !== 'published' && last?.status !== 'unchanged')
        throw new Error('nothing is published')
      return last.manifest.sources.map((noted) =>
        noted.address === undefined ? noted : { ...noted, address: withoutPort(noted.address) },
      )
    },
  }
}

/** Fetched files must not remain after any end of a run. */
async function requireNoScratch({ scratchFolder: scratch }: Store): Promise<void> {
  const left = existsSync(scratch) ? await readdir(scratch) : []
  if (left.length > 0) throw new Error(`left behind in ${scratch}: ${left.join(', ')}`)
}
