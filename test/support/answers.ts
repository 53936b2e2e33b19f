import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsTo from 'ajv-formats'
import { allTables, type Catalog, type Family } from '../../core/catalog/catalog.ts'
import { openApi, tableOpenApi } from '../../server/documents/openapi/openapi.ts'
import { commonSchemas } from '../../server/documents/openapi/schemas.ts'
import type { Json } from '../../server/documents/description.ts'
import { firstMember } from './gzip.ts'
import { addressesOf } from '../../server/http/addresses.ts'
import { describeTable, writingOf } from '../../server/routes/documents/service.ts'
import type { Snapshots } from '../../server/snapshots/snapshots.ts'

/** Fields of the widest tables whose answers are checked. */
const fieldsMax = 1000

/**
 * Every answer of every test is held against the OpenAPI document of the service that gave it: its status, media type,
 * headers and JSON. What that does not know turns the test red in which it was answered.
 */
export class AnswerChecks {
  readonly #faults: string[] = []
  readonly #pending = new Set<Promise<void>>()

  /** The same app, whose answers are looked at as they leave. */
  around(app: RequestListener, served: Served): RequestListener {
    // The compiler of schemas calls itself for each property.
    if (allTables(served.catalog).some(({ fields }) => fields.length > fieldsMax)) return app
    const references = new References(served)
    return (req, res) => {
      const chunks = taken(res)
      res.once('finish', () => {
        const check = this.#check(references, answered(req, res, chunks)).finally(() =>
          this.#pending.delete(check),
        )
        this.#pending.add(check)
      })
      app(req, res)
    }
  }

  /** @returns what no document knows, since it was last asked */
  async faults(): Promise<string[]> {
    await Promise.all(this.#pending)
    return this.#faults.splice(0)
  }

  async #check(references: References, answer: Answer): Promise<void> {
    try {
      const faults = [
        ...(await references.faultsOf(answer)),
        ...gzipFaults(answer),
        ...redirectFaults(answer),
      ]
      const where = `${answer.method} ${answer.target.slice(0, 200)} -> ${answer.status}`
      this.#faults.push(...faults.map((fault) => `${where}: ${fault}`))
    } catch (error) {
      this.#faults.push(`${answer.target} cannot be checked: ${String(error)}`)
    }
  }
}

export interface Served {
  readonly catalog: Catalog
  readonly snapshots: Snapshots
  readonly publicUrl: URL
}

interface Answer {
  readonly method: string
  readonly target: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

/** In bytes; the rest of longer ones is like their beginning. */
const bodyMax = 3_000_000

/** Collects the bytes written into a response. */
function taken(res: ServerResponse): Buffer[] {
  const chunks: Buffer[] = []
  let bytes = 0
  const take = (chunk: unknown): void => {
    if ((typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) || bytes > bodyMax) return
    const buffer = Buffer.from(chunk as string)
    bytes += buffer.length
    chunks.push(buffer)
  }
  const [write, end] = [res.write.bind(res), res.end.bind(res)] as ((...values: unknown[]) => never)[]
  Object.assign(res, {
    write: (...values: unknown[]) => {
      take(values[0])
      return write?.(...values)
    },
    end: (...values: unknown[]) => {
      take(values[0])
      return end?.(...values)
    },
  })
  return chunks
}

function answered(req: IncomingMessage, res: ServerResponse, chunks: readonly Buffer[]): Answer {
  return {
    method: req.method ?? '',
    // Express takes the mounted part away.
    target: (req as { originalUrl?: string }).originalUrl ?? req.url ?? '',
    status: res.statusCode,
    headers: { ...res.getHeaders() },
    body: Buffer.concat(chunks),
  }
}

/** Headers that any response may have, and headers that protect browsers. */
const anyHeaders = new Set(
  [
    'Accept-Ranges Access-Control-Allow-Headers Access-Control-Allow-Methods Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers Access-Control-Max-Age Allow Connection Content-Encoding Content-Language Content-Length',
    'Content-Range Content-Security-Policy Content-Type Cross-Origin-Embedder-Policy Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy Date Keep-Alive',
    'Origin-Agent-Cluster Permissions-Policy Referrer-Policy Strict-Transport-Security Trailer Transfer-Encoding Vary X-Content-Type-Options',
  ]
    .join(' ')
    .toLowerCase()
    .split(' '),
)

interface Document {
  /** Unique in the validator. */
  readonly id: string
  readonly paths: Readonly<Record<string, Json>>
  /** By what they are called. */
  readonly checks: Map<string, ValidateFunction>
  readonly root: Json
}

/** The documents of a service, made when an answer is to be held against them, and anew when snapshots have changed. */
class References {
  readonly #served: Served
  #version = -1
  #documents = new Map<string, Promise<Document>>()

  constructor(served: Served) {
    this.#served = served
  }

  async faultsOf(answer: Answer): Promise<string[]> {
    const { publicUrl } = this.#served
    const { pathname } = new URL(answer.target, 'http://test.invalid')
    const path = decodedPath(pathname)
    if (path === null) return []
    const document = await this.#documentFor(path)
    const [described, item] = itemAt(document, path)
    if (item === undefined) return unknownFaults(document, answer, publicUrl)
    if (answer.method === 'OPTIONS' && answer.status === 200 && mediaTypeOf(answer) === 'application/json')
      return bodyFaults(document, 'Options', answer, commonSchemas['Options'])
    const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase()
    const operation = item[method] as Json | undefined
    // A request may be refused for more than its method.
    const isRefused = [400, 405, 414, 429].includes(answer.status)
    if (operation === undefined) return isRefused ? [] : [`${answer.method} is not described`]
    return answerFaults(document, described, operation, answer)
  }

  /** Returns the document of the table in a path, or else that of the service without its tables. */
  async #documentFor(path: string): Promise<Document> {
    const { catalog, snapshots, publicUrl } = this.#served
    if (snapshots.version !== this.#version) this.#documents = new Map()
    this.#version = snapshots.version
    const writing = writingOf(catalog, publicUrl)
    const family = familyOf(catalog, path)
    const options = (item: Family) => ({
      addresses: addressesOf(item, publicUrl),
      tableDocument: () => '',
    })
    const [, slug, name] = /\/dataset\/([^/]+)\/([^/]+)(?!.*openapi\.json)/.exec(path) ?? []
    const dataset = catalog.datasets.get(slug ?? '')
    const table = dataset?.tables.get(name ?? '')
    const of = dataset !== undefined && table !== undefined ? { dataset, table } : null
    const key = `${family.name} ${of === null ? '' : `${slug}/${name}`}`
    const document = this.#documents.get(key)
    if (document !== undefined) return document
    const made = (async () =>
      documentOf(
        of === null
          ? openApi(writing, [], options(family))
          : tableOpenApi(writing, await describeTable(snapshots, of.dataset, of.table), options(family)),
      ))()
    this.#documents.set(key, made)
    return made
  }
}

function decodedPath(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** The family whose prefix is the longest that the path has. */
function familyOf({ families }: Catalog, path: string): Family {
  const [family = families[0]] = families
    .filter(({ prefix }) => path.startsWith(`${prefix}/`))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)
  if (family === undefined) throw new Error('a catalog has a family')
  return family
}

/** One validator for all documents: a new one compiles the meta-schema first, which takes longer than most tests. */
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true, code: { optimize: false } })
addFormatsTo.default(ajv)
ajv.addFormat('int64', { type: 'number', validate: Number.isInteger })
ajv.addFormat('double', { type: 'number', validate: Number.isFinite })
ajv.addFormat('date-time-local', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/)

/** By their text: many services of a worker have the same catalog, and to compile a document takes longer than most tests. */
const documents = new Map<string, Document>()

function documentOf(root: Json): Document {
  const text = JSON.stringify(root)
  const document = documents.get(text) ?? newDocument(root)
  documents.set(text, document)
  return document
}

function newDocument(root: Json): Document {
  const id = `http://document-${documents.size}.invalid/`
  // OpenAPI around its schemas is no JSON Schema itself.
  ajv.addSchema(root, id, undefined, false)
  return { id, root, checks: new Map(), paths: root['paths'] as Document['paths'] }
}

/** Returns the description of a path, with or without its final slash. */
function itemAt({ paths }: Document, path: string): [path: string, item: Json | undefined] {
  const alternative = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  for (const candidate of [path, alternative]) {
    const exact = paths[candidate]
    if (exact !== undefined) return [candidate, exact]
    const match = Object.entries(paths).find(([pattern]) => matches(pattern, candidate))
    if (match !== undefined) return match
  }
  return [path, undefined]
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.includes('{')) return false
  const source = pattern
    .split(/\{\w+\}/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[^/]+')
  return new RegExp(`^${source}$`).test(path)
}

/** Checks addresses that are not in the document: pages, redirects to them, and unknown ones. */
function unknownFaults(document: Document, answer: Answer, publicUrl: URL): string[] {
  const type = mediaTypeOf(answer)
  if (publicUrl.pathname !== '/') return []
  if (type === 'application/problem+json')
    return bodyFaults(document, 'Problem', answer, commonSchemas['Problem'])
  return type === 'application/json' && answer.method !== 'OPTIONS'
    ? ['an answer in JSON that is not described']
    : []
}

function answerFaults(document: Document, path: string, operation: Json, answer: Answer): string[] {
  const { status, headers, method } = answer
  const responses = operation['responses'] as Readonly<Record<string, Json>>
  // The form without its final slash leads to the other.
  if (status === 301) return []
  const response = resolved(document, responses[String(status)])
  if (response === null) return [`the status is not described at ${path}`]
  const names = new Set(Object.keys((response['headers'] ?? {}) as Json).map((name) => name.toLowerCase()))
  const strange = Object.keys(headers).filter((name) => !names.has(name) && !anyHeaders.has(name))
  const faults = strange.map((name) => `the header ${name} is not described`)
  const content = (response['content'] ?? {}) as Readonly<Record<string, Json>>
  const type = mediaTypeOf(answer)
  if (method === 'HEAD' || type === '' || answer.body.length === 0) return faults
  const described = Object.keys(content).find((name) => name.split(';')[0] === type)
  if (described === undefined) return [...faults, `the media type ${type} is not described`]
  if (!type.endsWith('json') || type.includes('x-ndjson')) return faults
  const name = `${path} ${String(operation['operationId'])} ${status} ${type}`
  return [...faults, ...bodyFaults(document, name, answer, content[described]?.['schema'] as Json)]
}

function resolved({ root }: Document, value: Json | undefined): Json | null {
  const reference = value?.['$ref']
  if (typeof reference !== 'string') return value ?? null
  let part: unknown = root
  for (const step of reference.slice(2).split('/')) part = (part as Json)[step]
  return part as Json
}

function textOf(header: unknown): string {
  return typeof header === 'string' ? header : ''
}

function mediaTypeOf({ headers }: Answer): string {
  return textOf(headers['content-type']).split(';')[0] ?? ''
}

/** @param name of the schema, which stands for it */
function bodyFaults({ id, checks }: Document, name: string, answer: Answer, schema: Json = {}): string[] {
  const { headers, body, method } = answer
  // A part of a text is none of its kind.
  if (answer.status === 206 || method === 'HEAD' || body.length === 0 || body.length > bodyMax) return []
  // Node 20 cannot unpack it.
  if (headers['content-encoding'] === 'zstd') return []
  const text = unpacked(body, textOf(headers['content-encoding']))
  let value: unknown
  try {
    value = JSON.parse(text.toString())
  } catch {
    return ['what is said to be JSON is not']
  }
  const check = checks.get(name) ?? ajv.compile(pointed(schema, id))
  checks.set(name, check)
  if (check(value)) return []
  const [first] = check.errors ?? []
  return [`${first?.instancePath ?? ''} ${first?.message ?? ''} ${JSON.stringify(first?.params)}`]
}

/** Many clients end a gzip file with its first member, without a word. */
function gzipFaults({ status, method, headers, body }: Answer): string[] {
  const isPacked = [headers['content-encoding'], headers['content-type']].some((type) =>
    textOf(type).endsWith('gzip'),
  )
  const isComplete = status === 200 && method !== 'HEAD' && body.length === Number(headers['content-length'])
  if (!isPacked || !isComplete) return []
  const { unread } = firstMember(body)
  return unread === 0 ? [] : [`${unread} bytes follow the first gzip member`]
}

/** Some clients resolve relative paths wrongly. */
function redirectFaults({ headers }: Answer): string[] {
  const location = headers['location']
  const isAbsolute = location === undefined || /^(\/(?!\/)|https?:\/\/)/.test(textOf(location))
  return isAbsolute ? [] : [`the redirect to ${textOf(location)} is relative`]
}

/** A schema whose references lead into the document. */
function pointed(schema: Json, id: string): Json {
  const text = JSON.stringify(schema)
  return JSON.parse(text.replaceAll('"#/', `"${id}#/`)) as Json
}

function unpacked(body: Buffer, encoding: string): Buffer {
  if (encoding === 'gzip') return gunzipSync(body)
  if (encoding === 'br') return brotliDecompressSync(body)
  return body
}
